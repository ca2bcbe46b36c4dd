// Distance of two convex shapes by the algorithm of Gilbert, Johnson and Keerthi (1988): whether they are closer than a
// radius, with a verdict only where it is certain, or how far apart and where.
#pragma once

#include "simplex.hpp"

namespace KNAME {

static const double kDoubt = 5e-6;  // [m] nearer than this to a verdict's border nothing is decided here
static const double kExact = 1e-10;  // [m], and relative: how far a distance may be off
static const int kRounds = 64, kCloseRounds = 6;

// Directions to begin anew from where the first ended on a face of the difference, as symmetric shapes make it.
static const double kElsewhere[3][3] = {{0.36, 0.48, 0.8}, {-0.64, 0.6, -0.48}, {0.6, -0.64, 0.48}};

// Two shapes, B posed in A's frame by R (rows) and t. kApart: their cores are farther apart than `radius`; kTouching:
// closer; kUndecided: within kDoubt of it, or too flat to tell. With `measure` it goes on to the distance of the cores:
// kApart then comes with `gap` and the points on both cores in A's frame, or with gap > radius as soon as that is known.
static int gjk_from(const double *first, const Convex &A, const Convex &B, const double *R, const double *t,
                    double radius, bool measure, double &gap, double *on_a, double *on_b) {
  Simplex s;
  s.n = 0;
  double v[3] = {first[0], first[1], first[2]};
  double vv = dot3(v, v);
  if (!(vv > 1e-20)) {
    v[0] = 1;
    v[1] = v[2] = 0;
    vv = 1;
  }
  int close = 0;  // rounds within doubt of a touch; shapes that barely touch never leave it
  for (int round = 0; round < kRounds; ++round) {
    const double length = __builtin_sqrt(vv);
    if (s.n > 0 && length < kDoubt && radius < kDoubt && ++close > kCloseRounds) break;
    const double d[3] = {-v[0], -v[1], -v[2]};
    const double back[3] = {R[0] * v[0] + R[3] * v[1] + R[6] * v[2], R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
                            R[2] * v[0] + R[5] * v[1] + R[8] * v[2]};
    double *a = s.a[s.n], *b = s.b[s.n], *y = s.y[s.n], local[3];
    support(A, d, a);
    support(B, back, local);
    for (int c = 0; c < 3; ++c) {
      b[c] = R[3 * c] * local[0] + R[3 * c + 1] * local[1] + R[3 * c + 2] * local[2] + t[c];
      y[c] = a[c] - b[c];
    }
    const double lower = dot3(v, y) / length;  // no two points are nearer than this
    if (lower > radius + kDoubt && !measure) return knuckle::kApart;
    if (measure && lower > radius) {
      gap = lower;
      return knuckle::kApart;
    }
    if (s.n > 0) {
      if (!measure && length < radius - kDoubt) return knuckle::kTouching;
      if (length - lower <= kExact * (1 + length)) {  // v is the nearest point
        gap = length;
        if (!measure || length < kDoubt) return knuckle::kUndecided;
        for (int c = 0; c < 3; ++c) {
          on_a[c] = on_b[c] = 0;
          for (int k = 0; k < s.n; ++k) {
            on_a[c] += s.w[k] * s.a[k][c];
            on_b[c] += s.w[k] * s.b[k][c];
          }
        }
        return knuckle::kApart;
      }
      // a point that is in the simplex already brings it no further, and proves nothing
      for (int k = 0; k < s.n; ++k)
        if (y[0] == s.y[k][0] && y[1] == s.y[k][1] && y[2] == s.y[k][2]) return knuckle::kUndecided;
    }
    ++s.n;
    double inside = 0;
    if (reduce(s, v, inside)) {
      gap = -inside;
      return !measure && inside + radius > kDoubt ? knuckle::kTouching : knuckle::kUndecided;
    }
    vv = dot3(v, v);
    if (!(vv > 1e-18)) {
      gap = 0;
      return !measure && radius > kDoubt ? knuckle::kTouching : knuckle::kUndecided;
    }
  }
  gap = 0;
  return knuckle::kUndecided;
}

static int gjk(const Convex &A, const Convex &B, const double *R, const double *t, double radius, bool measure,
               double &gap, double *on_a, double *on_b) {
  const double first[3] = {-t[0], -t[1], -t[2]};
  int verdict = gjk_from(first, A, B, R, t, radius, measure, gap, on_a, on_b);
  for (int k = 0; k < 3 && verdict == knuckle::kUndecided; ++k)
    verdict = gjk_from(kElsewhere[k], A, B, R, t, radius, measure, gap, on_a, on_b);
  return verdict;
}

}  // namespace KNAME
