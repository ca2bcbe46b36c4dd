// The inverse of A = Jo M^-1 Jo^T in lanes, plain or bounded near singularities; law and source in
// controllers/task_inertia.py.
#pragma once

#include "cholesky.hpp"

namespace KNAME {

constexpr double kEps = 1e-3;  // eigenvalues below this share of their mean are bounded
constexpr double kLeastLever = 1e-2, kGreatestLever = 1e3;  // at which controlled joints count as holding the tool [m]
constexpr double kLeast2 = kLeastLever * kLeastLever, kGreatest2 = kGreatestLever * kGreatestLever;

// Eigenvalues (N) and eigenvectors by columns (N, N) of the symmetric A (N, N), overwritten, by Jacobi's rotations. A
// lane that is done is turned by exact identities from then on, so that no lane feels how long another takes.
template <int N>
static __attribute__((noinline)) void eigen(V *A, V *lam, V *U) {
  for (int i = 0; i < N * N; ++i) U[i] = splat(i % (N + 1) ? 0.0 : 1.0);
  for (int sweep = 0; sweep < 24; ++sweep) {
    bool turned = false;
    for (int p = 0; p < N; ++p)
      for (int q = p + 1; q < N; ++q) {
        const V off = A[p * N + q], a = A[p * N + p], b = A[q * N + q];
        const M on = off * off > 1e-33 * (a * a + b * b);
        if (!any(on)) continue;
        turned = true;
        // t = tan of the angle that clears `off`, the smaller one
        const V half = 0.5 * (b - a), safe = pick(on, off, splat(1.0));
        const V ratio = half / safe, size = pick(ratio < 0.0, -ratio, ratio);
        const V t0 = 1.0 / (size + vsqrt(1.0 + ratio * ratio));
        const V t = pick(on, pick(ratio < 0.0, -t0, t0), splat(0.0));
        const V c = pick(on, 1.0 / vsqrt(1.0 + t * t), splat(1.0)), s = t * c;
        for (int k = 0; k < N; ++k) {
          const V x = A[k * N + p], y = A[k * N + q];
          A[k * N + p] = c * x - s * y;
          A[k * N + q] = s * x + c * y;
        }
        for (int k = 0; k < N; ++k) {
          const V x = A[p * N + k], y = A[q * N + k];
          A[p * N + k] = c * x - s * y;
          A[q * N + k] = s * x + c * y;
        }
        A[p * N + q] = pick(on, splat(0.0), A[p * N + q]);
        A[q * N + p] = pick(on, splat(0.0), A[q * N + p]);
        for (int k = 0; k < N; ++k) {
          const V x = U[k * N + p], y = U[k * N + q];
          U[k * N + p] = c * x - s * y;
          U[k * N + q] = s * x + c * y;
        }
      }
    if (!turned) break;
  }
  for (int i = 0; i < N; ++i) lam[i] = A[i * N + i];
}

// H = S U diag(h) U^T S of A, `s` the diagonal of S, and the least x: eigenvalues of S A S below lam0 are bounded.
template <int N>
static __attribute__((noinline)) void bounded(const V *A, const V *s, V lam0, V *H, V &nearness) {
  V B[N * N], lam[N], U[N * N], h[N];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j < N; ++j) B[i * N + j] = A[i * N + j] * s[i] * s[j];
  eigen<N>(B, lam, U);
  const M moved = lam0 > 0.0, lost = lam0 != lam0;
  const V bound = pick(moved | lost, lam0, splat(1.0));
  V least = splat(1.0);
  for (int i = 0; i < N; ++i) {
    V x = lam[i] / bound;
    x = pick(x < 0.0, splat(0.0), x);
    const M whole = x >= 1.0;
    h[i] = pick(whole, 1.0 / lam[i], (3.0 - 3.0 * x + x * x) / bound);
    h[i] = pick(moved | lost, h[i], splat(0.0));
    least = pick(x < least, x, pick(x != x, x, least));
  }
  nearness = least;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      V sum = splat(0.0);
      for (int k = 0; k < N; ++k) sum += U[i * N + k] * U[j * N + k] * h[k];
      H[i * N + j] = H[j * N + i] = sum * s[i] * s[j];
    }
}

// Plain inverse of the symmetric positive definite A (N, N); NaN where it is not.
template <int N>
static __attribute__((noinline)) void plain(const V *A, V *H) {
  V L[N * N], K[N * N];
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) L[i * N + j] = A[i * N + j];
  factor(N, N, L);
  for (int j = 0; j < N; ++j) {  // K = L^-1, lower
    K[j * N + j] = L[j * N + j];
    for (int i = j + 1; i < N; ++i) {
      V sum = splat(0.0);
      for (int k = j; k < i; ++k) sum -= L[i * N + k] * K[k * N + j];
      K[i * N + j] = sum * L[i * N + i];
    }
  }
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) {
      V sum = K[i * N + i] * K[i * N + j];
      for (int k = i + 1; k < N; ++k) sum += K[k * N + i] * K[k * N + j];
      H[i * N + j] = H[j * N + i] = sum;
    }
}

// The bounded inverse with lam0 = kEps/N tr(S A S), the trace at least `floor`; the plain one where
// tr((S A S)^-1) lam0 <= 1, which proves that every eigenvalue is above lam0, where both agree.
template <int N>
static inline void task_inverse(const V *A, const V *s, V floor, bool exact, V *H, V &nearness) {
  plain<N>(A, H);
  nearness = splat(1.0);
  if (exact) return;
  V trace = splat(0.0), inverse = splat(0.0);
  for (int i = 0; i < N; ++i) {
    trace += A[i * N + i] * s[i] * s[i];
    inverse += H[i * N + i] / (s[i] * s[i]);
  }
  V sum = A[0];
  for (int i = 1; i < N * N; ++i) sum += A[i];
  const V lam0 = (kEps / N) * pick(trace < floor, floor, trace) + 0.0 * sum;  // NaN if anything is not finite
  const M proven = inverse * lam0 <= 1.0;
  const M open = !proven;
  if (!any(open)) return;
  V bound[N * N], least;
  bounded<N>(A, s, lam0, bound, least);
  for (int i = 0; i < N * N; ++i) H[i] = pick(open, bound[i], H[i]);
  nearness = pick(open, least, nearness);
}

// Lambda (6, 6) of the whole A, metres and radians levelled.
static inline void full_inverse(const V *A, bool exact, V *H, V &nearness) {
  const V vv = A[0] + A[7] + A[14], ww = A[21] + A[28] + A[35];
  const M turns = ww > 0.0;
  V level2 = vv / pick(turns, ww, splat(1.0));
  level2 = pick(level2 < kLeast2, splat(kLeast2), pick(level2 > kGreatest2, splat(kGreatest2), level2));
  const V level = vsqrt(pick(turns, level2, splat(1.0)));
  const V s[6] = {splat(1.0), splat(1.0), splat(1.0), level, level, level};
  task_inverse<6>(A, s, splat(0.0), exact, H, nearness);
}

// blkdiag(A_vv^-1, A_ww^-1), each bounded alone.
static inline void block_inverse(const V *A, bool exact, V *H, V &nearness) {
  const V s[3] = {splat(1.0), splat(1.0), splat(1.0)};
  V B[9], K[9], least[2];
  for (int i = 0; i < 36; ++i) H[i] = splat(0.0);
  const V floor[2] = {(A[21] + A[28] + A[35]) * kLeast2, (A[0] + A[7] + A[14]) * (1.0 / kGreatest2)};
  for (int half = 0; half < 2; ++half) {
    for (int i = 0; i < 9; ++i) B[i] = A[(3 * half + i / 3) * 6 + 3 * half + i % 3];
    task_inverse<3>(B, s, floor[half], exact, K, least[half]);
    for (int i = 0; i < 9; ++i) H[(3 * half + i / 3) * 6 + 3 * half + i % 3] = K[i];
  }
  nearness = pick(least[1] < least[0], least[1], pick(least[1] != least[1], least[1], least[0]));
}

}  // namespace KNAME
