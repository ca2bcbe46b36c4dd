// Which shapes of a robot touch: bounding spheres, oriented boxes, then the exact test, a configuration a lane.
//
// Every verdict is certain: pairs that lie within kDoubt of the border, or whose shapes are unknown here, are
// reported as undecided, for somebody else to look at.
#pragma once

#include "bounds.hpp"

namespace KNAME {

using knuckle::Nearest;

// World pose of a shape in one lane.
static inline void shape_pose(const Collider &c, int i, const Room &room, int l, double *R, double *p) {
  const double *F = c.place + 12 * i;
  if (c.joint[i] < 0) {
    for (int k = 0; k < 9; ++k) R[k] = F[k];
    for (int k = 0; k < 3; ++k) p[k] = F[9 + k];
    return;
  }
  const Pose &T = room.poses[c.joint[i]];
  for (int r = 0; r < 3; ++r) {
    const double a = lane(T.R[3 * r], l), b = lane(T.R[3 * r + 1], l), e = lane(T.R[3 * r + 2], l);
    for (int k = 0; k < 3; ++k) R[3 * r + k] = a * F[k] + b * F[3 + k] + e * F[6 + k];
    p[r] = lane(T.p[r], l) + a * F[9] + b * F[10] + e * F[11];
  }
}

// Normal and offset of a half space in the world.
static inline double half_space(const Collider &c, int i, const Room &room, int l, double *n) {
  double R[9], p[3];
  const double *z = c.size + 5 * i;
  shape_pose(c, i, room, l, R, p);
  for (int k = 0; k < 3; ++k) n[k] = R[3 * k] * z[0] + R[3 * k + 1] * z[1] + R[3 * k + 2] * z[2];
  return z[3] + dot3(n, p);
}

static inline V sphere_gap(const Collider &c, int i, int j, const Room &room) {
  const V *a = room.centre + 3 * i, *b = room.centre + 3 * j;
  const V d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  return d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
}

static inline bool unbounded(const Collider &c, int i) { return !(c.sphere[4 * i + 3] < 1e300); }

// The exact test of one pair in one lane. With `measure`: distance and points in the world, where kApart.
static int pair_test(const Collider &c, int i, int j, const Room &room, int l, double radius, bool measure,
                     Nearest *out) {
  if (c.core[i] == knuckle::kForeign || c.core[j] == knuckle::kForeign) return knuckle::kUndecided;
  const bool flip = c.core[i] == knuckle::kHalfSpace;
  if (flip) {
    const int k = i;
    i = j;
    j = k;
  }
  const double swept = c.size[5 * i + 4] + (c.core[j] == knuckle::kHalfSpace ? 0 : c.size[5 * j + 4]);
  double Ra[9], pa[3], a[3], b[3], gap = 0;
  if (c.core[i] == knuckle::kHalfSpace) return knuckle::kUndecided;  // two half spaces
  shape_pose(c, i, room, l, Ra, pa);
  const Convex A = convex_of(c, i);
  double unit[3];  // from A to B
  if (c.core[j] == knuckle::kHalfSpace) {
    double n[3], d[3], s[3];
    const double offset = half_space(c, j, room, l, n);
    for (int k = 0; k < 3; ++k) d[k] = -(Ra[k] * n[0] + Ra[3 + k] * n[1] + Ra[6 + k] * n[2]);
    support(A, d, s);
    for (int k = 0; k < 3; ++k) a[k] = pa[k] + Ra[3 * k] * s[0] + Ra[3 * k + 1] * s[1] + Ra[3 * k + 2] * s[2];
    gap = dot3(n, a) - offset;
    for (int k = 0; k < 3; ++k) {
      unit[k] = -n[k];
      b[k] = a[k] - gap * n[k];
    }
    if (!measure)
      return gap - swept > radius + kDoubt   ? knuckle::kApart
             : gap - swept < radius - kDoubt ? knuckle::kTouching
                                             : knuckle::kUndecided;
    if (gap - swept < kDoubt) return knuckle::kUndecided;
  } else {
    double Rb[9], pb[3], R[9], t[3], d[3];
    shape_pose(c, j, room, l, Rb, pb);
    minus(pb, pa, d);
    for (int r = 0; r < 3; ++r) {
      t[r] = Ra[r] * d[0] + Ra[3 + r] * d[1] + Ra[6 + r] * d[2];
      for (int k = 0; k < 3; ++k) R[3 * r + k] = Ra[r] * Rb[k] + Ra[3 + r] * Rb[3 + k] + Ra[6 + r] * Rb[6 + k];
    }
    double la[3], lb[3];
    const int verdict = gjk(A, convex_of(c, j), R, t, radius + swept, measure, gap, la, lb);
    if (!measure || verdict != knuckle::kApart) return verdict;
    if (gap > radius + swept) {
      out->distance = gap - swept;
      return verdict;
    }
    if (gap - swept < kDoubt) return knuckle::kUndecided;
    for (int k = 0; k < 3; ++k) {
      a[k] = pa[k] + Ra[3 * k] * la[0] + Ra[3 * k + 1] * la[1] + Ra[3 * k + 2] * la[2];
      b[k] = pa[k] + Ra[3 * k] * lb[0] + Ra[3 * k + 1] * lb[1] + Ra[3 * k + 2] * lb[2];
      unit[k] = (b[k] - a[k]) / gap;
    }
    // a and b are rotated; unit keeps its length only to rounding
  }
  const double ra = c.size[5 * i + 4], rb = c.core[j] == knuckle::kHalfSpace ? 0 : c.size[5 * j + 4];
  out->distance = gap - swept;
  double *first = flip ? out->on_second : out->on_first, *second = flip ? out->on_first : out->on_second;
  for (int k = 0; k < 3; ++k) {
    first[k] = a[k] + ra * unit[k];
    second[k] = b[k] - rb * unit[k];
  }
  return knuckle::kApart;
}

// Lanes in which a pair may be closer than margin, by spheres and boxes.
template <class S>
static inline M may_touch(const Collider &c, int i, int j, Room &room, const S &margin) {
  const bool plane_i = c.core[i] == knuckle::kHalfSpace, plane_j = c.core[j] == knuckle::kHalfSpace;
  if (plane_i || plane_j) {
    const int h = plane_i ? i : j, s = plane_i ? j : i;
    M near{};
    near = near == near;
    if (c.core[s] == knuckle::kHalfSpace || unbounded(c, s)) return near;
    for (int l = 0; l < KLANES; ++l) {
      double n[3], p[3];
      const double offset = half_space(c, h, room, l, n);
      for (int k = 0; k < 3; ++k) p[k] = lane(room.centre[3 * s + k], l);
      near[l] = dot3(n, p) - offset - c.sphere[4 * s + 3] <= margin_of(margin, l) + kDoubt ? -1 : 0;
    }
    return near;
  }
  if (unbounded(c, i) || unbounded(c, j)) {
    M near{};
    return near == near;
  }
  const S reach = c.sphere[4 * i + 3] + c.sphere[4 * j + 3] + margin + kDoubt;
  M near = sphere_gap(c, i, j, room) <= reach * reach;
  if (!any(near)) return near;
  return near & boxes_meet(box_of(c, i, room), c.box + 15 * i + 12, box_of(c, j, room), c.box + 15 * j + 12,
                           S(margin + kDoubt));
}

static long collision_room(const Collider &c) { return Room::size(c); }

// One margin for every pair and configuration, or one for each: margins (count, pairs).
struct SameMargin {
  double margin;
  double of(long, int, int, int) const { return margin; }
};
struct OwnMargins {
  const double *margins;
  V of(long at, int p, int pairs, int lanes) const {
    V m{};
    for (int l = 0; l < KLANES; ++l) lane(m, l) = margins[(at + (l < lanes ? l : 0)) * (long)pairs + p];
    return m;
  }
};

template <class Margins>
static void verdicts(const Collider &c, const double *q, long count, const Margins &margins, void *memory,
                     signed char *out, signed char *pairs) {
  Room room(c, memory);
  const long row = c.tree.fixed ? c.tree.nq : 12L * c.tree.n;
  for (long at = 0; at < count; at += KLANES) {
    const int lanes = (int)(count - at < KLANES ? count - at : KLANES);
    begin(c, q + at * row, lanes, room);
    signed char verdict[KLANES] = {0};
    int open = lanes;
    for (int p = 0; p < c.pairs && (open || pairs); ++p) {
      const int i = c.pair[2 * p], j = c.pair[2 * p + 1];
      const auto margin = margins.of(at, p, c.pairs, lanes);
      const M near = may_touch(c, i, j, room, margin);
      if (!any(near)) {
        if (pairs)
          for (int l = 0; l < lanes; ++l) pairs[(at + l) * c.pairs + p] = knuckle::kApart;
        continue;
      }
      for (int l = 0; l < lanes; ++l) {
        if (!pairs && verdict[l] == knuckle::kTouching) continue;
        const int found = on(near, l) ? pair_test(c, i, j, room, l, margin_of(margin, l), false, nullptr)
                                      : (int)knuckle::kApart;
        if (pairs) pairs[(at + l) * c.pairs + p] = (signed char)found;
        if (found == knuckle::kTouching && verdict[l] != knuckle::kTouching) {
          verdict[l] = knuckle::kTouching;
          --open;
        } else if (found == knuckle::kUndecided && verdict[l] == knuckle::kApart) {
          verdict[l] = knuckle::kUndecided;
        }
      }
    }
    for (int l = 0; l < lanes; ++l) out[at + l] = verdict[l];
  }
}

static void touching(const Collider &c, const double *q, long count, double margin, void *memory, signed char *out,
                     signed char *pairs) {
  verdicts(c, q, count, SameMargin{margin}, memory, out, pairs);
}

static void approaching(const Collider &c, const double *q, long count, const double *margins, void *memory,
                        signed char *out, signed char *pairs) {
  verdicts(c, q, count, OwnMargins{margins}, memory, out, pairs);
}

static void nearest(const Collider &c, const double *q, double limit, void *memory, Nearest &best, signed char *pairs) {
  Room room(c, memory);
  begin(c, q, 1, room);
  best.pair = -1;
  best.distance = limit;
  for (int p = 0; p < c.pairs; ++p) {
    const int i = c.pair[2 * p], j = c.pair[2 * p + 1];
    pairs[p] = knuckle::kApart;
    double lower = -1e300;
    const bool plane_i = c.core[i] == knuckle::kHalfSpace, plane_j = c.core[j] == knuckle::kHalfSpace;
    if (plane_i != plane_j && !unbounded(c, plane_i ? j : i)) {
      const int h = plane_i ? i : j, s = plane_i ? j : i;
      double n[3], at[3];
      const double offset = half_space(c, h, room, 0, n);
      for (int k = 0; k < 3; ++k) at[k] = lane(room.centre[3 * s + k], 0);
      lower = dot3(n, at) - offset - c.sphere[4 * s + 3];
    } else if (!unbounded(c, i) && !unbounded(c, j)) {
      lower = __builtin_sqrt(lane(sphere_gap(c, i, j, room), 0)) - c.sphere[4 * i + 3] - c.sphere[4 * j + 3];
    }
    room.lower[p] = lower;
  }
  for (;;) {
    int next = -1;
    double least = best.distance;
    for (int p = 0; p < c.pairs; ++p)
      if (room.lower[p] < least) {
        least = room.lower[p];
        next = p;
      }
    if (next < 0) return;
    room.lower[next] = __builtin_inf();
    Nearest found;
    const int verdict = pair_test(c, c.pair[2 * next], c.pair[2 * next + 1], room, 0, best.distance, true, &found);
    if (verdict == knuckle::kUndecided) {
      pairs[next] = knuckle::kUndecided;
    } else if (found.distance < best.distance) {
      best = found;
      best.pair = next;
    }
  }
}

}  // namespace KNAME
