// Convex shapes as the kernel has them: their cores, and the farthest point of each along a direction.
#pragma once

#include "kernel.hpp"
#include "lanes.hpp"

namespace KNAME {

using knuckle::Collider;

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

}  // namespace KNAME
