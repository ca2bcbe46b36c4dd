// Kinematics of a tree in lanes: the pose of every joint.
#pragma once

#include "chain.hpp"

namespace KNAME {

using knuckle::Tree;

// Poses of the joints of up to KLANES configurations, parents before children.
static inline void place_tree(const Tree &tree, const double *q, int count, Pose *poses) {
  for (int i = 0; i < tree.n; ++i) {
    Pose &T = poses[i];
    if (tree.parent[i] < 0) {
      set_fixed(T, tree.fixed + 12 * i);
    } else {
      T = poses[tree.parent[i]];
      times_fixed(T, tree.fixed + 12 * i);
    }
    V x{};
    for (int l = 0; l < KLANES; ++l)
      lane(x, l) = tree.multiplier[i] * q[(l < count ? l : 0) * (long)tree.nq + tree.q_index[i]] + tree.offset[i];
    if (tree.prismatic[i]) {
      for (int k = 0; k < 3; ++k) T.p[k] += x * T.R[3 * k + 2];
    } else {
      V s, c;
      vsincos(x, s, c);
      turn_z(T, s, c);
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
