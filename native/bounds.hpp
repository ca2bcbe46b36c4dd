// What encloses the shapes of a robot: bounding spheres and oriented boxes, a configuration a lane.
#pragma once

#include "gjk.hpp"
#include "tree.hpp"

namespace KNAME {

static const double kBoxSlack = 1e-9;  // keeps the cross product of nearly parallel edges from separating

struct Bounds {
  V R[9], c[3];  // axes of the box by columns, centre, in the world
};

// Scratch of one block of configurations.
struct Room {
  Pose *poses;      // (n)
  V *centre;        // (3 shapes)
  Bounds *boxes;    // (shapes)
  double *lower;    // (pairs)
  char *placed;     // (shapes) whether boxes holds it

  static long size(const Collider &c) {
    return (long)sizeof(Pose) * c.tree.n + (long)sizeof(V) * 3 * c.shapes + (long)sizeof(Bounds) * c.shapes +
           8L * c.pairs + c.shapes + 64;
  }
  Room(const Collider &c, void *memory) {
    char *at = static_cast<char *>(memory);
    poses = reinterpret_cast<Pose *>(at);
    at += sizeof(Pose) * c.tree.n;
    centre = reinterpret_cast<V *>(at);
    at += sizeof(V) * 3 * c.shapes;
    boxes = reinterpret_cast<Bounds *>(at);
    at += sizeof(Bounds) * c.shapes;
    lower = reinterpret_cast<double *>(at);
    at += 8L * c.pairs;
    placed = at;
  }
};

static inline void begin(const Collider &c, const double *q, int count, Room &room) {
  if (c.tree.fixed)
    place_tree(c.tree, Rows{q, c.tree.nq, count}, room.poses);
  else
    take_poses(c.tree.n, q, count, room.poses);
  for (int i = 0; i < c.shapes; ++i) {
    const double *s = c.sphere + 4 * i;
    V *at = room.centre + 3 * i;
    room.placed[i] = 0;
    if (c.joint[i] < 0) {
      for (int k = 0; k < 3; ++k) at[k] = splat(s[k]);
      continue;
    }
    const Pose &T = room.poses[c.joint[i]];
    for (int k = 0; k < 3; ++k) at[k] = T.p[k] + T.R[3 * k] * s[0] + T.R[3 * k + 1] * s[1] + T.R[3 * k + 2] * s[2];
  }
}

static inline const Bounds &box_of(const Collider &c, int i, Room &room) {
  Bounds &b = room.boxes[i];
  if (room.placed[i]) return b;
  room.placed[i] = 1;
  const double *F = c.box + 15 * i;
  if (c.joint[i] < 0) {
    for (int k = 0; k < 9; ++k) b.R[k] = splat(F[k]);
    for (int k = 0; k < 3; ++k) b.c[k] = splat(F[9 + k]);
    return b;
  }
  Pose T = room.poses[c.joint[i]];
  times_fixed(T, F);
  for (int k = 0; k < 9; ++k) b.R[k] = T.R[k];
  for (int k = 0; k < 3; ++k) b.c[k] = T.p[k];
  return b;
}

static inline V vabs(V a) { return vmax(a, -a); }

// A margin is one number for all lanes, or one a lane.
static inline double margin_of(double margin, int) { return margin; }
static inline double margin_of(const V &margin, int l) { return lane(margin, l); }

// Lanes in which two boxes, the first grown by margin, may overlap: no separating axis among the fifteen
// (Gottschalk, Lin, Manocha 1996).
template <class S>
static inline M boxes_meet(const Bounds &a, const double *ha, const Bounds &b, const double *hb, const S &margin) {
  V R[9], A[9], t[3], d[3];
  for (int k = 0; k < 3; ++k) d[k] = b.c[k] - a.c[k];
  for (int i = 0; i < 3; ++i) {
    t[i] = a.R[i] * d[0] + a.R[3 + i] * d[1] + a.R[6 + i] * d[2];
    for (int j = 0; j < 3; ++j) {
      const V r = a.R[i] * b.R[j] + a.R[3 + i] * b.R[3 + j] + a.R[6 + i] * b.R[6 + j];
      R[3 * i + j] = r;
      A[3 * i + j] = vabs(r) + kBoxSlack;
    }
  }
  const S g[3] = {ha[0] + margin, ha[1] + margin, ha[2] + margin};
  M apart = vabs(t[0]) > g[0] + A[0] * hb[0] + A[1] * hb[1] + A[2] * hb[2];
  for (int i = 1; i < 3; ++i)
    apart |= vabs(t[i]) > g[i] + A[3 * i] * hb[0] + A[3 * i + 1] * hb[1] + A[3 * i + 2] * hb[2];
  for (int j = 0; j < 3; ++j)
    apart |= vabs(t[0] * R[j] + t[1] * R[3 + j] + t[2] * R[6 + j]) > A[j] * g[0] + A[3 + j] * g[1] + A[6 + j] * g[2] + hb[j];
  for (int i = 0; i < 3; ++i) {
    const int u = (i + 1) % 3, w = (i + 2) % 3;
    for (int j = 0; j < 3; ++j) {
      const int m = (j + 1) % 3, n = (j + 2) % 3;
      apart |= vabs(t[w] * R[3 * u + j] - t[u] * R[3 * w + j]) >
               g[u] * A[3 * w + j] + g[w] * A[3 * u + j] + hb[m] * A[3 * i + n] + hb[n] * A[3 * i + m];
    }
  }
  return apart == 0;
}

}  // namespace KNAME
