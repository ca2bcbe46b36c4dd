// One step of a controller for many robots: ports in, torques, faults and what is reported out.
#pragma once

#include "operational.hpp"

namespace KNAME {

static long step_room(const Bodies &b, const Step &t) {
  return (work_size(b) + bench_size(b, t)) * (long)sizeof(V);
}

static inline void law(const Bodies &b, const Block &at, Work &w, Bench &s, Task &k) {
  if (at.t.law == kJointImpedance) joint_impedance(b, at, w, s);
  else operational_space(b, at, w, s, k);
}

static inline void keep(const Task &k, V *record) {
  for (int i = 0; i < 12; ++i) *record++ = k.T[i];
  for (int i = 0; i < 6; ++i) *record++ = k.twist[i];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) *record++ = k.A[6 * i + j];
  for (int i = 0; i < 6; ++i) *record++ = k.asked[i];
  for (int i = 0; i < 6; ++i) *record++ = k.force[i];
  *record = k.nearness;
}

// Whether every torque is finite; NaN for all joints of a robot where one is not.
static inline void isolate(const Block &at, V *tau, signed char *fault) {
  V sum = tau[0] - tau[0];
  for (int i = 1; i < at.t.n; ++i) sum += tau[i] - tau[i];
  for (int i = 0; i < at.t.n; ++i) tau[i] += sum;  // 0, or NaN
  for (int l = 0; l < at.count; ++l) fault[at.at + l] = !(lane(sum, l) == 0.0);
}

static void step(const Bodies &b, const Step &t, long first, long count, void *room, double *out, signed char *fault,
                 double *record) {
  Work w;
  Bench s;
  Task k;
  lay_out(b, t, s, lay_out(b, w, static_cast<V *>(room)));
  if (t.decoupling == kOff)
    for (V &x : k.A) x = splat(0.0);
  for (long i = first; i < first + count; i += KLANES) {
    const Block at{t, i, (int)(first + count - i < KLANES ? first + count - i : KLANES)};
    at.take(kPortQ, w.q, b.tree.nq);
    at.take(kPortQd, w.dq, b.nv);
    normalise(b.tree, w.q);
    own_velocity(t, w.q, w.dq);
    law(b, at, w, s, k);
    isolate(at, s.tau, fault);
    if (at.has(kPortLimits)) limit(at, s);  // after the faults: limits would make infinity look like a torque
    for (int l = 0; l < at.count; ++l) {
      double *row = out + t.dof_at[i + l];
      for (int c = 0; c < t.n; ++c) row[c] = lane(s.tau[c], l);
    }
    if (record) keep(k, reinterpret_cast<V *>(record) + i / KLANES * kRecord);
  }
}

}  // namespace KNAME
