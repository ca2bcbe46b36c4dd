// Kinematics of a tree in lanes: the pose of every joint.
#pragma once

#include "chain.hpp"

namespace KNAME {

using knuckle::Tree;

static inline void rotate(Pose &T, const V *R) {
  for (int i = 0; i < 3; ++i) {
    const V a = T.R[3 * i], b = T.R[3 * i + 1], c = T.R[3 * i + 2];
    for (int k = 0; k < 3; ++k) T.R[3 * i + k] = a * R[k] + b * R[3 + k] + c * R[6 + k];
  }
}

// Coordinates of up to KLANES configurations in rows (count, nq); lanes beyond `count` repeat the first.
struct Rows {
  const double *q;
  long nq;
  int count;
  V operator()(int i) const {
    V x{};
    for (int l = 0; l < KLANES; ++l) lane(x, l) = q[(l < count ? l : 0) * nq + i];
    return x;
  }
};

// Coordinates that are in lanes already.
struct Lanes {
  const V *q;
  V operator()(int i) const { return q[i]; }
};

// Rotation by rows of a unit quaternion x y z w.
static inline void quat_matrix(const V *h, V *R) {
  const V x = h[0], y = h[1], z = h[2], w = h[3];
  R[0] = 1.0 - 2.0 * (y * y + z * z);
  R[1] = 2.0 * (x * y - w * z);
  R[2] = 2.0 * (x * z + w * y);
  R[3] = 2.0 * (x * y + w * z);
  R[4] = 1.0 - 2.0 * (x * x + z * z);
  R[5] = 2.0 * (y * z - w * x);
  R[6] = 2.0 * (x * z - w * y);
  R[7] = 2.0 * (y * z + w * x);
  R[8] = 1.0 - 2.0 * (x * x + y * y);
}

// T <- T * the motion of a joint of several coordinates: position (3) and unit quaternion x y z w, the quaternion
// alone, or x, y, cos, sin in the plane.
template <class Coordinates>
static inline void place_free(const Tree &tree, int i, const Coordinates &q, Pose &T) {
  V c[7] = {};
  const int sizes[3] = {7, 4, 4};
  for (int k = 0; k < sizes[tree.kind[i] - knuckle::kFree]; ++k) c[k] = q(tree.q_index[i] + k);
  V R[9];
  if (tree.kind[i] == knuckle::kPlanar) {
    for (int r = 0; r < 3; ++r) T.p[r] += T.R[3 * r] * c[0] + T.R[3 * r + 1] * c[1];
    turn_z(T, c[3], c[2]);
    return;
  }
  const V *h = c;
  if (tree.kind[i] == knuckle::kFree) {
    for (int r = 0; r < 3; ++r) T.p[r] += T.R[3 * r] * c[0] + T.R[3 * r + 1] * c[1] + T.R[3 * r + 2] * c[2];
    h = c + 3;
  }
  quat_matrix(h, R);
  rotate(T, R);
}

// T <- T * the motion of joint i.
template <class Coordinates>
static inline void move_joint(const Tree &tree, int i, const Coordinates &q, Pose &T) {
  if (tree.kind[i] >= knuckle::kFree) return place_free(tree, i, q, T);
  const V x = tree.multiplier[i] * q(tree.q_index[i]) + tree.offset[i];
  if (tree.kind[i] == knuckle::kSliding) {
    for (int k = 0; k < 3; ++k) T.p[k] += x * T.R[3 * k + 2];
  } else {
    V s, c;
    vsincos(x, s, c);
    turn_z(T, s, c);
  }
}

// Poses of the joints, parents before children.
template <class Coordinates>
static inline void place_tree(const Tree &tree, const Coordinates &q, Pose *poses) {
  for (int i = 0; i < tree.n; ++i) {
    if (tree.parent[i] < 0) {
      set_fixed(poses[i], tree.fixed + 12 * i);
    } else {
      poses[i] = poses[tree.parent[i]];
      times_fixed(poses[i], tree.fixed + 12 * i);
    }
    move_joint(tree, i, q, poses[i]);
  }
}

// The same with positions about the origin of the first joint, wherever it has moved to: nothing is lost far from the
// world's origin.
template <class Coordinates>
static inline void place_about_first(const Tree &tree, const Coordinates &q, Pose *poses, V *origin) {
  for (int k = 0; k < 3; ++k) origin[k] = splat(tree.n ? tree.fixed[9 + k] : 0.0);
  for (int i = 0; i < tree.n; ++i) {
    Pose &T = poses[i];
    if (i == 0) {
      set_fixed(T, tree.fixed);
      for (int k = 0; k < 3; ++k) T.p[k] = splat(0.0);
    } else if (tree.parent[i] < 0) {
      set_fixed(T, tree.fixed + 12 * i);
      for (int k = 0; k < 3; ++k) T.p[k] -= origin[k];
    } else {
      T = poses[tree.parent[i]];
      times_fixed(T, tree.fixed + 12 * i);
    }
    move_joint(tree, i, q, T);
    if (i > 0) continue;
    for (int k = 0; k < 3; ++k) {
      origin[k] += T.p[k];
      T.p[k] = splat(0.0);
    }
  }
}

// Poses given from outside, (count, n, 12): rotation by rows, translation.
static inline void take_poses(int n, const double *given, int count, Pose *poses) {
  for (int i = 0; i < n; ++i)
    for (int l = 0; l < KLANES; ++l) {
      const double *T = given + 12 * ((l < count ? l : 0) * (long)n + i);
      for (int k = 0; k < 9; ++k) lane(poses[i].R[k], l) = T[k];
      for (int k = 0; k < 3; ++k) lane(poses[i].p[k], l) = T[9 + k];
    }
}

}  // namespace KNAME
