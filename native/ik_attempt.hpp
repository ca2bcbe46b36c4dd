// One attempt at a pose in every lane: where it starts, its error and step, and what it found; laws in ik.hpp.
#pragma once

#include "chain.hpp"
#include "damped.hpp"

namespace KNAME {

using knuckle::IkAnswer;
using knuckle::IkOptions;
using knuckle::IkProblem;
using knuckle::kMaxIkJoints;

static const double kTurn = 6.283185307179586476925;

// A uniform number in [0, 1) from counters (splitmix64 finaliser, Steele, Lea and Flood 2014).
static inline unsigned long long mix(unsigned long long h) {
  h += 0x9e3779b97f4a7c15ull;
  h = (h ^ (h >> 30)) * 0xbf58476d1ce4e5b9ull;
  h = (h ^ (h >> 27)) * 0x94d049bb133111ebull;
  return h ^ (h >> 31);
}

static inline double uniform(const IkProblem &problem, long attempt, int joint) {
  unsigned long long h = mix(mix(mix(problem.seed) ^ problem.index) ^ ((unsigned long long)attempt * 64u + joint));
  return (double)(h >> 11) * 0x1p-53;
}

struct Attempt {
  long number;
  int iterations;
  bool met, outside, stalled;
  double error;
  double q[kMaxIkJoints];
};

// The state of KLANES attempts.
struct Search {
  V x[kMaxIkJoints], best[kMaxIkJoints], low[kMaxIkJoints], high[kMaxIkJoints];
  V goal_R[9], goal_p[3];
  V error, best_error, mark_error;
  double iterations[KLANES], mark[KLANES];
  long number[KLANES];
  int job[KLANES];  // -1: idle
};

static inline void lane_start(const Chain &chain, const IkOptions &options, const IkProblem &problem, int job,
                              long number, int l, Search &search) {
  const bool is_free = options.free_first && (number % 2 == 0);
  for (int i = 0; i < chain.n; ++i) {
    const double lower = options.lower[i], upper = options.upper[i];
    double x;
    if (problem.q_init && (number == 0 || options.frozen[i])) {
      x = problem.q_init[i];
    } else {
      const bool bounded = lower > -1e300 && upper < 1e300;
      double a = bounded ? lower : (lower > -1e300 ? lower : (upper < 1e300 ? upper - kTurn : -0.5 * kTurn));
      double b = bounded ? upper : a + kTurn;
      x = a + (b - a) * uniform(problem, number, i);
    }
    const bool open = options.turning[i] || (is_free && !chain.prismatic[i]);
    lane(search.x[i], l) = x;
    lane(search.best[i], l) = x;
    lane(search.low[i], l) = open ? -1e300 : lower;
    lane(search.high[i], l) = open ? 1e300 : upper;
  }
  for (int k = 0; k < 9; ++k) lane(search.goal_R[k], l) = problem.target[k];
  for (int k = 0; k < 3; ++k) lane(search.goal_p[k], l) = problem.target[9 + k];
  lane(search.best_error, l) = 1e300;
  lane(search.mark_error, l) = 1e300;
  search.iterations[l] = 0;
  search.mark[l] = 0;
  search.number[l] = number;
  search.job[l] = job;
}

// e (6) of the pose T; returns the lanes that meet the tolerances, and the squared weighted error.
static inline M pose_error(const IkOptions &options, const Search &search, const Pose &T, V *e, V &squared) {
  V axis[3] = {V{}, V{}, V{}}, trace = V{};
  for (int k = 0; k < 3; ++k) {
    const V r[3] = {T.R[k], T.R[3 + k], T.R[6 + k]};
    const V g[3] = {search.goal_R[k], search.goal_R[3 + k], search.goal_R[6 + k]};
    V c[3];
    cross(r, g, c);
    for (int i = 0; i < 3; ++i) {
      axis[i] += c[i];
      trace += r[i] * g[i];
    }
  }
  // |axis| = 2 sin(theta), trace = 1 + 2 cos(theta); e = 2 sin(theta/2) a needs sin(theta) a / cos(theta/2)
  const V cosine = 0.5 * (trace - 1.0);
  const V half = vsqrt(vmax(0.5 * (1.0 + cosine), splat(1e-8)));
  const V scale = 0.5 / half;
  V position = V{}, rotation = V{};
  squared = V{};
  bool rotates = false;
  for (int k = 0; k < 3; ++k) {
    const V dp = search.goal_p[k] - T.p[k];
    const V dr = axis[k] * scale;
    if (options.row_weight[k] > 0) position += dp * dp;
    if (options.row_weight[3 + k] > 0) {
      rotation += dr * dr;
      rotates = true;
    }
    e[k] = dp * options.row_weight[k];
    e[3 + k] = dr * options.row_weight[3 + k];
    squared += e[k] * e[k] + e[3 + k] * e[3 + k];
  }
  const double chord = options.rotation_tolerance < 3.14 ? 2.0 * sin(0.5 * options.rotation_tolerance) : 2.0;
  M met = (position < options.position_tolerance * options.position_tolerance) & (rotation < chord * chord);
  if (rotates && options.rotation_tolerance < 1.57) met = met & (cosine > 0.0);
  if (rotates) squared = vmax(squared, pick(cosine < -0.9, splat(3.0) * options.row_weight[3] * options.row_weight[3], V{}));
  return met;
}

static inline void lane_step(const Chain &chain, const IkOptions &options, Search &search, const Pose &T, const V *axes,
                             const V *e, V squared) {
  const int n = chain.n;
  V J[kMaxIkJoints][6], gradient[kMaxIkJoints], dq[kMaxIkJoints];
  for (int i = 0; i < n; ++i) {
    const V *z = axes + 6 * i;
    if (options.frozen[i]) {
      for (int k = 0; k < 6; ++k) J[i][k] = V{};
    } else if (chain.prismatic[i]) {
      for (int k = 0; k < 3; ++k) {
        J[i][k] = z[k] * options.row_weight[k];
        J[i][3 + k] = V{};
      }
    } else {
      V arm[3], v[3];
      for (int k = 0; k < 3; ++k) arm[k] = T.p[k] - z[3 + k];
      cross(z, arm, v);
      for (int k = 0; k < 3; ++k) {
        J[i][k] = v[k] * options.row_weight[k];
        J[i][3 + k] = z[k] * options.row_weight[3 + k];
      }
    }
    V g = J[i][0] * e[0];
    for (int k = 1; k < 6; ++k) g += J[i][k] * e[k];
    const M out = ((search.x[i] <= search.low[i]) & (g < 0.0)) | ((search.x[i] >= search.high[i]) & (g > 0.0));
    for (int k = 0; k < 6; ++k) J[i][k] = pick(out, V{}, J[i][k]);
    gradient[i] = pick(out, V{}, g);
  }
  const V mu = options.damping * squared + (options.constant_damping + 1e-15);
  damped_step(n, J, gradient, e, mu, dq);
  for (int i = 0; i < n; ++i) search.x[i] = vmin(vmax(search.x[i] + options.step * dq[i], search.low[i]), search.high[i]);
}

// Brings x into [lower, upper] by whole turns, as near to `near` as the limits allow; false if no turn fits.
static inline bool wrap(double lower, double upper, double near, double &x) {
  x -= kTurn * floor((x - near) / kTurn + 0.5);
  if (x < lower) x += kTurn * ceil((lower - x) / kTurn);
  if (x > upper) x -= kTurn * ceil((x - upper) / kTurn);
  return x >= lower && x <= upper;
}

// What lane l found, as a finished attempt within limits.
static inline Attempt lane_finish(const Chain &chain, const IkOptions &options, const IkProblem &problem, int l, bool met,
                                  bool stalled, const Search &search) {
  Attempt attempt;
  attempt.number = search.number[l];
  attempt.iterations = (int)search.iterations[l];
  attempt.met = met;
  attempt.outside = false;
  attempt.stalled = stalled;
  attempt.error = lane(search.best_error, l);
  for (int i = 0; i < chain.n; ++i) {
    double x = lane(search.best[i], l);
    const double lower = options.lower[i], upper = options.upper[i];
    if (!options.frozen[i] && !chain.prismatic[i]) {
      double near = problem.q_init ? problem.q_init[i] : (lower > -1e300 && upper < 1e300 ? 0.5 * (lower + upper) : 0.0);
      double y = x;
      if ((x < lower || x > upper || options.turning[i]) && wrap(lower, upper, near, y)) x = y;
    }
    if (x < lower || x > upper) {
      attempt.outside = true;
      x = x < lower ? lower : upper;
    }
    attempt.q[i] = x;
  }
  if (attempt.outside) {  // clipped: its error is no longer the one measured
    attempt.met = false;
    attempt.error = 1e299;
    attempt.outside = met;
  }
  return attempt;
}

// Takes finished attempts in the order of their numbers; true when the problem is decided.
static inline bool commit(const Chain &chain, const IkOptions &options, const Attempt &attempt, IkAnswer &answer) {
  answer.attempts += 1;
  if (answer.iterations + attempt.iterations > options.max_iterations) {  // the budget ended inside this attempt
    answer.iterations = options.max_iterations;
    answer.stalled = 0;
    if (answer.attempts > 1) return true;
    for (int i = 0; i < chain.n; ++i) answer.q[i] = attempt.q[i];
    return true;
  }
  answer.iterations += attempt.iterations;
  answer.stalled = answer.stalled && attempt.stalled;
  answer.outside = answer.outside || attempt.outside;
  if (attempt.met || attempt.error < answer.error || answer.attempts == 1) {
    answer.error = attempt.error;
    for (int i = 0; i < chain.n; ++i) answer.q[i] = attempt.q[i];
  }
  answer.converged = attempt.met;
  return attempt.met || answer.attempts >= options.max_attempts || answer.iterations >= options.max_iterations;
}

static inline void reset(IkAnswer &answer) {
  answer.error = 1e300;
  answer.iterations = 0;
  answer.attempts = 0;
  answer.converged = 0;
  answer.outside = 0;
  answer.stalled = 1;
}

}  // namespace KNAME
