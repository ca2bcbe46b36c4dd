// One problem at a time without lanes, for steps along a path: one attempt whose every operation waits for the last.
#define KFAST
#include "ik.hpp"

namespace knuckle {

void KSOLVE(const Chain &chain, const IkOptions &options, const IkProblem &problem, IkAnswer &answer) {
  KNAME::solve(chain, options, problem, answer);
}

}  // namespace knuckle
