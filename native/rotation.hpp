// Rotations in lanes: quaternions and the rotation vector of a rotation, exact to rounding from 0 to pi.
#pragma once

#include "tree.hpp"

namespace KNAME {

// Arc tangent of x in [0, 1.2]; reductions and coefficients of FreeBSD's msun s_atan.c (Sun Microsystems, 1993).
static inline V arc_tangent(V x) {
  const M middle = x >= 0.4375, high = x >= 0.6875;
  const V num = pick(high, x - 1.0, pick(middle, 2.0 * x - 1.0, x));
  const V den = pick(high, x + 1.0, pick(middle, 2.0 + x, splat(1.0)));
  const V from = pick(high, splat(7.85398163397448278999e-01), pick(middle, splat(4.63647609000806093515e-01), splat(0.0)));
  const V rest = pick(high, splat(3.06161699786838301793e-17), pick(middle, splat(2.26987774529616870924e-17), splat(0.0)));
  const V t = num / den, z = t * t, w = z * z;
  V odd = splat(1.62858201153657823623e-02), even = splat(-3.65315727442169155270e-02);
  odd = odd * w + 4.97687799461593236017e-02;
  odd = odd * w + 6.66107313738753120669e-02;
  odd = odd * w + 9.09088713343650656196e-02;
  odd = odd * w + 1.42857142725034663711e-01;
  odd = odd * w + 3.33333333333329318027e-01;
  even = even * w + -5.83357013379057348645e-02;
  even = even * w + -7.69187620504482999495e-02;
  even = even * w + -1.11111104054623557880e-01;
  even = even * w + -1.99999999998764832476e-01;
  return from - ((t * (z * odd + w * even) - rest) - t);
}

// Angle of (x, y), both not negative and not both 0.
static inline V quarter_angle(V y, V x) {
  const M steep = y > x;
  const V a = arc_tangent(pick(steep, x, y) / pick(steep, y, x));
  return pick(steep, 1.57079632679489661923 - a, a);
}

// Rotation of a quaternion x y z w of any length but zero.
static inline void quat_rotation(const V *quat, V *R) {
  const V inverse = 1.0 / vsqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3]);
  const V h[4] = {quat[0] * inverse, quat[1] * inverse, quat[2] * inverse, quat[3] * inverse};
  quat_matrix(h, R);
}

// Axis times angle, the angle in [0, pi], through the quaternion whose largest part comes first. At exactly pi the first
// entry that is not zero is positive.
static inline void rotation_vector(const V *R, V *w) {
  const V one = splat(1.0);
  const V size[4] = {one + R[0] - R[4] - R[8], one - R[0] + R[4] - R[8], one - R[0] - R[4] + R[8],
                     one + R[0] + R[4] + R[8]};
  const V a = R[7] - R[5], b = R[2] - R[6], c = R[3] - R[1];      // 4 w times the axis
  const V xy = R[1] + R[3], xz = R[2] + R[6], yz = R[5] + R[7];
  const V row[4][4] = {{size[0], xy, xz, a}, {xy, size[1], yz, b}, {xz, yz, size[2], c}, {a, b, c, size[3]}};
  V h[4] = {row[3][0], row[3][1], row[3][2], row[3][3]}, largest = size[3];
  for (int i = 0; i < 3; ++i) {
    const M more = size[i] > largest;
    largest = pick(more, size[i], largest);
    for (int k = 0; k < 4; ++k) h[k] = pick(more, row[i][k], h[k]);
  }
  const M first = (h[0] != 0.0), second = (h[1] != 0.0);
  const V lead = pick(first, h[0], pick(second, h[1], h[2]));
  const M turn = (h[3] < 0.0) | ((h[3] == 0.0) & (lead < 0.0));
  for (int k = 0; k < 4; ++k) h[k] = pick(turn, -h[k], h[k]);
  const V n = vsqrt(h[0] * h[0] + h[1] * h[1] + h[2] * h[2]);
  const M tiny = n <= 1e-8 * h[3];
  const V factor = 2.0 * pick(tiny, 1.0 / h[3], quarter_angle(n, h[3]) / pick(tiny, one, n));
  for (int k = 0; k < 3; ++k) w[k] = factor * h[k];
}

// C = A^T B, 3x3 by rows.
static inline void transposed_times(const V *A, const V *B, V *C) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) C[3 * i + j] = A[i] * B[j] + A[3 + i] * B[3 + j] + A[6 + i] * B[6 + j];
}

// C = A B^T
static inline void times_transposed(const V *A, const V *B, V *C) {
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      C[3 * i + j] = A[3 * i] * B[3 * j] + A[3 * i + 1] * B[3 * j + 1] + A[3 * i + 2] * B[3 * j + 2];
}

// Both halves of a spatial vector turned: x <- R x, or R^T x.
static inline void turn6(const V *R, bool back, V *x) {
  V y[6];
  for (int i = 0; i < 6; ++i) {
    const V *h = x + i / 3 * 3;
    const int r = i % 3;
    y[i] = back ? R[r] * h[0] + R[3 + r] * h[1] + R[6 + r] * h[2]
                : R[3 * r] * h[0] + R[3 * r + 1] * h[1] + R[3 * r + 2] * h[2];
  }
  for (int i = 0; i < 6; ++i) x[i] = y[i];
}

}  // namespace KNAME
