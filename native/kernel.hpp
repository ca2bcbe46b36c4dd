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
};

extern const Kernel *const kernel_lanes2;
extern const Kernel *const kernel_lanes4;
extern const Kernel *const kernel_lanes8;

}  // namespace knuckle
