// Damped least squares in lanes, with limits inside the step, stagnation tests and restarts.
//
// Law: error e = W [p_goal - p; 2 vec(quaternion of R_goal R^T)], step dq = J^T (J J^T + mu I)^-1 e with
// mu = damping |e|^2 (Chan and Lawrence 1988) unless a constant is asked for. Joints whose range holds a full turn iterate free and are wrapped at
// the end; the others are taken out of the step while they stand at a bound and the gradient pushes outward.
//
// An attempt depends on (target, q_init, seed, index, attempt number) alone, and the answer is the successful attempt
// of the lowest number, so that it does not depend on the number of lanes or on what else is solved beside it.
#pragma once

#include "ik_attempt.hpp"

namespace KNAME {

// One iteration of every lane. `finished(l, met, stalled)` is called for each lane whose attempt ends; it may start
// another one in that same lane.
template <class Finished>
static inline void iterate(const Chain &chain, const IkOptions &options, Search &search, const Finished &finished) {
  Pose T;
  V axes[6 * kMaxIkJoints], e[6], squared;
  walk<true>(chain, [&](int i) { return search.x[i]; }, T, axes);
  const M met = pose_error(options, search, T, e, squared);
  const M better = (squared < search.best_error) | met;
  search.best_error = pick(better, squared, search.best_error);
  for (int i = 0; i < chain.n; ++i) search.best[i] = pick(better, search.x[i], search.best[i]);
  bool open = false;  // nobody needs a step once all have met their target
  for (int l = 0; l < KLANES; ++l) open = open || (search.job[l] >= 0 && !on(met, l));
  if (open) lane_step(chain, options, search, T, axes, e, squared);
  for (int l = 0; l < KLANES; ++l) {
    if (search.job[l] < 0) continue;
    if (on(met, l)) {
      finished(l, true, false);
      continue;
    }
    const double error = lane(squared, l);
    bool stalled = !(error < 1e300);
    if (search.iterations[l] - search.mark[l] >= options.patience) {
      stalled = stalled || !(error < options.shrink * lane(search.mark_error, l));
      search.mark[l] = search.iterations[l];
      lane(search.mark_error, l) = error;
    } else if (search.iterations[l] == 0) {
      lane(search.mark_error, l) = error;
    }
    search.iterations[l] += 1;
    if (stalled || search.iterations[l] >= options.attempt_iterations) finished(l, false, stalled);
  }
}

static void solve(const Chain &chain, const IkOptions &options, const IkProblem &problem, IkAnswer &answer) {
  constexpr int kAhead = 64;  // finished attempts kept until those before them are finished
  Search search;
  Attempt kept[kAhead];
  bool present[kAhead] = {};
  long next = 0, committed = 0, success = -1;
  bool decided = false;
  reset(answer);
  for (int l = 0; l < KLANES; ++l) {
    lane_start(chain, options, problem, 0, next, l, search);
    if (next < options.max_attempts) ++next;
    else search.job[l] = -1;
  }
  while (!decided) {
    iterate(chain, options, search, [&](int l, bool met, bool stalled) {
      const long number = search.number[l];
      Attempt &attempt = kept[number % kAhead];
      attempt = lane_finish(chain, options, problem, l, met, stalled, search);
      present[number % kAhead] = true;
      if (attempt.met && (success < 0 || number < success)) success = number;
      search.job[l] = -1;
    });
    while (!decided && present[committed % kAhead]) {
      present[committed % kAhead] = false;
      decided = commit(chain, options, kept[committed % kAhead], answer);
      ++committed;
    }
    for (int l = 0; l < KLANES && success < 0; ++l) {
      if (search.job[l] >= 0 || next >= options.max_attempts || next - committed >= kAhead) continue;
      lane_start(chain, options, problem, 0, next++, l, search);
    }
  }
}

static void solve_batch(const Chain &chain, const IkOptions &options, const IkProblem *problems, long count,
                        IkAnswer *answers) {
  Search search;
  long next = 0, open = 0;
  for (int l = 0; l < KLANES; ++l) {
    lane_start(chain, options, problems[next < count ? next : 0], next < count ? (int)next : -1, 0, l, search);
    if (next < count) {
      reset(answers[next++]);
      ++open;
    }
  }
  while (open > 0) {
    iterate(chain, options, search, [&](int l, bool met, bool stalled) {
      const int job = search.job[l];
      const Attempt attempt = lane_finish(chain, options, problems[job], l, met, stalled, search);
      if (!commit(chain, options, attempt, answers[job])) {
        lane_start(chain, options, problems[job], job, search.number[l] + 1, l, search);
      } else if (next < count) {
        reset(answers[next]);
        lane_start(chain, options, problems[next], (int)next, 0, l, search);
        ++next;
      } else {
        search.job[l] = -1;
        --open;
      }
    });
  }
}

}  // namespace KNAME
