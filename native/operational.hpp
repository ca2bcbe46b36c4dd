// Operational-space control in lanes; law, order and letters as in controllers/laws.py.
#pragma once

#include "laws.hpp"

namespace KNAME {

// What the tool is asked and seen to do, operational axes.
struct Task {
  V R_o[9], p_o[3];  // operational frame in the world, if `framed`
  V base[9];         // axes of the robot's base in the world, if `based`
  bool framed, based;
  V T[12];           // tool in the world: rotation by rows, position
  V twist[6];        // world axes
  V a[6], asked[6], force[6], F[6];
  V Lambda[36], A[36], nearness;
};

// y = H x for a symmetric (6, 6).
static inline void times6(const V *H, const V *x, V *y) {
  for (int i = 0; i < 6; ++i) y[i] = dot6(H + 6 * i, x);
}

// x <- Om x, the halves apart; Om (6, 6).
static inline void select(const V *Om, V *x) {
  V y[6];
  for (int i = 0; i < 6; ++i) y[i] = dot3(Om + 6 * i + i / 3 * 3, x + i / 3 * 3);
  for (int i = 0; i < 6; ++i) x[i] = y[i];
}

// The operational frame and the base, then the tool in the world and Jo and its twist.
static __attribute__((noinline)) void see_tool(const Bodies &b, const Block &at, Work &w, Bench &s, Task &k) {
  const Step &t = at.t;
  V H[16], R[9];
  k.framed = at.has(kPortFrame) || at.has(kPortFixedFrame);
  k.based = at.has(kPortBase);
  if (at.has(kPortFrame)) {
    at.take(kPortFrame, H, 7);
    quat_rotation(H + 3, k.R_o);
    for (int i = 0; i < 3; ++i) k.p_o[i] = H[i];
  } else if (k.framed) {
    at.take(kPortFixedFrame, H, 12);
    for (int i = 0; i < 12; ++i) (i % 4 < 3 ? k.R_o[i / 4 * 3 + i % 4] : k.p_o[i / 4]) = H[i];
  }
  Pose T;
  place_frame(w, t.tool, T);
  for (int i = 0; i < 3; ++i) k.T[9 + i] = T.p[i] + w.origin[i];
  for (int i = 0; i < 9; ++i) k.T[i] = T.R[i];
  if (k.based) {
    V p[3];
    at.take(kPortBase, H, 12);
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) k.base[3 * i + j] = H[4 * i + j];
      p[i] = dot3(H + 4 * i, k.T + 9) + H[4 * i + 3];
      for (int j = 0; j < 3; ++j) k.T[3 * i + j] = H[4 * i] * T.R[j] + H[4 * i + 1] * T.R[3 + j] + H[4 * i + 2] * T.R[6 + j];
    }
    for (int i = 0; i < 3; ++i) k.T[9 + i] = p[i];
  }
  if (k.framed && k.based) transposed_times(k.R_o, k.base, R);
  for (int i = 0; i < 6 * t.n; ++i) s.J[i] = splat(0.0);
  for (int i = 0; i < 6; ++i) k.twist[i] = splat(0.0);
  for (int i = t.tool.joint; i >= 0; i = b.tree.parent[i])
    for (int c = b.column_start[i]; c < b.column_start[i + 1]; ++c) {
      V column[6];
      see_from(w, T, kLocalWorldAligned, w.column + 6 * c, column);
      const int v = b.v_index[c];
      for (int r = 0; r < 6; ++r) k.twist[r] += column[r] * w.dq[v];
      if (t.slot[v] < 0) continue;
      if (k.framed && k.based) turn6(R, false, column);
      else if (k.framed) turn6(k.R_o, true, column);
      else if (k.based) turn6(k.base, false, column);
      for (int r = 0; r < 6; ++r) s.J[6 * t.slot[v] + r] += column[r];
    }
  if (k.based) turn6(k.base, false, k.twist);
}

// a = Kp e + Kd (V_des - Vo) [+ a_ff], then what is asked: Om_m a [- dJo/dt dq].
static __attribute__((noinline)) void ask(const Block &at, Work &w, Task &k, const V *Om, bool selected) {
  const Step &t = at.t;
  V X[7], D[9], C[9], E[9], e[6], rate[6], Kp[6], Kd[6];
  at.take(kPortPoseDes, X, 7);
  quat_rotation(X + 3, D);
  V p[3];
  for (int i = 0; i < 3; ++i) p[i] = k.T[9 + i];
  for (int i = 0; i < 9; ++i) C[i] = k.T[i];
  for (int i = 0; i < 6; ++i) rate[i] = k.twist[i];
  if (k.framed) {
    V d[3];
    for (int i = 0; i < 3; ++i) d[i] = p[i] - k.p_o[i];
    for (int i = 0; i < 3; ++i) p[i] = k.R_o[i] * d[0] + k.R_o[3 + i] * d[1] + k.R_o[6 + i] * d[2];
    transposed_times(k.R_o, k.T, C);
    turn6(k.R_o, true, rate);
  }
  times_transposed(D, C, E);
  for (int i = 0; i < 3; ++i) e[i] = X[i] - p[i];
  rotation_vector(E, e + 3);
  at.take(kPortTwistDes, X, 6);
  at.take(kPortMotionStiffness, Kp, 6);
  const bool ratio = at.has(kPortMotionRatio);
  at.take(ratio ? kPortMotionRatio : kPortMotionDamping, Kd, 6);
  for (int i = 0; i < 6; ++i) {
    const V damping = ratio ? 2.0 * Kd[i] * vsqrt(Kp[i]) : Kd[i];
    k.asked[i] = Kp[i] * e[i] + damping * (X[i] - rate[i]);
  }
  if (at.has(kPortAhead)) {
    at.take(kPortAhead, X, 6);
    for (int i = 0; i < 6; ++i) k.asked[i] += X[i];
  }
  if (selected) select(Om, k.asked);
  if (!t.bias) return;
  Pose T;
  place_frame(w, t.tool, T);
  frame_acceleration(w, t.tool, T, X);
  if (k.based) turn6(k.base, false, X);
  if (k.framed) turn6(k.R_o, true, X);
  for (int i = 0; i < 6; ++i) k.asked[i] -= X[i];
}

// Om (6, 6), the halves on its diagonal: fixed, or of weights along the axes of two frames.
static __attribute__((noinline)) void selection(const Block &at, Port fixed, Port weights, V *Om) {
  if (at.has(fixed)) return at.take(fixed, Om, 36);
  V s[6], R[9], quat[4];
  at.take(weights, s, 6);
  for (int half = 0; half < 2; ++half) {
    const Port live = half ? kPortAngularQuat : kPortLinearQuat;
    if (at.has(live)) {
      at.take(live, quat, 4);
      quat_rotation(quat, R);
    } else {
      at.take(half ? kPortAngularFrame : kPortLinearFrame, R, 9);
    }
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j) {
        V sum = splat(0.0);
        for (int c = 0; c < 3; ++c) sum += R[3 * i + c] * s[3 * half + c] * R[3 * j + c];
        Om[(3 * half + i) * 6 + 3 * half + j] = sum;
      }
  }
}

// F <- F + Om_w f, f = [R6^T w_des if feedforward] + [Kw R6^T (w_des - w_meas) if feedback].
static __attribute__((noinline)) void press(const Block &at, const Task &k, V *F) {
  const Step &t = at.t;
  V f[6], measured[6], Kw[6], Om[36];
  selection(at, kPortWrenchSelection, kPortWrenchWeights, Om);
  at.take(kPortWrenchDes, f, 6);
  if (t.feedback) {
    if (at.measured)
      for (int i = 0; i < 6; ++i) measured[i] = at.measured[i];
    else at.take(kPortWrench, measured, 6);
    at.take(kPortWrenchStiffness, Kw, 6);
    for (int i = 0; i < 6; ++i) measured[i] = f[i] - measured[i];
    if (k.framed) turn6(k.R_o, true, measured);
    for (int i = 0; i < 6; ++i) measured[i] *= Kw[i];
  }
  if (k.framed) turn6(k.R_o, true, f);
  if (t.feedback)
    for (int i = 0; i < 6; ++i) f[i] = t.feedforward ? f[i] + measured[i] : measured[i];
  select(Om, f);
  for (int i = 0; i < 6; ++i) F[i] += f[i];
}

// out (6) = J x
static inline void times_jacobian(const Step &t, const V *J, const V *x, V *out) {
  for (int r = 0; r < 6; ++r) out[r] = splat(0.0);
  for (int i = 0; i < t.n; ++i)
    for (int r = 0; r < 6; ++r) out[r] += J[6 * i + r] * x[i];
}

// A = Jo M^-1 Jo^T from the Cholesky factor of M, and Lambda.
static __attribute__((noinline)) void decouple(const Bodies &b, const Block &at, Work &w, Bench &s, Task &k) {
  const Step &t = at.t;
  for (int i = 0; i < t.n; ++i)
    for (int j = 0; j <= i; ++j) {
      const int a = t.v[i] > t.v[j] ? t.v[i] : t.v[j], c = t.v[i] > t.v[j] ? t.v[j] : t.v[i];
      s.block[i * t.n + j] = w.mass[a * b.nv + c];
    }
  factor(t.n, t.n, s.block);
  for (int r = 0; r < 6; ++r) {
    V *y = s.Y + r * t.n;
    for (int i = 0; i < t.n; ++i) y[i] = s.J[6 * i + r];
    solve_lower(t.n, t.n, s.block, y);
  }
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c <= r; ++c) {
      V sum = s.Y[r * t.n] * s.Y[c * t.n];
      for (int i = 1; i < t.n; ++i) sum += s.Y[r * t.n + i] * s.Y[c * t.n + i];
      k.A[6 * r + c] = k.A[6 * c + r] = sum;
    }
  if (t.decoupling == kFull) full_inverse(k.A, t.exact, k.Lambda, k.nearness);
  else block_inverse(k.A, t.exact, k.Lambda, k.nearness);
}

// s.x (n) <- M x of the controlled joints, x in s.a.
static inline void times_mass(const Bodies &b, const Step &t, const Work &w, Bench &s) {
  for (int i = 0; i < t.n; ++i) {
    s.x[i] = splat(0.0);
    for (int j = 0; j < t.n; ++j) {
      const int a = t.v[i] > t.v[j] ? t.v[i] : t.v[j], c = t.v[i] > t.v[j] ? t.v[j] : t.v[i];
      s.x[i] += w.mass[a * b.nv + c] * s.a[j];
    }
  }
}

// tau = Jo^T F + N s: in full mode Jo^T (F - Lambda Jo an) + M an, else Jo^T (F - B Jo s) + s.
static __attribute__((noinline)) void with_posture(const Bodies &b, const Block &at, Work &w, Bench &s, Task &k) {
  static const Port ports[] = {kPortNullQ, kPortNullQd, kPortNullStiffness, kPortNullDamping, kPortNullRatio};
  const Step &t = at.t;
  joint_spring(at, w, w.dq, ports, s, s.a);
  V along[6], B[36], drop[6], least;
  if (t.decoupling == kFull) {
    times_jacobian(t, s.J, s.a, along);
    times6(k.Lambda, along, drop);
    times_mass(b, t, w, s);
  } else {
    if (t.decoupling == kPartial) times_mass(b, t, w, s);
    else
      for (int i = 0; i < t.n; ++i) s.x[i] = s.a[i];
    for (int r = 0; r < 6; ++r)
      for (int c = 0; c <= r; ++c) {
        V sum = s.J[r] * s.J[c];
        for (int i = 1; i < t.n; ++i) sum += s.J[6 * i + r] * s.J[6 * i + c];
        B[6 * r + c] = B[6 * c + r] = sum;
      }
    V inverse[36];
    full_inverse(B, t.exact, inverse, least);
    k.nearness = pick(least < k.nearness, least, pick(least != least, least, k.nearness));
    times_jacobian(t, s.J, s.x, along);
    times6(inverse, along, drop);
  }
  for (int i = 0; i < 6; ++i) k.F[i] -= drop[i];
  for (int i = 0; i < t.n; ++i) s.tau[i] = s.x[i] + dot6(s.J + 6 * i, k.F);
}

static __attribute__((noinline)) void operational_space(const Bodies &b, const Block &at, Work &w, Bench &s, Task &k) {
  const Step &t = at.t;
  const bool forces = at.has(kPortWrenchDes), posture = at.has(kPortNullQ);
  V Om[36];
  if (!w.placed) {
    place(b, w);
    if (t.decoupling != kOff || t.gravity || t.coriolis) weigh(b, w);
  }
  see_tool(b, at, w, s, k);
  if (t.bias) move(b, w, w.dq, nullptr, kNoGravity);
  if (forces) selection(at, kPortMotionSelection, kPortMotionWeights, Om);
  ask(at, w, k, Om, forces);
  for (int i = 0; i < 6; ++i) k.force[i] = k.asked[i];
  k.nearness = splat(1.0);
  if (t.decoupling != kOff) {
    compose(b, w);
    w.composed = true;
    decouple(b, at, w, s, k);
    times6(k.Lambda, k.asked, k.force);
  }
  for (int i = 0; i < 6; ++i) k.F[i] = k.force[i];
  if (forces && t.projection) select(Om, k.F);
  if (forces) press(at, k, k.F);
  if (posture) with_posture(b, at, w, s, k);
  else
    for (int i = 0; i < t.n; ++i) s.tau[i] = dot6(s.J + 6 * i, k.F);
  if (t.gravity || t.coriolis) {
    const bool pushed = t.coriolis && t.roots;
    if (pushed) {
      for (int i = 0; i < b.nv; ++i) w.ddq[i] = splat(0.0);
      resting_roots(t, w.q, w.dq, w.ddq);
    }
    inverse(b, w, t.coriolis ? w.dq : nullptr, pushed ? w.ddq : nullptr, t.gravity ? b.gravity : kNoGravity, w.tau);
    for (int i = 0; i < t.n; ++i) s.tau[i] += w.tau[t.v[i]];
  }
}

}  // namespace KNAME
