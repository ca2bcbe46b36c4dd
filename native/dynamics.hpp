// Answers to a Query in lanes: rows of states in, rows of answers out; one forward pass serves what is asked together.
#pragma once

#include "bodies.hpp"

namespace KNAME {

using knuckle::Query;

// Rows (count, width), `stride` apart, into lanes; lanes beyond `count` repeat the first.
static inline void take(V *x, const double *rows, long stride, int width, int count) {
  for (int l = 0; l < KLANES; ++l) {
    const double *row = rows + (l < count ? l : 0) * stride;
    for (int k = 0; k < width; ++k) lane(x[k], l) = row[k];
  }
}

static inline void put(const V *x, double *rows, long stride, int width, int count) {
  for (int l = 0; l < count; ++l)
    for (int k = 0; k < width; ++k) rows[l * stride + k] = lane(x[k], l);
}

// Pose of a frame about the origin.
static inline void place_frame(const Work &w, const Frame &frame, Pose &T) {
  if (frame.joint < 0) {
    set_fixed(T, frame.place);
    for (int k = 0; k < 3; ++k) T.p[k] -= w.origin[k];
    return;
  }
  T = w.pose[frame.joint];
  times_fixed(T, frame.place);
}

// A spatial motion about the origin as seen from a frame.
static inline void see_from(const Work &w, const Pose &T, int reference, const V *motion, V *out) {
  V arm[3];
  for (int k = 0; k < 3; ++k) {
    arm[k] = reference == knuckle::kWorld ? -w.origin[k] : T.p[k];
    out[k] = motion[k];
    out[3 + k] = motion[3 + k];
  }
  add_cross(motion + 3, arm, out);
  if (reference != knuckle::kLocal) return;
  V turned[6];
  for (int k = 0; k < 6; ++k) {
    const V *x = out + k / 3 * 3;
    turned[k] = T.R[k % 3] * x[0] + T.R[3 + k % 3] * x[1] + T.R[6 + k % 3] * x[2];
  }
  for (int k = 0; k < 6; ++k) out[k] = turned[k];
}

// Classical acceleration of a frame's origin and its angular acceleration, after move without gravity; world axes.
static inline void frame_acceleration(const Work &w, const Frame &frame, const Pose &T, V *out) {
  for (int k = 0; k < 6; ++k) out[k] = splat(0.0);
  if (frame.joint < 0) return;
  const V *v = w.velocity + 6 * frame.joint, *a = w.acceleration + 6 * frame.joint;
  V speed[3] = {v[0], v[1], v[2]};
  for (int k = 0; k < 6; ++k) out[k] = a[k];
  add_cross(v + 3, T.p, speed);
  add_cross(a + 3, T.p, out);
  add_cross(v + 3, speed, out);
}

static const double kNoGravity[3] = {0.0, 0.0, 0.0};

static __attribute__((noinline)) void answer_frames(const Bodies &b, const Query &k, Work &w, long at, int count) {
  Pose T;
  if (k.poses)
    for (int f = 0; f < k.frames; ++f) {
      place_frame(w, k.frame[f], T);
      for (int i = 0; i < 3; ++i) T.p[i] += w.origin[i];
      for (int l = 0; l < count; ++l) {
        double *H = k.poses + 16 * ((at + l) * k.frames + f);
        for (int r = 0; r < 3; ++r) {
          for (int c = 0; c < 3; ++c) H[4 * r + c] = lane(T.R[3 * r + c], l);
          H[4 * r + 3] = lane(T.p[r], l);
        }
        H[12] = H[13] = H[14] = 0.0;
        H[15] = 1.0;
      }
    }
  if (!k.jacobian && !k.twist && !k.bias) return;
  place_frame(w, k.frame[0], T);
  V out[6], sum[6] = {};
  if (k.jacobian)
    for (long i = 0; i < (long)count * 6 * b.nv; ++i) k.jacobian[at * 6 * b.nv + i] = 0.0;
  for (int i = k.frame[0].joint; i >= 0; i = b.tree.parent[i])
    for (int c = b.column_start[i]; c < b.column_start[i + 1]; ++c) {
      see_from(w, T, k.reference, w.column + 6 * c, out);
      if (k.twist)
        for (int r = 0; r < 6; ++r) sum[r] += out[r] * w.dq[b.v_index[c]];
      if (!k.jacobian) continue;
      for (int l = 0; l < count; ++l) {
        double *J = k.jacobian + (at + l) * 6 * b.nv + b.v_index[c];
        for (int r = 0; r < 6; ++r) J[(long)r * b.nv] += lane(out[r], l);
      }
    }
  if (k.twist) put(sum, k.twist + 6 * at, 6, 6, count);
  if (!k.bias) return;
  move(b, w, w.dq, nullptr, kNoGravity);
  frame_acceleration(w, k.frame[0], T, out);
  put(out, k.bias + 6 * at, 6, 6, count);
}

static __attribute__((noinline)) void answer_forces(const Bodies &b, const Query &k, Work &w, long at, int count) {
  const int nv = b.nv;
  weigh(b, w);
  if (k.mass || k.forward) compose(b, w);
  if (k.mass)
    for (int l = 0; l < count; ++l) {
      double *M = k.mass + (at + l) * nv * nv;
      for (int i = 0; i < nv; ++i)
        for (int j = 0; j <= i; ++j) M[i * nv + j] = M[j * nv + i] = lane(w.mass[i * nv + j], l);
    }
  if (!k.inverse && !k.forward) return;
  const V *dq = k.dq ? w.dq : nullptr, *ddq = k.ddq && k.inverse ? w.ddq : nullptr;
  inverse(b, w, dq, ddq, k.gravity, w.tau);
  if (k.friction && dq) add_friction(b, dq, w.tau);
  if (k.inverse) {
    if (k.rotors && ddq)
      for (int i = 0; i < nv; ++i) w.tau[i] += b.rotor[i] * ddq[i];
    put(w.tau, k.inverse + at * nv, nv, nv, count);
    return;
  }
  take(w.ddq, k.tau + at * k.tau_stride, k.tau_stride, nv, count);
  for (int i = 0; i < nv; ++i) {
    w.ddq[i] -= w.tau[i];
    if (k.rotors) w.mass[i * nv + i] += b.rotor[i];
  }
  factor(nv, nv, w.mass);
  solve_lower(nv, nv, w.mass, w.ddq);
  solve_upper(nv, nv, w.mass, w.ddq);
  put(w.ddq, k.forward + at * nv, nv, nv, count);
}

static long dynamics_room(const Bodies &b) { return work_size(b) * (long)sizeof(V); }

static void dynamics(const Bodies &b, const Query &k, long first, long count, void *room) {
  Work w;
  lay_out(b, w, static_cast<V *>(room));
  for (long at = first; at < first + count; at += KLANES) {
    const int lanes = (int)(first + count - at < KLANES ? first + count - at : KLANES);
    take(w.q, k.q + at * k.q_stride, k.q_stride, b.tree.nq, lanes);
    if (k.dq) take(w.dq, k.dq + at * k.dq_stride, k.dq_stride, b.nv, lanes);
    if (k.ddq) take(w.ddq, k.ddq + at * k.ddq_stride, k.ddq_stride, b.nv, lanes);
    place(b, w);
    if (k.poses || k.jacobian || k.twist || k.bias) answer_frames(b, k, w, at, lanes);
    if (k.inverse || k.forward || k.mass) answer_forces(b, k, w, at, lanes);
  }
}

}  // namespace KNAME
