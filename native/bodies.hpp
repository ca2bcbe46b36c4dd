// Dynamics of a tree in lanes, everything in world axes about one point, the origin of the first joint: twists, wrenches
// and inertias only add along the tree. Spatial vectors are linear first.
// Source: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), chapters 2, 5, 6.
#pragma once

#include "cholesky.hpp"
#include "kernel.hpp"
#include "tree.hpp"

namespace KNAME {

using knuckle::Bodies;
using knuckle::Frame;

// Scratch of one vector of states.
struct Work {
  V *q, *dq, *ddq, *tau;                // (nq), (nv), (nv), (nv)
  Pose *pose;                           // (n), positions about the origin
  V *column;                            // (columns, 6): twist of unit velocity
  V *inertia, *composite;               // (n, 10): mass, first moment, inertia about the origin xx xy xz yy yz zz
  V *velocity, *acceleration, *force;   // (n, 6)
  V *mass;                              // (nv, nv), lower triangle
  V origin[3];
  bool placed = false, composed = false;  // place and weigh, or compose, were done for q already
};

static inline long work_size(const Bodies &b) {
  return b.tree.nq + 3L * b.nv + 12L * b.tree.n + 6L * b.columns + 38L * b.tree.n + (long)b.nv * b.nv;
}

// Lays a Work out in `room`; returns what is left of it.
static inline V *lay_out(const Bodies &b, Work &w, V *room) {
  const long n = b.tree.n;
  V **const parts[] = {&w.q, &w.dq, &w.ddq, &w.tau, &w.column, &w.inertia, &w.composite, &w.velocity, &w.acceleration,
                       &w.force, &w.mass};
  const long sizes[] = {b.tree.nq, b.nv, b.nv, b.nv, 6L * b.columns, 10 * n, 10 * n, 6 * n, 6 * n, 6 * n,
                        (long)b.nv * b.nv};
  w.pose = reinterpret_cast<Pose *>(room);
  room += 12 * n;
  for (int i = 0; i < 11; ++i) {
    *parts[i] = room;
    room += sizes[i];
  }
  return room;
}

static inline V dot3(const V *a, const V *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static inline V dot6(const V *a, const V *b) { return dot3(a, b) + dot3(a + 3, b + 3); }

static inline void add_cross(const V *a, const V *b, V *out) {
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

// Momentum or force of a body: out = I x.
static inline void inertia_times(const V *I, const V *x, V *out) {
  const V *h = I + 1, *v = x, *w = x + 3;
  for (int k = 0; k < 3; ++k) out[k] = I[0] * v[k];
  add_cross(w, h, out);
  out[3] = I[4] * w[0] + I[5] * w[1] + I[6] * w[2];
  out[4] = I[5] * w[0] + I[7] * w[1] + I[8] * w[2];
  out[5] = I[6] * w[0] + I[8] * w[1] + I[9] * w[2];
  add_cross(h, v, out + 3);
}

// Poses of the joints about the origin, and their columns.
static __attribute__((noinline)) void place(const Bodies &b, Work &w) {
  place_about_first(b.tree, Lanes{w.q}, w.pose, w.origin);
  for (int i = 0; i < b.tree.n; ++i) {
    const Pose &T = w.pose[i];
    for (int c = b.column_start[i]; c < b.column_start[i + 1]; ++c) {
      V *S = w.column + 6 * c;
      const double m = b.tree.multiplier[i];
      V z[3];
      for (int k = 0; k < 3; ++k) z[k] = m * T.R[3 * k + b.axis[c]];
      if (b.turns[c]) {
        cross(T.p, z, S);
        for (int k = 0; k < 3; ++k) S[3 + k] = z[k];
      } else {
        for (int k = 0; k < 3; ++k) {
          S[k] = z[k];
          S[3 + k] = splat(0.0);
        }
      }
    }
  }
}

// Inertias of the bodies in world axes about the origin.
static __attribute__((noinline)) void weigh(const Bodies &b, Work &w) {
  for (int i = 0; i < b.tree.n; ++i) {
    const double *B = b.inertia + 10 * i, m = B[0];
    const Pose &T = w.pose[i];
    V *I = w.inertia + 10 * i, c[3], A[9];
    for (int r = 0; r < 3; ++r) {
      const V *R = T.R + 3 * r;
      c[r] = T.p[r] + R[0] * B[1] + R[1] * B[2] + R[2] * B[3];
      A[3 * r] = R[0] * B[4] + R[1] * B[5] + R[2] * B[6];
      A[3 * r + 1] = R[0] * B[5] + R[1] * B[7] + R[2] * B[8];
      A[3 * r + 2] = R[0] * B[6] + R[1] * B[8] + R[2] * B[9];
    }
    const V square = dot3(c, c);
    I[0] = splat(m);
    for (int r = 0, at = 4; r < 3; ++r) {
      I[1 + r] = m * c[r];
      for (int k = r; k < 3; ++k, ++at) {
        V s = dot3(A + 3 * r, T.R + 3 * k) - m * (c[r] * c[k]);
        I[at] = r == k ? s + m * square : s;
      }
    }
  }
}

// Velocities and accelerations of the bodies; null: dq or ddq zero. The world accelerates by -gravity, so that weights
// come out as forces.
static __attribute__((noinline)) void move(const Bodies &b, Work &w, const V *dq, const V *ddq, const double *gravity) {
  for (int i = 0; i < b.tree.n; ++i) {
    const int parent = b.tree.parent[i];
    V *v = w.velocity + 6 * i, *a = w.acceleration + 6 * i;
    for (int k = 0; k < 6; ++k) {
      v[k] = parent < 0 || !dq ? splat(0.0) : w.velocity[6 * parent + k];
      a[k] = parent < 0 ? splat(k < 3 ? -gravity[k] : 0.0) : w.acceleration[6 * parent + k];
    }
    V own[6] = {};
    for (int c = b.column_start[i]; c < b.column_start[i + 1]; ++c) {
      const V *S = w.column + 6 * c;
      if (dq)
        for (int k = 0; k < 6; ++k) own[k] += S[k] * dq[b.v_index[c]];
      if (ddq)
        for (int k = 0; k < 6; ++k) a[k] += S[k] * ddq[b.v_index[c]];
    }
    if (!dq) continue;
    // columns are fixed in the body, so dS/dt = v x S; the joint's own twist adds nothing to its own derivative
    add_cross(v + 3, own, a);
    add_cross(v, own + 3, a);
    add_cross(v + 3, own + 3, a + 3);
    for (int k = 0; k < 6; ++k) v[k] += own[k];
  }
}

// tau (nv) = M ddq + C dq + g, after place and weigh.
static __attribute__((noinline)) void inverse(const Bodies &b, Work &w, const V *dq, const V *ddq, const double *gravity,
                                              V *tau) {
  move(b, w, dq, ddq, gravity);
  for (int k = 0; k < b.nv; ++k) tau[k] = splat(0.0);
  for (int i = 0; i < b.tree.n; ++i) {
    const V *I = w.inertia + 10 * i, *v = w.velocity + 6 * i;
    V *f = w.force + 6 * i, h[6];
    inertia_times(I, w.acceleration + 6 * i, f);
    if (!dq) continue;
    inertia_times(I, v, h);
    add_cross(v + 3, h, f);
    add_cross(v + 3, h + 3, f + 3);
    add_cross(v, h, f + 3);
  }
  for (int i = b.tree.n - 1; i >= 0; --i) {
    const V *f = w.force + 6 * i;
    for (int c = b.column_start[i]; c < b.column_start[i + 1]; ++c) {
      tau[b.v_index[c]] += dot6(w.column + 6 * c, f);
      if (ddq) {
        const double m = b.tree.multiplier[i];
        tau[b.v_index[c]] += (m * m * b.armature[c]) * ddq[b.v_index[c]];
      }
    }
    const int parent = b.tree.parent[i];
    if (parent < 0) continue;
    for (int k = 0; k < 6; ++k) w.force[6 * parent + k] += f[k];
  }
}

static inline void add_mass(const Bodies &b, Work &w, int c, int other, V value) {
  int i = b.v_index[c], j = b.v_index[other];
  if (i == j && c != other) value = value + value;  // a follower and its leader: both ways round
  if (i < j) {
    const int k = i;
    i = j;
    j = k;
  }
  w.mass[i * b.nv + j] += value;
}

// Mass matrix, lower triangle, after place and weigh.
static __attribute__((noinline)) void compose(const Bodies &b, Work &w) {
  for (long k = 0; k < (long)b.nv * b.nv; ++k) w.mass[k] = splat(0.0);
  for (long k = 0; k < 10L * b.tree.n; ++k) w.composite[k] = w.inertia[k];
  for (int i = b.tree.n - 1; i >= 0; --i) {
    const V *I = w.composite + 10 * i;
    for (int c = b.column_start[i]; c < b.column_start[i + 1]; ++c) {
      const double m = b.tree.multiplier[i];
      V F[6];
      inertia_times(I, w.column + 6 * c, F);
      for (int other = b.column_start[i]; other < c; ++other) add_mass(b, w, c, other, dot6(w.column + 6 * other, F));
      add_mass(b, w, c, c, dot6(w.column + 6 * c, F) + m * m * b.armature[c]);
      for (int j = b.tree.parent[i]; j >= 0; j = b.tree.parent[j])
        for (int other = b.column_start[j]; other < b.column_start[j + 1]; ++other)
          add_mass(b, w, c, other, dot6(w.column + 6 * other, F));
    }
    const int parent = b.tree.parent[i];
    if (parent < 0) continue;
    for (int k = 0; k < 10; ++k) w.composite[10 * parent + k] += I[k];
  }
}

// Friction of the joints, added to tau: damping*dq + coulomb*sin(atan(100 dq)), followers geared by their multiplier.
static __attribute__((noinline)) void add_friction(const Bodies &b, const V *dq, V *tau) {
  for (int i = 0; i < b.tree.n; ++i)
    for (int c = b.column_start[i]; c < b.column_start[i + 1]; ++c) {
      if (b.damping[c] == 0.0 && b.coulomb[c] == 0.0) continue;
      const double m = b.tree.multiplier[i];
      const V rate = m * dq[b.v_index[c]], x = 100.0 * rate;
      tau[b.v_index[c]] += m * (b.damping[c] * rate + b.coulomb[c] * (x / vsqrt(1.0 + x * x)));
    }
}

}  // namespace KNAME
