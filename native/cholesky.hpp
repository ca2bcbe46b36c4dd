// Cholesky of a symmetric positive definite matrix in lanes, lower triangle, rows `width` apart.
#pragma once

#include "lanes.hpp"

namespace KNAME {

// A = L L^T in place, the diagonal inverted; NaN from the first pivot on that is not positive.
static __attribute__((noinline)) void factor(int n, int width, V *A) {
  for (int j = 0; j < n; ++j) {
    V *row = A + j * width;
    V d = row[j];
    for (int k = 0; k < j; ++k) d -= row[k] * row[k];
    const V inverse = 1.0 / vsqrt(d);
    row[j] = inverse;
    for (int i = j + 1; i < n; ++i) {
      V *below = A + i * width;
      V s = below[j];
      for (int k = 0; k < j; ++k) s -= below[k] * row[k];
      below[j] = s * inverse;
    }
  }
}

// b <- L^-1 b
static inline void solve_lower(int n, int width, const V *L, V *b) {
  for (int i = 0; i < n; ++i) {
    V s = b[i];
    for (int k = 0; k < i; ++k) s -= L[i * width + k] * b[k];
    b[i] = s * L[i * width + i];
  }
}

// b <- L^-T b
static inline void solve_upper(int n, int width, const V *L, V *b) {
  for (int i = n - 1; i >= 0; --i) {
    V s = b[i];
    for (int k = i + 1; k < n; ++k) s -= L[k * width + i] * b[k];
    b[i] = s * L[i * width + i];
  }
}

}  // namespace KNAME
