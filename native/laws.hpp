// The laws of controllers in lanes, from states and ports to torques; letters and sources as in controllers/laws.py.
#pragma once

#include "dynamics.hpp"
#include "rotation.hpp"
#include "task_inertia.hpp"

namespace KNAME {

using namespace knuckle;  // the ports, by name

// Scratch of a step besides a Work.
struct Bench {
  V *tau, *a, *error, *x, *y;      // (n) of the controlled joints
  V *J;                            // (n, 6) Jo by columns
  V *Y;                            // (6, n) L^-1 Jo^T by columns
  V *block;                        // (n, n) M of the controlled joints, then its factor
  V *full;                         // (nv) of all joints
};

static inline long bench_size(const Bodies &b, const Step &t) {
  return 17L * t.n + (long)t.n * t.n + b.nv;
}

static inline void lay_out(const Bodies &, const Step &t, Bench &s, V *room) {
  V **const parts[] = {&s.tau, &s.a, &s.error, &s.x, &s.y, &s.J, &s.Y, &s.block, &s.full};
  const long n = t.n, sizes[] = {n, n, n, n, n, 6 * n, 6 * n, n * n, 0};
  for (int i = 0; i < 9; ++i) {
    *parts[i] = room;
    room += sizes[i];
  }
}

// Where a vector of robots stands: `at` the first, `count` of them.
struct Block {
  const Step &t;
  long at;
  int count;
  const V *measured = nullptr;  // wrench measured at the tool (6), instead of the port's

  bool has(Port port) const { return t.port[port] != nullptr; }

  // Entries of the robots in a port, `width` of them from `from`.
  void take(Port port, V *x, int width, int from = 0) const {
    const int kind = kPortKind[port];
    const long long *first = kind == kOfConfiguration ? t.q_at : kind == kOfVelocity ? t.qd_at : t.dof_at;
    for (int l = 0; l < KLANES; ++l) {
      const long robot = at + (l < count ? l : 0);
      const double *row = t.port[port] + from + (kind < 0 ? first[robot] : t.row[robot] * kind);
      for (int k = 0; k < width; ++k) lane(x[k], l) = row[k];
    }
  }
};

// The same angle in [-pi, pi).
static inline V wrapped(V x) {
  const double magic = 6755399441055744.0, tau = 6.283185307179586476925;
  const V turns = (x * (1.0 / tau) + magic) - magic;
  V rest = x - turns * tau;
  rest = pick(rest >= 3.14159265358979323846, rest - tau, pick(rest < -3.14159265358979323846, rest + tau, rest));
  const M inside = (x >= -3.14159265358979323846) & (x < 3.14159265358979323846);
  return pick(inside, x, rest);
}

// out (n) = Kp (q_des - q) + Kd (dq_des - dq), the shortest way on joints that turn without end.
static __attribute__((noinline)) void joint_spring(const Block &at, const Work &w, const V *qd, const Port *ports, Bench &s,
                                                   V *out) {
  const Step &t = at.t;
  at.take(ports[0], s.x, t.n);
  at.take(ports[2], s.y, t.n);
  for (int i = 0; i < t.n; ++i) {
    V e = s.x[i] - w.q[t.q[i]];
    if (t.wraps[i]) e = wrapped(e);
    out[i] = s.y[i] * e;
  }
  const bool ratio = at.has(ports[4]);
  at.take(ports[1], s.x, t.n);
  V *damping = s.error;
  at.take(ratio ? ports[4] : ports[3], damping, t.n);
  for (int i = 0; i < t.n; ++i) {
    const V Kd = ratio ? 2.0 * damping[i] * vsqrt(s.y[i]) : damping[i];
    out[i] += Kd * (s.x[i] - qd[t.v[i]]);
  }
}

// Unit quaternions and (cos, sin) made so.
static inline void normalise(const Tree &tree, V *q) {
  for (int i = 0; i < tree.n; ++i) {
    if (tree.kind[i] < kFree) continue;
    const int size = tree.kind[i] == kPlanar ? 2 : 4;
    V *h = q + tree.q_index[i] + (tree.kind[i] == kFree ? 3 : tree.kind[i] == kPlanar ? 2 : 0), square = splat(0.0);
    for (int k = 0; k < size; ++k) square += h[k] * h[k];
    const V inverse = 1.0 / vsqrt(square);
    for (int k = 0; k < size; ++k) h[k] *= inverse;
  }
}

// Pinocchio's velocity of a fleet's at the free roots, in place: v = R^T (v_com - w x c), w = R^T w.
static inline void own_velocity(const Step &t, const V *q, V *dq) {
  for (int r = 0; r < t.roots; ++r) {
    const FreeRoot &root = t.root[r];
    V R[9], c[3], *v = dq + root.v;
    quat_matrix(q + root.q + 3, R);
    for (int k = 0; k < 3; ++k) c[k] = R[3 * k] * root.com[0] + R[3 * k + 1] * root.com[1] + R[3 * k + 2] * root.com[2];
    add_cross(c, v + 3, v);  // - w x c
    turn6(R, true, v);
  }
}

// ddq at the free roots whose centre of mass does not accelerate, of Pinocchio's velocity.
static inline void resting_roots(const Step &t, const V *q, const V *dq, V *ddq) {
  for (int r = 0; r < t.roots; ++r) {
    const FreeRoot &root = t.root[r];
    const V *v = dq + root.v, *w = v + 3;
    V c[3], arm[3] = {}, a[6] = {};
    for (int k = 0; k < 3; ++k) c[k] = splat(root.com[k]);
    (void)q;
    add_cross(w, c, arm);
    for (int k = 0; k < 3; ++k) arm[k] += v[k];  // velocity of the centre of mass, in the body's axes
    add_cross(arm, w, a);                        // - w x v_com: the spatial acceleration of what moves evenly
    for (int k = 0; k < 6; ++k) ddq[root.v + k] = a[k];
  }
}

// Torques within the limits, joint by joint or the whole vector shortened; NaN stays.
static __attribute__((noinline)) void limit(const Block &at, Bench &s) {
  const int n = at.t.n;
  at.take(kPortLimits, s.x, n);
  if (!at.t.scale) {
    for (int i = 0; i < n; ++i)
      s.tau[i] = pick(s.tau[i] > s.x[i], s.x[i], pick(s.tau[i] < -s.x[i], -s.x[i], s.tau[i]));
    return;
  }
  V share = splat(1.0);
  for (int i = 0; i < n; ++i) {
    const V size = pick(s.tau[i] < 0.0, -s.tau[i], s.tau[i]);
    const V part = s.x[i] / pick(size == 0.0, splat(1.0), size);
    share = pick((part < share) & (size != 0.0), part, share);
  }
  for (int i = 0; i < n; ++i) s.tau[i] *= share;
}

// tau = [M or I] a [+ C dq] [+ g] with one inverse dynamics, its acceleration 0 at the other joints. w.q, w.dq hold the
// state; qd (nv) the velocity as the ports have it.
static __attribute__((noinline)) void joint_impedance(const Bodies &b, const Block &at, Work &w, Bench &s) {
  static const Port ports[] = {kPortQDes, kPortQdDes, kPortStiffness, kPortDamping, kPortDampingRatio};
  const Step &t = at.t;
  joint_spring(at, w, w.dq, ports, s, s.tau);
  if (at.has(kPortQddAhead)) {
    at.take(kPortQddAhead, s.x, t.n);
    for (int i = 0; i < t.n; ++i) s.tau[i] += s.x[i];
  }
  const bool decoupled = t.decoupling == kFull;
  if (decoupled || t.coriolis || t.gravity) {
    if (!w.placed) {
      place(b, w);
      weigh(b, w);
    }
    for (int i = 0; i < b.nv; ++i) w.ddq[i] = splat(0.0);
    if (decoupled)
      for (int i = 0; i < t.n; ++i) w.ddq[t.v[i]] = s.tau[i];
    if (t.coriolis) resting_roots(t, w.q, w.dq, w.ddq);
    const bool pushed = decoupled || (t.coriolis && t.roots);
    inverse(b, w, t.coriolis ? w.dq : nullptr, pushed ? w.ddq : nullptr, t.gravity ? b.gravity : kNoGravity, w.tau);
    for (int i = 0; i < t.n; ++i) s.tau[i] = decoupled ? w.tau[t.v[i]] : s.tau[i] + w.tau[t.v[i]];
  }
}

}  // namespace KNAME
