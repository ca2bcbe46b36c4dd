// Kinematics of a chain in lanes: pose of the tip, joint axes and positions, Jacobian.
#pragma once

#include "kernel.hpp"
#include "lanes.hpp"

namespace KNAME {

using knuckle::Chain;

struct Pose {
  V R[9];  // by rows
  V p[3];
};

// T <- T * F for a constant F (rotation by rows, translation).
static inline void times_fixed(Pose &T, const double *F) {
  for (int i = 0; i < 3; ++i) {
    const V a = T.R[3 * i], b = T.R[3 * i + 1], c = T.R[3 * i + 2];
    T.p[i] += a * F[9] + b * F[10] + c * F[11];
    T.R[3 * i] = a * F[0] + b * F[3] + c * F[6];
    T.R[3 * i + 1] = a * F[1] + b * F[4] + c * F[7];
    T.R[3 * i + 2] = a * F[2] + b * F[5] + c * F[8];
  }
}

// T <- T * Rz(x): turns the first two columns.
static inline void turn_z(Pose &T, V s, V c) {
  for (int i = 0; i < 3; ++i) {
    const V a = T.R[3 * i], b = T.R[3 * i + 1];
    T.R[3 * i] = a * c + b * s;
    T.R[3 * i + 1] = b * c - a * s;
  }
}

static inline void set_fixed(Pose &T, const double *F) {
  for (int i = 0; i < 9; ++i) T.R[i] = splat(F[i]);
  for (int i = 0; i < 3; ++i) T.p[i] = splat(F[9 + i]);
}

// Pose of the tip for joint values value(i); with AXES also every joint's axis and position in the world, six values a
// joint: z (3), p (3).
template <bool AXES, class Value>
static inline void walk(const Chain &chain, const Value &value, Pose &T, V *axes) {
  set_fixed(T, chain.fixed);
  for (int i = 0; i < chain.n; ++i) {
    const V x = value(i);
    if (chain.prismatic[i]) {
      for (int k = 0; k < 3; ++k) T.p[k] += x * T.R[3 * k + 2];
    } else {
      V s, c;
      vsincos(x, s, c);
      turn_z(T, s, c);
    }
    if (AXES) {
      for (int k = 0; k < 3; ++k) {
        axes[6 * i + k] = T.R[3 * k + 2];
        axes[6 * i + 3 + k] = T.p[k];
      }
    }
    times_fixed(T, chain.fixed + 12 * (i + 1));
  }
}

static inline void cross(const V *a, const V *b, V *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// Joint values of up to KLANES configurations; lanes beyond `count` repeat the first.
struct Gather {
  const Chain &chain;
  const double *q;
  int count;
  V operator()(int i) const {
    V x{};
    for (int l = 0; l < KLANES; ++l) {
      const double *row = q + (l < count ? l : 0) * (long)chain.nq;
      lane(x, l) = chain.multiplier[i] * row[chain.q_index[i]] + chain.offset[i];
    }
    return x;
  }
};

// Homogeneous matrices (count, 4, 4).
static inline void put_pose(const Pose &T, int count, double *out) {
  for (int l = 0; l < count; ++l) {
    double *H = out + 16 * (long)l;
    for (int r = 0; r < 3; ++r) {
      for (int k = 0; k < 3; ++k) H[4 * r + k] = lane(T.R[3 * r + k], l);
      H[4 * r + 3] = lane(T.p[r], l);
    }
    H[12] = H[13] = H[14] = 0.0;
    H[15] = 1.0;
  }
}

static inline void fk_block(const Chain &chain, const double *q, int count, double *out) {
  Pose T;
  walk<false>(chain, Gather{chain, q, count}, T, nullptr);
  put_pose(T, count, out);
}

// `axes`: room for 6 n lanes; `pose`: the tip as well, unless null.
static inline void jacobian_block(const Chain &chain, const double *q, int count, int reference, V *axes, double *out,
                                  double *pose = nullptr) {
  Pose T;
  walk<true>(chain, Gather{chain, q, count}, T, axes);
  if (pose) put_pose(T, count, pose);
  for (int i = 0; i < chain.n; ++i) {
    V column[6];
    const V *z = axes + 6 * i;
    if (chain.prismatic[i]) {
      for (int k = 0; k < 3; ++k) {
        column[k] = z[k];
        column[3 + k] = splat(0.0);
      }
    } else {
      V arm[3];
      for (int k = 0; k < 3; ++k) arm[k] = (reference == knuckle::kWorld ? splat(0.0) : T.p[k]) - axes[6 * i + 3 + k];
      cross(z, arm, column);
      for (int k = 0; k < 3; ++k) column[3 + k] = z[k];
    }
    if (reference == knuckle::kLocal) {
      V turned[6];
      for (int k = 0; k < 3; ++k) {
        turned[k] = T.R[k] * column[0] + T.R[3 + k] * column[1] + T.R[6 + k] * column[2];
        turned[3 + k] = T.R[k] * column[3] + T.R[3 + k] * column[4] + T.R[6 + k] * column[5];
      }
      for (int k = 0; k < 6; ++k) column[k] = turned[k];
    }
    const double m = chain.multiplier[i];
    for (int l = 0; l < count; ++l) {
      double *J = out + (long)l * 6 * chain.nv + chain.v_index[i];
      for (int k = 0; k < 6; ++k) J[(long)k * chain.nv] += m * lane(column[k], l);
    }
  }
}

}  // namespace KNAME
