// A simplex in the difference of two shapes, reduced to the part that is nearest to the origin.
#pragma once

#include "convex.hpp"

namespace KNAME {

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

}  // namespace KNAME
