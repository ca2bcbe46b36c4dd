// Lanes: a fixed-width vector of doubles, one problem a lane, and the branch-free sine and cosine.
//
// Every translation unit that includes this header is compiled for one instruction set and defines KLANES and
// KNAME; all of its code lives in the namespace KNAME. No inline function of the standard library may be used
// here: the linker keeps one copy of such a function, and it could be the one compiled for AVX.
#pragma once

#include <math.h>

namespace KNAME {

#if KLANES == 1
typedef double V;
typedef long long VI;
typedef bool M;  // what a comparison of two V gives
static inline double &lane(V &v, int) { return v; }
static inline double lane(const V &v, int) { return v; }
static inline bool any(M m) { return m; }
static inline bool on(M m, int) { return m; }
#else
typedef double V __attribute__((vector_size(8 * KLANES)));
typedef long long VI __attribute__((vector_size(8 * KLANES)));
typedef VI M;
static inline double &lane(V &v, int l) { return reinterpret_cast<double *>(&v)[l]; }
static inline double lane(const V &v, int l) { return v[l]; }
static inline bool any(M m) {
  long long bits = 0;
  for (int l = 0; l < KLANES; ++l) bits |= m[l];
  return bits != 0;
}
static inline bool on(M m, int l) { return m[l] != 0; }
#endif

static inline V splat(double x) { return V{} + x; }
static inline V pick(M m, V a, V b) { return m ? a : b; }
static inline V vmin(V a, V b) { return a < b ? a : b; }
static inline V vmax(V a, V b) { return a > b ? a : b; }

static inline V vsqrt(V a) {
#if KLANES == 1
  return __builtin_sqrt(a);
#else
  V r;
  for (int l = 0; l < KLANES; ++l) r[l] = __builtin_sqrt(a[l]);
  return r;
#endif
}

// Sine and cosine to about one unit in the last place. Reduction by pi/2 in three parts of 33 bits (exact products
// while |x| < 2e5), kernels with the coefficients of FreeBSD's msun k_sin.c and k_cos.c (Sun Microsystems, 1993).
static inline void vsincos(V x, V &s, V &c) {
#if KLANES == 1 && !defined(KFAST)
  s = sin(x);
  c = cos(x);
#else
  const double magic = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer in the low bits
  V t = x * 0.63661977236758134308 + magic;
  VI k = (VI)t;
  V n = t - magic;
  V r = x - n * 1.57079632673412561417e+00;
  r = r - n * 6.07710050630396597660e-11;
  r = r - n * 2.02226624879595063154e-21;
  V z = r * r;
  V ps = splat(1.58969099521155010221e-10);
  ps = ps * z + -2.50507602534068634195e-08;
  ps = ps * z + 2.75573137070700676789e-06;
  ps = ps * z + -1.98412698298579493134e-04;
  ps = ps * z + 8.33333333332248946124e-03;
  ps = ps * z + -1.66666666666666324348e-01;
  V sr = r + r * z * ps;
  V pc = splat(-1.13596475577881948265e-11);
  pc = pc * z + 2.08757232129817482790e-09;
  pc = pc * z + -2.75573143513906633035e-07;
  pc = pc * z + 2.48015872894767294178e-05;
  pc = pc * z + -1.38888888888741095749e-03;
  pc = pc * z + 4.16666666666666019037e-02;
  V half = z * 0.5;
  V one = 1.0 - half;
  V cr = one + ((1.0 - one) - half + z * z * pc);
  M odd = (k & 1) != 0;
  V a = pick(odd, cr, sr);
  V b = pick(odd, sr, cr);
  s = pick((k & 2) != 0, -a, a);
  c = pick(((k + 1) & 2) != 0, -b, b);
  M far = (x > 1e5) | (x < -1e5) | (x != x);
  if (__builtin_expect(any(far), 0)) {
    for (int l = 0; l < KLANES; ++l) {
      if (on(far, l)) {
        lane(s, l) = sin(lane(x, l));
        lane(c, l) = cos(lane(x, l));
      }
    }
  }
#endif
}

}  // namespace KNAME
