// What the units of the kernel share: flat descriptions, and one table of functions a lane width.
// Plain data and declarations only, so that it may be included from units compiled for different processors.
#pragma once

namespace knuckle {

constexpr int kMaxIkJoints = 32;

// A serial chain from the world to a frame, joint axes turned onto +z.
// transform(q) = F_0 J_0(x_0) F_1 J_1(x_1) ... F_n,   x_i = multiplier_i * q[q_index_i] + offset_i
struct Chain {
  int n;                     // moving joints
  int nq, nv;                // of the robot
  const double *fixed;       // (n + 1, 12): rotation by rows (9), translation (3)
  const int *prismatic;      // (n): 1 slides along z, 0 turns about z
  const int *q_index;        // (n)
  const int *v_index;        // (n)
  const double *multiplier;  // (n), 1 unless the joint follows another
  const double *offset;      // (n)
};

enum Reference { kWorld = 0, kLocal = 1, kLocalWorldAligned = 2 };

// What one inverse-kinematics problem is allowed; all arrays in chain order, length n.
struct IkOptions {
  const double *lower, *upper;  // [rad | m], may be infinite
  const int *turning;           // 1: a full turn fits into the limits, so the joint iterates free and wraps at the end
  const int *frozen;            // 1: the joint never moves
  double row_weight[6];         // on the position (3) and rotation (3) errors, world axes; 0 leaves a row out
  double position_tolerance;    // [m]
  double rotation_tolerance;    // [rad]
  double damping;               // mu = damping * |weighted error|^2 + constant_damping
  double constant_damping;
  double step;                  // part of the damped step that is taken, (0, 1]
  double shrink;                // an attempt ends when the error fell to no less than shrink of itself
  int patience;                 // ... within this many iterations
  int attempt_iterations;       // at most, in one attempt
  int max_attempts;
  long long max_iterations;     // in all attempts together
  int free_first;               // 1: the first attempts ignore limits and keep what fits them
};

struct IkProblem {
  const double *target;  // (12) rotation by rows, translation
  const double *q_init;  // (n) chain order, or null: then the first start is random too
  unsigned long long seed, index;
};

struct IkAnswer {
  double *q;          // (n) chain order; within limits
  double error;       // weighted squared error at q
  long long iterations;
  int attempts;       // started before the answer was decided
  int converged;
  int outside;        // 1: some attempt met the pose beyond the limits
  int stalled;        // 1: every attempt gave up because the error no longer fell
};

enum JointKind { kTurning = 0, kSliding = 1, kFree = 2, kBall = 3, kPlanar = 4 };

// A tree of joints, axes turned onto +z, parents before children.
// pose_i = pose_parent(i) * F_i * J_i(x_i),   x_i = multiplier_i * q[q_index_i] + offset_i
struct Tree {
  int n;                     // joints
  int nq;                    // of the robot
  const double *fixed;       // (n, 12)
  const int *parent;         // (n), -1 for the world
  const int *kind;           // (n), a JointKind; joints of several coordinates take them as they are
  const int *q_index;        // (n)
  const double *multiplier;  // (n)
  const double *offset;      // (n)
};

// Bodies on a tree, what drives them and what holds them back. A joint has columns, one a degree of freedom: an axis of
// the joint's own, turned about or slid along. Followers share the entry of their leader.
struct Bodies {
  Tree tree;
  int nv;                   // of the robot
  int columns;
  const int *column_start;  // (n + 1) first column of each joint
  const int *axis;          // (columns) 0, 1, 2
  const int *turns;         // (columns) 1: about the axis, 0: along it
  const int *v_index;       // (columns)
  const int *follows;       // (n) 1: moves with a joint before it, whose coordinate it shares
  const double *inertia;    // (n, 10) in the joint: mass, centre (3), inertia about it xx xy xz yy yz zz
  const double *armature;   // (columns)
  const double *damping;    // (columns)
  const double *coulomb;    // (columns)
  const double *rotor;      // (nv) reflected inertia
  const double *viscous;    // (nv) damping and
  const double *dry;        // (nv) Coulomb friction as felt at the robot's own joints
  double gravity[3];        // acceleration of free fall, world axes
};

// A frame on a joint of the tree, -1 for the world.
struct Frame {
  int joint;
  double place[12];  // rotation by rows, translation, in the joint
};

// What is asked of many states, and where the answers go; null: not given (zero), not asked. A stride of 0 gives one
// row to all states.
struct Query {
  const double *q, *dq, *ddq, *tau;
  long q_stride, dq_stride, ddq_stride, tau_stride;
  double gravity[3];
  int friction, rotors;
  int frames;
  const Frame *frame;     // (frames)
  int reference;          // of the Jacobian and the twist, of the first frame
  double *inverse;        // (N, nv) M ddq + C dq + g [+ friction] [+ rotors]
  double *forward;        // (N, nv) accelerations under tau
  double *mass;           // (N, nv, nv)
  double *poses;          // (N, frames, 16)
  double *jacobian;       // (N, 6, nv)
  double *twist;          // (N, 6)
  double *bias;           // (N, 6) classical acceleration of the first frame at ddq = 0, world axes
};

// Arrays that a step of a controller reads, by what a robot has in them: its configuration, its velocity, an entry per
// controlled joint, or a row of so many numbers.
enum PortKind { kOfConfiguration = -1, kOfVelocity = -2, kOfJoints = -3 };

enum Port {
  kPortQ, kPortQd, kPortQDes, kPortQdDes, kPortQddAhead, kPortStiffness, kPortDamping, kPortDampingRatio,
  kPortPoseDes, kPortTwistDes, kPortAhead, kPortWrenchDes, kPortWrench, kPortFrame, kPortLinearQuat, kPortAngularQuat,
  kPortMotionStiffness, kPortMotionDamping, kPortMotionRatio, kPortWrenchStiffness, kPortNullQ, kPortNullQd,
  kPortNullStiffness, kPortNullDamping, kPortNullRatio, kPortFixedFrame, kPortMotionSelection, kPortWrenchSelection,
  kPortMotionWeights, kPortWrenchWeights, kPortLinearFrame, kPortAngularFrame, kPortBase, kPortLimits,
  kPorts
};

constexpr int kPortKind[kPorts] = {
    kOfConfiguration, kOfVelocity, kOfJoints, kOfJoints, kOfJoints, kOfJoints, kOfJoints, kOfJoints,
    7, 6, 6, 6, 6, 7, 4, 4,
    6, 6, 6, 6, kOfJoints, kOfJoints,
    kOfJoints, kOfJoints, kOfJoints, 16, 36, 36,
    6, 6, 9, 9, 16, kOfJoints,
};

// A joint that floats against the world: its entries in the flat arrays of a fleet are those of the centre of mass.
struct FreeRoot {
  int q, v;  // first coordinate, first velocity
  double com[3];
};

enum Law { kJointImpedance = 0, kOperationalSpace = 1 };
enum Decoupling { kFull = 0, kPartial = 1, kOff = 2 };

// One step of a controller for robots of one model.
struct Step {
  int law;
  int decoupling;           // a Decoupling; joint impedance: kFull or kOff
  int gravity, coriolis, bias, exact, projection, feedforward, feedback, scale;  // switches; scale: mode of the limits
  long robots;
  const long long *q_at, *qd_at, *dof_at, *row;  // (robots) first entry or row of each in the ports
  int n;                    // controlled joints of a robot
  const int *v, *q;         // (n) their entries in dq and q
  const int *wraps;         // (n) 1: an angle without end
  const int *slot;          // (nv) number among the controlled, -1 if none
  int roots;
  const FreeRoot *root;
  Frame tool;
  const double *port[kPorts];  // null: off
};

// Trajectories of the robots of a step, whose q_at, qd_at say where each stands in the flat states and records.
struct Rollout {
  long from, to;         // steps to take, counted over all calls
  int last;              // 1: the controller is asked, and the state recorded, once more at `to`
  long every;            // steps from one record to the next
  double dt;             // [s]
  int friction, rotors;
  int walls;
  const double *wall;    // (walls, 8) point, unit normal, stiffness, damping
  Frame tool;            // of the plant, where walls push
  double *q, *dq;        // states, in and out
  long long *failed;     // (robots) step at which a robot was lost, -1 while it is not
  long q_total, dq_total;
  double *q_record, *dq_record, *tau_record;  // (records, q_total), (records, dq_total) twice
};
constexpr double kRunaway = 1e6;  // [rad/s | m/s] a robot this fast is lost

// What operational space reports of a step: pose (12), twist (6), A lower (21), asked (6), force (6), nearness.
constexpr int kRecord = 52;

// What a shape is without the radius it is swept by.
enum Core {
  kPoints = 0,     // the convex hull of points: hulls, boxes, and by their radius spheres and capsules
  kCylinder = 1,   // size: radius, half length along z
  kCone = 2,       // size: radius of the base at -half length, half length; the tip at +half length
  kEllipsoid = 3,  // size: half axes
  kHalfSpace = 4,  // size: normal (3), offset: all x with normal . x <= offset
  kForeign = 5,    // anything else: bounded here, decided elsewhere
};

// Shapes on the joints of a tree and the pairs of them that are checked.
struct Collider {
  Tree tree;             // tree.fixed is null where poses are given from outside
  int shapes;
  const int *joint;      // (shapes), -1 for the world
  const double *place;   // (shapes, 12) of the shape in its joint
  const double *sphere;  // (shapes, 4) centre in the joint, radius; infinite: unbounded
  const double *box;     // (shapes, 15) axes by rows (9) and centre (3) in the joint, half sides (3)
  const int *core;       // (shapes)
  const double *size;    // (shapes, 5) of the core (4), radius it is swept by
  const long *start;     // (shapes + 1) first point; counts are multiples of 8, the first point repeated
  const double *points;  // of shape i: x (count), y (count), z (count) from 3 * start[i], in the shape's frame
  int pairs;
  const int *pair;       // (pairs, 2)
};

enum Contact { kApart = 0, kTouching = 1, kUndecided = 2 };

// The nearest pair that can be told: distance along `normal` from the first shape to the second, points on both.
struct Nearest {
  int pair;  // -1 if none
  double distance;
  double on_first[3], on_second[3];
};

struct Kernel {
  int lanes;
  // q (count, nq) -> out (count, 16), homogeneous by rows
  void (*fk)(const Chain &, const double *q, long count, double *out);
  // q (count, nq) -> out (count, 6, nv), which the caller has set to zero; scratch: (6 * n * lanes)
  void (*jacobian)(const Chain &, const double *q, long count, int reference, double *scratch, double *out);
  // one problem, attempts side by side in the lanes
  void (*solve)(const Chain &, const IkOptions &, const IkProblem &, IkAnswer &);
  // many problems, one a lane
  void (*solve_batch)(const Chain &, const IkOptions &, const IkProblem *, long count, IkAnswer *);
  // bytes of scratch, 64-aligned, that those below need
  long (*collision_room)(const Collider &);
  // (count, nq) -> a Contact each: any pair closer than margin; `pairs`, unless null, (count, pairs): of every pair
  void (*touching)(const Collider &, const double *q, long count, double margin, void *room, signed char *out,
                   signed char *pairs);
  // the same where every pair has a margin of its own at every configuration: margins (count, pairs)
  void (*approaching)(const Collider &, const double *q, long count, const double *margins, void *room,
                      signed char *out, signed char *pairs);
  // one configuration: the nearest pair not farther than `limit` that is apart for certain, and a Contact for every
  // pair: kUndecided where it may be nearer or overlaps, kTouching never
  void (*nearest)(const Collider &, const double *q, double limit, void *room, Nearest &, signed char *pairs);
  // bytes of scratch, 64-aligned, that dynamics needs
  long (*dynamics_room)(const Bodies &);
  // states first to first + count of a query
  void (*dynamics)(const Bodies &, const Query &, long first, long count, void *room);
  // the same for a step of a controller
  long (*step_room)(const Bodies &, const Step &);
  // robots first to first + count, `first` a multiple of lanes: torques of the controlled joints to out (as kOfJoints),
  // 1 to fault (robots) where one is not finite; record: (robots rounded up to lanes, kRecord) in blocks of lanes, or null
  void (*step)(const Bodies &, const Step &, long first, long count, void *room, double *out, signed char *fault,
               double *record);
  long (*rollout_room)(const Bodies &plant, const Bodies &, const Step &);
  void (*rollout)(const Bodies &plant, const Bodies &, const Step &, const Rollout &, long first, long count, void *room);
};

// One attempt without lanes, for the baseline processor and for one with AVX2.
void solve_one_baseline(const Chain &, const IkOptions &, const IkProblem &, IkAnswer &);
void solve_one_avx2(const Chain &, const IkOptions &, const IkProblem &, IkAnswer &);

extern const Kernel *const kernel_lanes2;
extern const Kernel *const kernel_lanes4;
extern const Kernel *const kernel_lanes8;

}  // namespace knuckle
