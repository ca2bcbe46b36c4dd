// The damped least squares step in lanes, through the smaller of the two normal matrices.
#pragma once

#include "lanes.hpp"

namespace KNAME {

// Solves (A + mu I) y = b for a symmetric A given by its lower triangle; A and b are overwritten, b becomes y.
template <int D>
static inline void damped_solve(V (*A)[6], V mu, V *b) {
  V inverse[D];
  for (int j = 0; j < D; ++j) {
    V d = A[j][j] + mu;
    for (int k = 0; k < j; ++k) d -= A[j][k] * A[j][k] * A[k][k];
    A[j][j] = d;
    inverse[j] = 1.0 / d;
    for (int i = j + 1; i < D; ++i) {
      V s = A[i][j];
      for (int k = 0; k < j; ++k) s -= A[i][k] * A[j][k] * A[k][k];
      A[i][j] = s * inverse[j];
    }
  }
  for (int i = 0; i < D; ++i)
    for (int k = 0; k < i; ++k) b[i] -= A[i][k] * b[k];
  for (int i = 0; i < D; ++i) b[i] *= inverse[i];
  for (int i = D - 1; i >= 0; --i)
    for (int k = i + 1; k < D; ++k) b[i] -= A[k][i] * b[k];
}

// Fewer joints than rows: (J^T J + mu I) dq = J^T e.
template <int D>
static inline void step_joints(const V (*J)[6], const V *gradient, V mu, V *dq) {
  V A[6][6];
  for (int i = 0; i < D; ++i) {
    for (int j = 0; j <= i; ++j) {
      V s = J[i][0] * J[j][0];
      for (int r = 1; r < 6; ++r) s += J[i][r] * J[j][r];
      A[i][j] = s;
    }
    dq[i] = gradient[i];
  }
  damped_solve<D>(A, mu, dq);
}

// As many joints as rows or more: dq = J^T (J J^T + mu I)^-1 e.
static inline void step_rows(int n, const V (*J)[6], const V *e, V mu, V *dq) {
  V A[6][6], y[6];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j <= i; ++j) A[i][j] = J[0][i] * J[0][j];
  for (int c = 1; c < n; ++c)
    for (int i = 0; i < 6; ++i)
      for (int j = 0; j <= i; ++j) A[i][j] += J[c][i] * J[c][j];
  for (int i = 0; i < 6; ++i) y[i] = e[i];
  damped_solve<6>(A, mu, y);
  for (int c = 0; c < n; ++c) {
    V s = J[c][0] * y[0];
    for (int r = 1; r < 6; ++r) s += J[c][r] * y[r];
    dq[c] = s;
  }
}

// J by columns (n, 6); gradient = J^T e.
static inline void damped_step(int n, const V (*J)[6], const V *gradient, const V *e, V mu, V *dq) {
  switch (n) {
    case 1: step_joints<1>(J, gradient, mu, dq); break;
    case 2: step_joints<2>(J, gradient, mu, dq); break;
    case 3: step_joints<3>(J, gradient, mu, dq); break;
    case 4: step_joints<4>(J, gradient, mu, dq); break;
    case 5: step_joints<5>(J, gradient, mu, dq); break;
    default: step_rows(n, J, e, mu, dq); break;
  }
}

}  // namespace KNAME
