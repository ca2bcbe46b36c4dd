// Logarithms on SO(3) and SE(3) and their right Jacobians' inverses, scalar; Pinocchio's log3, log6, Jlog3, Jlog6.
// Rotations by rows. Source of the formulas: Sola, Deray, Atchuthan, "A micro Lie theory" (2018), eqs. 144-145, 177-180.
#pragma once

#include <math.h>

namespace knuckle {

// w with exp(w) = R, |w| in [0, pi]. The angle comes from a quaternion whose largest part is computed first.
inline void log3(const double *R, double *w) {
  double q[4];  // x, y, z, w
  const double trace = R[0] + R[4] + R[8];
  if (trace > 0) {
    const double s = 2.0 * sqrt(1.0 + trace);
    q[0] = (R[7] - R[5]) / s;
    q[1] = (R[2] - R[6]) / s;
    q[2] = (R[3] - R[1]) / s;
    q[3] = 0.25 * s;
  } else {
    int i = R[4] > R[0] ? 1 : 0;
    if (R[8] > R[4 * i]) i = 2;
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double s = 2.0 * sqrt(1.0 + R[4 * i] - R[4 * j] - R[4 * k]);
    q[i] = 0.25 * s;
    q[j] = (R[3 * j + i] + R[3 * i + j]) / s;
    q[k] = (R[3 * k + i] + R[3 * i + k]) / s;
    q[3] = (R[3 * k + j] - R[3 * j + k]) / s;
  }
  if (q[3] < 0)
    for (double &c : q) c = -c;
  const double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
  const double factor = n > 1e-9 ? 2.0 * atan2(n, q[3]) / n : 2.0 / q[3];
  for (int k = 0; k < 3; ++k) w[k] = factor * q[k];
}

// c(t) = (1 - (t/2) cot(t/2)) / t^2 and slope = c'(t)/t; below t = 1/2 by their series in the Bernoulli numbers.
inline double half_cotangent(double t, double &slope) {
  const double t2 = t * t;
  if (t < 0.5) {
    const double series[8] = {1.0 / 12, 1.0 / 720, 1.0 / 30240, 1.0 / 1209600, 1.0 / 47900160,
                              691.0 / 2730 / 479001600.0, 7.0 / 6 / 87178291200.0, 3617.0 / 510 / 20922789888000.0};
    double c = 0;
    slope = 0;
    for (int k = 7; k >= 0; --k) {
      c = c * t2 + series[k];
      if (k > 0) slope = slope * t2 + 2 * k * series[k];
    }
    return c;
  }
  const double h = 0.5 * t, cot = 1.0 / tan(h), sine = sin(h);
  const double c = (1.0 - h * cot) / t2;
  slope = (-0.5 * (cot - h / (sine * sine)) / t - 2.0 * c) / t2;
  return c;
}

// out = I + sign/2 [w]x + c [w]x^2 ; sign +1: inverse right Jacobian (Jlog3), -1: inverse left Jacobian.
inline void inverse_jacobian3(const double *w, double sign, double *out) {
  const double t2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
  double slope;
  const double c = half_cotangent(sqrt(t2), slope), h = 0.5 * sign;
  const double skew[9] = {0, -w[2], w[1], w[2], 0, -w[0], -w[1], w[0], 0};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      out[3 * i + j] = (i == j ? 1.0 - c * t2 : 0.0) + h * skew[3 * i + j] + c * w[i] * w[j];
}

// xi (v, w) with exp(xi) = (R, p).
inline void log6(const double *R, const double *p, double *xi) {
  double L[9];
  log3(R, xi + 3);
  inverse_jacobian3(xi + 3, -1.0, L);
  for (int i = 0; i < 3; ++i) xi[i] = L[3 * i] * p[0] + L[3 * i + 1] * p[1] + L[3 * i + 2] * p[2];
}

// d log6(M exp(d))/d d at d = 0 is [[A, B], [0, A]]: A = Jlog3(R), B = (d (L(w) p)/d w) A with L the inverse left
// Jacobian; both (3, 3) by rows.
inline void jlog6(const double *R, const double *p, double *A, double *B) {
  double w[3], D[9], slope;
  log3(R, w);
  inverse_jacobian3(w, 1.0, A);
  const double t2 = w[0] * w[0] + w[1] * w[1] + w[2] * w[2], wp = w[0] * p[0] + w[1] * p[1] + w[2] * p[2];
  const double c = half_cotangent(sqrt(t2), slope);
  const double skew[9] = {0, -p[2], p[1], p[2], 0, -p[0], -p[1], p[0], 0};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j)
      D[3 * i + j] = 0.5 * skew[3 * i + j] + c * ((i == j ? wp : 0.0) + w[i] * p[j] - 2.0 * p[i] * w[j]) +
                     slope * (w[i] * wp - t2 * p[i]) * w[j];
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) B[3 * i + j] = D[3 * i] * A[j] + D[3 * i + 1] * A[3 + j] + D[3 * i + 2] * A[6 + j];
}

}  // namespace knuckle
