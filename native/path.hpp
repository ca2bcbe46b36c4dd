// Where the next step of a path is looked for.
#pragma once

#include <math.h>

namespace knuckle {

constexpr double kLongestStride = 0.2;  // [rad | m] beyond it a step of a path is not taken as its direction
constexpr double kStray = 0.25;  // of the stride: how far a step may end from where the path was going

// Whether the path goes on at the pose after `here` about as it came there from `before`: H points at three poses in
// a row, the second being `here`.
inline bool goes_on(const double *here, const double *before) {
  if (!before) return false;
  const double *next = here + 16;
  double along = 0, a = 0, b = 0;
  for (int k = 0; k < 3; ++k) {
    const double came = here[4 * k + 3] - before[4 * k + 3], goes = next[4 * k + 3] - here[4 * k + 3];
    along += came * goes;
    a += came * came;
    b += goes * goes;
    for (int r = 0; r < 3; ++r) {
      const double turned = here[4 * r + k] - before[4 * r + k], turns = next[4 * r + k] - here[4 * r + k];
      along += 0.1 * turned * turns;
      a += 0.1 * turned * turned;
      b += 0.1 * turns * turns;
    }
  }
  return along > 0.8 * sqrt(a * b);
}

}  // namespace knuckle
