// Closed loops in lanes: a controller's law on the forward dynamics of a plant, states kept in lanes from step to step.
#pragma once

#include "step.hpp"

namespace KNAME {

// sin(t)/t, (1 - cos t)/t^2, (t - sin t)/t^3 of t^2; by their series below 1/2.
static inline void exponential_terms(V square, V &a, V &b, V &c) {
  const M small = square < 0.25;
  const V x = pick(small, square, splat(0.0));
  a = 1.0 - x / 6.0 * (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0 * (1.0 - x / 110.0 * (1.0 - x / 156.0)))));
  b = 0.5 - x / 24.0 * (1.0 - x / 30.0 * (1.0 - x / 56.0 * (1.0 - x / 90.0 * (1.0 - x / 132.0 * (1.0 - x / 182.0)))));
  c = (1.0 - x / 20.0 * (1.0 - x / 42.0 * (1.0 - x / 72.0 * (1.0 - x / 110.0 * (1.0 - x / 156.0))))) / 6.0;
  if (!any(!small)) return;
  V s, k;
  const V t = vsqrt(pick(small, splat(1.0), square));
  vsincos(t, s, k);
  a = pick(small, a, s / t);
  b = pick(small, b, (1.0 - k) / (t * t));
  c = pick(small, c, (t - s) / (t * t * t));
}

// h <- h * the unit quaternion of the rotation by |w| about w, of unit length.
static inline void turn_quat(V *h, const V *w) {
  V a, b, c;
  const V half[3] = {0.5 * w[0], 0.5 * w[1], 0.5 * w[2]};
  exponential_terms(dot3(half, half), a, b, c);
  const V d[4] = {a * half[0], a * half[1], a * half[2], 1.0 - b * dot3(half, half)};
  V r[4] = {h[3] * d[0] + h[0] * d[3] + h[1] * d[2] - h[2] * d[1], h[3] * d[1] + h[1] * d[3] + h[2] * d[0] - h[0] * d[2],
            h[3] * d[2] + h[2] * d[3] + h[0] * d[1] - h[1] * d[0], h[3] * d[3] - h[0] * d[0] - h[1] * d[1] - h[2] * d[2]};
  const V inverse = 1.0 / vsqrt(r[0] * r[0] + r[1] * r[1] + r[2] * r[2] + r[3] * r[3]);
  for (int k = 0; k < 4; ++k) h[k] = r[k] * inverse;
}

// x (3) <- the screw's share of a translation v while turning by w: (I + b [w] + c [w]^2) v.
static inline void screw(const V *w, const V *v, V *x) {
  V a, b, c, once[3] = {}, twice[3] = {};
  exponential_terms(dot3(w, w), a, b, c);
  add_cross(w, v, once);
  add_cross(w, once, twice);
  for (int k = 0; k < 3; ++k) x[k] = v[k] + b * once[k] + c * twice[k];
}

static inline void move_plane(V *q, const V *d) {
  V a, b, c;
  exponential_terms(d[2] * d[2], a, b, c);
  const V along = a * d[0] - b * d[2] * d[1], across = b * d[2] * d[0] + a * d[1];
  const V cosine = 1.0 - b * d[2] * d[2], sine = a * d[2], x = q[2], y = q[3];
  q[0] += x * along - y * across;
  q[1] += y * along + x * across;
  const V u = x * cosine - y * sine, v = y * cosine + x * sine, inverse = 1.0 / vsqrt(u * u + v * v);
  q[2] = u * inverse;
  q[3] = v * inverse;
}

// q <- q (+) dt dq
static __attribute__((noinline)) void integrate(const Bodies &b, double dt, const V *dq, V *q) {
  for (int i = 0; i < b.tree.n; ++i) {
    if (b.follows[i]) continue;
    V *x = q + b.tree.q_index[i], d[6], shift[3], R[9];
    for (int c = b.column_start[i], k = 0; c < b.column_start[i + 1]; ++c, ++k) d[k] = dt * dq[b.v_index[c]];
    switch (b.tree.kind[i]) {
      case kBall: turn_quat(x, d); break;
      case kPlanar: move_plane(x, d); break;
      case kFree:
        quat_matrix(x + 3, R);
        screw(d + 3, d, shift);
        for (int k = 0; k < 3; ++k) x[k] += dot3(R + 3 * k, shift);
        turn_quat(x + 3, d + 3);
        break;
      default: x[0] += d[0];
    }
  }
}

// What walls do to the tool, (3) world axes, after inverse: n max(0, stiffness depth - damping n.v) each.
static __attribute__((noinline)) void push(const Rollout &r, const Work &w, const Pose &T, V *force) {
  const V *v = w.velocity + 6 * (r.tool.joint < 0 ? 0 : r.tool.joint);
  V speed[3] = {v[0], v[1], v[2]}, at[3];
  add_cross(v + 3, T.p, speed);
  for (int k = 0; k < 3; ++k) {
    force[k] = splat(0.0);
    at[k] = T.p[k] + w.origin[k];
  }
  if (r.tool.joint < 0) return;
  for (int i = 0; i < r.walls; ++i) {
    const double *wall = r.wall + 8 * i, *n = wall + 3;
    const V depth = n[0] * (wall[0] - at[0]) + n[1] * (wall[1] - at[1]) + n[2] * (wall[2] - at[2]);
    const V f = wall[6] * depth - wall[7] * (n[0] * speed[0] + n[1] * speed[1] + n[2] * speed[2]);
    const V size = pick((depth > 0.0) & (f > 0.0), f, splat(0.0));
    for (int k = 0; k < 3; ++k) force[k] += n[k] * size;
  }
}

// ddq (nv) <- (M + rotors + dt D)^-1 (ddq - friction), D the slope of the friction.
static __attribute__((noinline)) void accelerate(const Bodies &b, const Rollout &r, Work &w, const V *dq, V *ddq) {
  if (!w.composed) compose(b, w);
  w.composed = false;  // factored in place below
  const int nv = b.nv;
  if (r.rotors)
    for (int i = 0; i < nv; ++i) w.mass[i * nv + i] += b.rotor[i];
  if (r.friction) {
    for (int i = 0; i < nv; ++i) w.tau[i] = splat(0.0);
    add_friction(b, dq, w.tau);
    for (int i = 0; i < nv; ++i) ddq[i] -= w.tau[i];
    for (int v = 0; v < nv; ++v) {
      if (b.viscous[v] == 0.0 && b.dry[v] == 0.0) continue;
      const V x = 100.0 * dq[v], u = 1.0 + x * x;
      w.mass[v * nv + v] += r.dt * (b.viscous[v] + 100.0 * b.dry[v] / (u * vsqrt(u)));
    }
  }
  factor(nv, nv, w.mass);
  solve_lower(nv, nv, w.mass, ddq);
  solve_upper(nv, nv, w.mass, ddq);
}

// States of one vector of trajectories and what moves them.
struct Loop {
  V *q, *dq, *tau, *ddq;
  M alive;
};

static inline void put_flat(const V *x, double *flat, const long long *first, long at, int width, int count) {
  for (int l = 0; l < count; ++l)
    for (int k = 0; k < width; ++k) flat[first[at + l] + k] = lane(x[k], l);
}

static inline void take_flat(V *x, const double *flat, const long long *first, long at, int width, int count) {
  for (int l = 0; l < KLANES; ++l) {
    const double *row = flat + first[at + (l < count ? l : 0)];
    for (int k = 0; k < width; ++k) lane(x[k], l) = row[k];
  }
}

// Marks trajectories that are lost at this step and turns their states to NaN.
static inline void lose(const Rollout &r, Loop &x, M good, long step, long at, int count, int nq, int nv) {
  const M lost = x.alive & !good;
  if (!any(lost)) return;
  for (int l = 0; l < count; ++l)
    if (on(lost, l)) r.failed[at + l] = step;
  for (int k = 0; k < nq; ++k) x.q[k] = pick(lost, splat(NAN), x.q[k]);
  for (int k = 0; k < nv; ++k) x.dq[k] = pick(lost, splat(NAN), x.dq[k]);
  x.alive = x.alive & good;
}

// The controller's torques at this state, into x.tau (nv); false where one is not finite.
static inline M command(const Bodies &b, Block &at, Work &w, Bench &s, Task &k, Loop &x) {
  for (int i = 0; i < b.tree.nq; ++i) w.q[i] = x.q[i];
  for (int i = 0; i < b.nv; ++i) w.dq[i] = x.dq[i];
  law(b, at, w, s, k);
  V sum = splat(0.0);
  for (int i = 0; i < at.t.n; ++i) sum += s.tau[i] - s.tau[i];
  if (at.has(kPortLimits)) limit(at, s);  // after the faults, as in a step
  for (int i = 0; i < b.nv; ++i) x.tau[i] = splat(0.0);
  for (int i = 0; i < at.t.n; ++i) x.tau[at.t.v[i]] = s.tau[i] + sum;  // 0, or NaN
  return sum == 0.0;
}

// J^T f added to ddq (nv), f (3) at the tool of the plant.
static inline void add_push(const Bodies &b, const Rollout &r, const Work &w, const Pose &T, const V *f, V *ddq) {
  for (int i = r.tool.joint; i >= 0; i = b.tree.parent[i])
    for (int c = b.column_start[i]; c < b.column_start[i + 1]; ++c) {
      V column[6];
      see_from(w, T, kLocalWorldAligned, w.column + 6 * c, column);
      ddq[b.v_index[c]] += dot3(column, f);
    }
}

static void run_block(const Bodies &plant, const Bodies &b, Block &at, const Rollout &r, Work &w, Work &p, Bench &s,
                      Task &k, Loop &x) {
  const int nq = plant.tree.nq, nv = plant.nv;
  V force[3], measured[6] = {};
  if (r.walls) at.measured = measured;
  for (long step = r.from; step < r.to + r.last; ++step) {
    for (int i = 0; i < nq; ++i) p.q[i] = x.q[i];
    place(plant, p);
    weigh(plant, p);
    inverse(plant, p, x.dq, nullptr, plant.gravity, x.ddq);  // C dq + g
    Pose T;
    if (r.walls) {
      place_frame(p, r.tool, T);
      push(r, p, T, force);
      for (int i = 0; i < 3; ++i) measured[i] = -force[i];
    }
    w.composed = p.composed = false;
    w.placed = &w == &p;
    const M finite = command(b, at, w, s, k, x);
    if (step % r.every == 0) {
      const long sample = step / r.every;
      put_flat(x.q, r.q_record + sample * r.q_total, at.t.q_at, at.at, nq, at.count);
      put_flat(x.dq, r.dq_record + sample * r.dq_total, at.t.qd_at, at.at, nv, at.count);
      put_flat(x.tau, r.tau_record + sample * r.dq_total, at.t.qd_at, at.at, nv, at.count);
    }
    lose(r, x, finite, step, at.at, at.count, nq, nv);
    if (step == r.to) break;
    for (int i = 0; i < nv; ++i) x.ddq[i] = x.tau[i] - x.ddq[i];
    if (r.walls) add_push(plant, r, p, T, force, x.ddq);
    accelerate(plant, r, p, x.dq, x.ddq);
    M tame = finite | !finite;
    for (int i = 0; i < nv; ++i) {
      x.dq[i] += r.dt * x.ddq[i];
      tame = tame & (x.dq[i] < kRunaway) & (x.dq[i] > -kRunaway);
    }
    lose(r, x, tame, step, at.at, at.count, nq, nv);
    integrate(plant, r.dt, x.dq, x.q);
  }
}

static long rollout_room(const Bodies &plant, const Bodies &b, const Step &t) {
  return (work_size(plant) + work_size(b) + bench_size(b, t) + plant.tree.nq + 3L * plant.nv) * (long)sizeof(V);
}

static void rollout(const Bodies &plant, const Bodies &b, const Step &t, const Rollout &r, long first, long count,
                    void *room) {
  Work w, own;
  Bench s;
  Task k;
  Loop x;
  V *rest = lay_out(b, w, lay_out(plant, own, static_cast<V *>(room)));
  x.q = rest;
  x.dq = x.q + plant.tree.nq;
  x.tau = x.dq + plant.nv;
  x.ddq = x.tau + plant.nv;
  lay_out(b, t, s, x.ddq + plant.nv);
  for (long i = first; i < first + count; i += KLANES) {
    Block at{t, i, (int)(first + count - i < KLANES ? first + count - i : KLANES)};
    take_flat(x.q, r.q, t.q_at, i, plant.tree.nq, at.count);
    take_flat(x.dq, r.dq, t.qd_at, i, plant.nv, at.count);
    V running = splat(0.0);
    for (int l = 0; l < at.count; ++l) lane(running, l) = r.failed[i + l] < 0;
    x.alive = running > 0.0;
    run_block(plant, b, at, r, w, &plant == &b ? w : own, s, k, x);
    put_flat(x.q, r.q, t.q_at, i, plant.tree.nq, at.count);
    put_flat(x.dq, r.dq, t.qd_at, i, plant.nv, at.count);
  }
}

}  // namespace KNAME
