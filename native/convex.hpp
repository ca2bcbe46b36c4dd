// Distance of two convex shapes by the algorithm of Gilbert, Johnson and Keerthi (1988): whether they are closer than a
// radius, with a verdict only where it is certain, or how far apart and where.
#pragma once

#include "kernel.hpp"
#include "lanes.hpp"

namespace KNAME {

using knuckle::Collider;

static const double kDoubt = 5e-6;  // [m] nearer than this to a verdict's border nothing is decided here
static const double kExact = 1e-10;  // [m], and relative: how far a distance may be off
static const int kRounds = 64, kCloseRounds = 6;

static inline double dot3(const double *a, const double *b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

struct Convex {
  int core;
  const double *size;
  const double *x, *y, *z;
  long count;
};

static inline Convex convex_of(const Collider &c, int i) {
  const long first = c.start[i], count = c.start[i + 1] - first;
  const double *x = c.points + 3 * first;
  return Convex{c.core[i], c.size + 5 * i, x, x + count, x + 2 * count, count};
}

// The point of a shape farthest along d, in the shape's frame.
static inline void support(const Convex &s, const double *d, double *out) {
  const double *z = s.size;
  switch (s.core) {
    case knuckle::kPoints: {
      V best = splat(-1e300), dx = splat(d[0]), dy = splat(d[1]), dz = splat(d[2]);
      VI at{}, index{};
      for (int l = 0; l < KLANES; ++l) index[l] = l;
      for (long i = 0; i < s.count; i += KLANES) {
        V a, b, c;
        __builtin_memcpy(&a, s.x + i, sizeof a);
        __builtin_memcpy(&b, s.y + i, sizeof b);
        __builtin_memcpy(&c, s.z + i, sizeof c);
        const V h = a * dx + b * dy + c * dz;
        const M more = h > best;
        best = pick(more, h, best);
        at = more ? index : at;
        index = index + KLANES;
      }
      int l = 0;
      for (int k = 1; k < KLANES; ++k)
        if (best[k] > best[l]) l = k;
      const long i = at[l];
      out[0] = s.x[i];
      out[1] = s.y[i];
      out[2] = s.z[i];
      return;
    }
    case knuckle::kCylinder: {
      const double n = __builtin_sqrt(d[0] * d[0] + d[1] * d[1]);
      const double k = n > 0 ? z[0] / n : 0;
      out[0] = k * d[0];
      out[1] = k * d[1];
      out[2] = d[2] > 0 ? z[1] : -z[1];
      return;
    }
    case knuckle::kCone: {
      const double n = __builtin_sqrt(d[0] * d[0] + d[1] * d[1]);
      const double k = n > 0 ? z[0] / n : 0;
      const bool tip = 2 * z[1] * d[2] >= z[0] * n;
      out[0] = tip ? 0 : k * d[0];
      out[1] = tip ? 0 : k * d[1];
      out[2] = tip ? z[1] : -z[1];
      return;
    }
    default: {  // kEllipsoid
      const double e[3] = {z[0] * d[0], z[1] * d[1], z[2] * d[2]};
      const double n = __builtin_sqrt(dot3(e, e)), k = n > 0 ? 1 / n : 0;
      for (int i = 0; i < 3; ++i) out[i] = k * z[i] * e[i];
    }
  }
}

struct Simplex {
  int n;
  double y[4][3];  // a - b
  double a[4][3], b[4][3];
  double w[4];  // weights of the closest point

  void keep(int i, int k) {
    for (int c = 0; c < 3; ++c) {
      y[i][c] = y[k][c];
      a[i][c] = a[k][c];
      b[i][c] = b[k][c];
    }
    w[i] = w[k];
  }
};

static inline void minus(const double *a, const double *b, double *out) {
  for (int c = 0; c < 3; ++c) out[c] = a[c] - b[c];
}

static inline void cross3(const double *a, const double *b, double *out) {
  out[0] = a[1] * b[2] - a[2] * b[1];
  out[1] = a[2] * b[0] - a[0] * b[2];
  out[2] = a[0] * b[1] - a[1] * b[0];
}

// Weights of the point of a segment nearest to the origin.
static inline void nearest_on_segment(const double *p, const double *q, double *w) {
  double d[3];
  minus(q, p, d);
  const double dd = dot3(d, d), t = -dot3(p, d);
  const double u = t <= 0 ? 0 : t >= dd ? 1 : t / dd;
  w[0] = 1 - u;
  w[1] = u;
}

// The same of a triangle, by its Voronoi regions (Ericson, Real-Time Collision Detection, 5.1.5).
static inline void nearest_on_triangle(const double *p, const double *q, const double *r, double *w) {
  double pq[3], pr[3];
  minus(q, p, pq);
  minus(r, p, pr);
  const double d1 = -dot3(pq, p), d2 = -dot3(pr, p);
  w[0] = w[1] = w[2] = 0;
  if (d1 <= 0 && d2 <= 0) {
    w[0] = 1;
    return;
  }
  const double d3 = -dot3(pq, q), d4 = -dot3(pr, q);
  if (d3 >= 0 && d4 <= d3) {
    w[1] = 1;
    return;
  }
  const double vc = d1 * d4 - d3 * d2;
  if (vc <= 0 && d1 >= 0 && d3 <= 0) {
    const double t = d1 / (d1 - d3);
    w[0] = 1 - t;
    w[1] = t;
    return;
  }
  const double d5 = -dot3(pq, r), d6 = -dot3(pr, r);
  if (d6 >= 0 && d5 <= d6) {
    w[2] = 1;
    return;
  }
  const double vb = d5 * d2 - d1 * d6;
  if (vb <= 0 && d2 >= 0 && d6 <= 0) {
    const double t = d2 / (d2 - d6);
    w[0] = 1 - t;
    w[2] = t;
    return;
  }
  const double va = d3 * d6 - d5 * d4;
  if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
    const double t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
    w[1] = 1 - t;
    w[2] = t;
    return;
  }
  const double sum = va + vb + vc;
  if (!(sum > 0)) {  // a needle: the best of its sides
    const double *corner[3] = {p, q, r};
    double best = 1e300;
    for (int s = 0; s < 3; ++s) {
      const int i = s, j = (s + 1) % 3;
      double u[2], v[3];
      nearest_on_segment(corner[i], corner[j], u);
      for (int c = 0; c < 3; ++c) v[c] = u[0] * corner[i][c] + u[1] * corner[j][c];
      const double vv = dot3(v, v);
      if (vv < best) {
        best = vv;
        w[0] = w[1] = w[2] = 0;
        w[i] = u[0];
        w[j] = u[1];
      }
    }
    return;
  }
  w[1] = vb / sum;
  w[2] = vc / sum;
  w[0] = 1 - w[1] - w[2];
}

// Reduces a simplex to the part that carries its point v nearest to the origin. True if the origin lies inside a
// tetrahedron; then `inside` is its distance to the nearest face.
static inline bool reduce(Simplex &s, double *v, double &inside) {
  if (s.n == 1) {
    s.w[0] = 1;
  } else if (s.n == 2) {
    nearest_on_segment(s.y[0], s.y[1], s.w);
  } else if (s.n == 3) {
    nearest_on_triangle(s.y[0], s.y[1], s.y[2], s.w);
  } else {
    static const int face[4][4] = {{1, 2, 3, 0}, {0, 2, 3, 1}, {0, 1, 3, 2}, {0, 1, 2, 3}};
    double best = 1e300, least = 1e300, found[4] = {0, 0, 0, 0};
    bool outside = false;
    for (const int *f : face) {
      const double *p = s.y[f[0]];
      double e[3], g[3], n[3], o[3];
      minus(s.y[f[1]], p, e);
      minus(s.y[f[2]], p, g);
      cross3(e, g, n);
      minus(s.y[f[3]], p, o);
      const double height = dot3(n, o), origin = -dot3(n, p), nn = dot3(n, n);
      const bool flat = height * height <= 1e-24 * nn * dot3(o, o);
      if (!flat && height * origin > 0) {
        const double h = origin * origin / nn;
        if (h < least) least = h;
        continue;
      }
      outside = true;
      double w[3], u[3];
      nearest_on_triangle(p, s.y[f[1]], s.y[f[2]], w);
      for (int c = 0; c < 3; ++c) u[c] = w[0] * p[c] + w[1] * s.y[f[1]][c] + w[2] * s.y[f[2]][c];
      const double uu = dot3(u, u);
      if (uu < best) {
        best = uu;
        found[f[3]] = 0;
        for (int k = 0; k < 3; ++k) found[f[k]] = w[k];
      }
    }
    if (!outside) {
      inside = __builtin_sqrt(least);
      return true;
    }
    for (int k = 0; k < 4; ++k) s.w[k] = found[k];
  }
  int n = 0;
  v[0] = v[1] = v[2] = 0;
  for (int k = 0; k < s.n; ++k)
    if (s.w[k] > 0) {
      if (n != k) s.keep(n, k);
      for (int c = 0; c < 3; ++c) v[c] += s.w[n] * s.y[n][c];
      ++n;
    }
  s.n = n;
  return false;
}

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
