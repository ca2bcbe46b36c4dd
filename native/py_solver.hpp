// Inverse kinematics as Python sees it: problems in, answers and their measured errors out.
#pragma once

#include "path.hpp"
#include "py_chain.hpp"

namespace knuckle {

// A chain with limits, weights and the constants of the iteration.
struct PySolver {
  nb::object owner;  // keeps the chain alive
  const Chain &chain;
  std::vector<double> low, high;  // of the whole robot
  std::vector<double> ball;       // centre (3) and radius that the tip cannot leave
  std::vector<double> lower, upper;
  std::vector<int> turning, frozen;
  IkOptions options;

  // lower, upper: (nq) of the robot; frozen: (nv) int32; row_weight: (6); reach: (4) centre and radius
  PySolver(nb::object owner_, nb::handle reach_, nb::handle lower_, nb::handle upper_, nb::handle frozen_,
           nb::handle row_weight_, double damping, double constant_damping, double step, double shrink, int patience,
           int attempt_iterations, bool free_first)
      : owner(owner_), chain(nb::cast<PyChain &>(owner_).chain) {
    if (chain.n < 1 || chain.n > kMaxIkJoints)
      throw nb::value_error(("the native solver takes chains of 1 to " + std::to_string(kMaxIkJoints) +
                             " joints").c_str());
    ball = copied<double>(reach_, "reach", 4);
    low = copied<double>(lower_, "lower", chain.nq);
    high = copied<double>(upper_, "upper", chain.nq);
    std::vector<int> still = copied<int>(frozen_, "frozen", chain.nv);
    for (int i = 0; i < chain.n; ++i) {
      lower.push_back(low[chain.q_index[i]]);
      upper.push_back(high[chain.q_index[i]]);
      frozen.push_back(still[chain.v_index[i]]);
      turning.push_back(!chain.prismatic[i] && upper[i] - lower[i] >= 6.2831853071795);
    }
    std::memset(&options, 0, sizeof options);
    options.lower = lower.data();
    options.upper = upper.data();
    options.turning = turning.data();
    options.frozen = frozen.data();
    std::memcpy(options.row_weight, copied<double>(row_weight_, "row_weight", 6).data(), 6 * sizeof(double));
    options.damping = damping;
    options.constant_damping = constant_damping;
    options.step = step;
    options.shrink = shrink;
    options.patience = patience;
    options.attempt_iterations = attempt_iterations;
    options.free_first = free_first;
  }
  PySolver(const PySolver &) = delete;

  IkOptions limited(double position_tolerance, double rotation_tolerance, int max_attempts, long long max_iterations) const {
    IkOptions o = options;
    // the answer is checked again by exact formulas, so the loop stops a hair inside
    o.position_tolerance = position_tolerance * (1 - 1e-9);
    o.rotation_tolerance = rotation_tolerance * (1 - 1e-9);
    o.max_attempts = max_attempts;
    o.max_iterations = max_iterations;
    if (max_iterations < o.attempt_iterations) o.attempt_iterations = (int)max_iterations;
    return o;
  }

  static void flatten(const double *H, double *target) {
    for (int r = 0; r < 3; ++r) {
      for (int k = 0; k < 3; ++k) target[3 * r + k] = H[4 * r + k];
      target[9 + r] = H[4 * r + 3];
    }
  }

  void pick(const double *q, double *chain_q) const {
    for (int i = 0; i < chain.n; ++i) chain_q[i] = q[chain.q_index[i]];
  }

  // Writes the answer into q (nq) and measures it: position error [m], rotation error [rad] over the rows that count.
  bool measure(const IkAnswer &answer, const double *target, const IkOptions &o, double *q, double *errors) const {
    for (int i = 0; i < chain.n; ++i) q[chain.q_index[i]] = answer.q[i];
    double H[16], E[9], w[3];
    scalar::fk_block(chain, q, 1, H);
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 3; ++j)
        E[3 * i + j] = target[3 * i] * H[4 * j] + target[3 * i + 1] * H[4 * j + 1] + target[3 * i + 2] * H[4 * j + 2];
    log3(E, w);
    double counted[2] = {0, 0}, full[2] = {0, 0};
    for (int k = 0; k < 3; ++k) {
      const double dp = target[9 + k] - H[4 * k + 3];
      full[0] += dp * dp;
      full[1] += w[k] * w[k];
      if (o.row_weight[k] > 0) counted[0] += dp * dp;
      if (o.row_weight[3 + k] > 0) counted[1] += w[k] * w[k];
    }
    errors[0] = sqrt(full[0]);
    errors[1] = sqrt(full[1]);
    return sqrt(counted[0]) <= o.position_tolerance * (1 + 1e-9) && sqrt(counted[1]) <= o.rotation_tolerance * (1 + 1e-9);
  }

  // A rigid transform to rounding.
  static bool rigid(const double *H) {
    if (H[12] != 0 || H[13] != 0 || H[14] != 0 || H[15] != 1) return false;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j <= i; ++j) {
        const double dot = H[i] * H[j] + H[4 + i] * H[4 + j] + H[8 + i] * H[8 + j];
        if (!(fabs(dot - (i == j)) < 1e-12)) return false;
      }
    const double det = H[0] * (H[5] * H[10] - H[6] * H[9]) - H[1] * (H[4] * H[10] - H[6] * H[8]) +
                       H[2] * (H[4] * H[9] - H[5] * H[8]);
    return det > 0 && std::isfinite(H[3]) && std::isfinite(H[7]) && std::isfinite(H[11]);
  }

  bool within(const double *q) const {
    for (int i = 0; i < chain.nq; ++i)
      if (!(q[i] >= low[i] && q[i] <= high[i] && std::isfinite(q[i]))) return false;
    return true;
  }

  // How far the target is beyond the ball that the tip cannot leave [m], negative within it. NaN if the problem cannot
  // be taken as it is, for want of a rigid target or of a start that is finite and within the limits.
  double gap(nb::handle target_, nb::handle q_init_) const {
    Span<double> H(target_, "target"), q_init(q_init_, "q_init");
    if (H.size() != 16 || !rigid(H.data()) || q_init.size() != chain.nq || !within(q_init.data())) return NAN;
    return beyond(H.data());
  }

  double beyond(const double *H) const {
    double square = 0;
    for (int k = 0; k < 3; ++k) square += (H[4 * k + 3] - ball[k]) * (H[4 * k + 3] - ball[k]);
    return sqrt(square) - ball[3];
  }

  // target (4, 4); q_init (nq) or None; q (nq) in and out: joints outside the chain stay as they are.
  // Returns (converged, position error, rotation error, iterations, attempts, outside, stalled).
  nb::tuple solve(nb::handle target_, nb::handle q_init_, nb::handle q_, double position_tolerance,
                  double rotation_tolerance, int max_attempts, long long max_iterations, unsigned long long seed,
                  unsigned long long index, int lanes) const {
    Span<double> H(target_, "target"), q(q_, "q", true);
    H.require(16, "target");
    q.require(chain.nq, "q");
    const IkOptions o = limited(position_tolerance, rotation_tolerance, max_attempts, max_iterations);
    double target[12], start[kMaxIkJoints], found[kMaxIkJoints], errors[2];
    flatten(H.data(), target);
    IkProblem problem{target, nullptr, seed, index};
    if (!q_init_.is_none()) {
      Span<double> q_init(q_init_, "q_init");
      q_init.require(chain.nq, "q_init");
      pick(q_init.data(), start);
      problem.q_init = start;
    }
    IkAnswer answer{};
    answer.q = found;
    (lanes ? kernel_of(lanes) : abreast())->solve(chain, o, problem, answer);
    const bool met = measure(answer, target, o, q.data(), errors);
    // whatever meets the target is a solution, also if the budget ended before the loop looked again
    return nb::make_tuple(met, errors[0], errors[1], answer.iterations, answer.attempts,
                          (bool)answer.outside, (bool)answer.stalled);
  }

  // targets (N, 4, 4); q_init (N, nq) or None; q (N, nq) in and out; errors (N, 2); counts (N, 5) int64:
  // converged, iterations, attempts, outside, stalled. Problem i has the index first + i. What is out of reach is not
  // tried: attempts 0.
  void solve_batch(nb::handle targets_, nb::handle q_init_, nb::handle q_, nb::handle errors_, nb::handle counts_,
                   double position_tolerance, double rotation_tolerance, int max_attempts, long long max_iterations,
                   unsigned long long seed, unsigned long long first, int threads) const {
    Span<double> H(targets_, "targets"), q(q_, "q", true), errors(errors_, "errors", true);
    Span<long long> counts(counts_, "counts", true);
    const long count = H.size() / 16;
    H.require(16 * count, "targets");
    q.require(count * chain.nq, "q");
    errors.require(2 * count, "errors");
    counts.require(5 * count, "counts");
    std::vector<double> starts;
    if (!q_init_.is_none()) {
      Span<double> q_init(q_init_, "q_init");
      q_init.require(count * chain.nq, "q_init");
      starts.resize(count * chain.n);
      for (long i = 0; i < count; ++i) pick(q_init.data() + i * chain.nq, starts.data() + i * chain.n);
    }
    const IkOptions o = limited(position_tolerance, rotation_tolerance, max_attempts, max_iterations);
    const Kernel *kernel = active;
    nb::gil_scoped_release release;
    std::vector<double> flat(12 * count), found(count * chain.n);
    std::vector<IkProblem> problems;
    std::vector<IkAnswer> answers;
    std::vector<long> row;
    for (long i = 0; i < count; ++i) {
      flatten(H.data() + 16 * i, flat.data() + 12 * i);
      errors.data()[2 * i] = errors.data()[2 * i + 1] = NAN;
      std::memset(counts.data() + 5 * i, 0, 5 * sizeof(long long));
      if (beyond(H.data() + 16 * i) > position_tolerance) continue;
      problems.push_back({flat.data() + 12 * i, starts.empty() ? nullptr : starts.data() + i * chain.n, seed,
                          first + (unsigned long long)i});
      answers.push_back(IkAnswer{});
      answers.back().q = found.data() + i * chain.n;
      row.push_back(i);
    }
    const long open = (long)problems.size();
    std::atomic<long> next{0};
    const long chunk = 256;
    auto work = [&] {
      for (long a; (a = next.fetch_add(chunk)) < open;) {
        const long b = a + chunk < open ? a + chunk : open;
        kernel->solve_batch(chain, o, problems.data() + a, b - a, answers.data() + a);
        for (long k = a; k < b; ++k) {
          const long i = row[k];
          const bool met = measure(answers[k], problems[k].target, o, q.data() + i * chain.nq, errors.data() + 2 * i);
          long long *c = counts.data() + 5 * i;
          c[0] = met;
          c[1] = answers[k].iterations;
          c[2] = answers[k].attempts;
          c[3] = answers[k].outside;
          c[4] = answers[k].stalled;
        }
      }
    };
    side_by_side(threads, (open + chunk - 1) / chunk, work);
  }

  // Follows targets (N, 4, 4) from q_start (nq), each step from the solution before; q (N, nq) and errors (N, 2) are
  // written up to the first step that fails, whose number is returned (N if none does).
  long track(nb::handle targets_, nb::handle q_start_, nb::handle q_, nb::handle errors_, double position_tolerance,
             double rotation_tolerance, long long step_iterations) const {
    Span<double> H(targets_, "targets"), q_start(q_start_, "q_start"), q(q_, "q", true), errors(errors_, "errors", true);
    const long count = H.size() / 16;
    H.require(16 * count, "targets");
    q_start.require(chain.nq, "q_start");
    q.require(count * chain.nq, "q");
    errors.require(2 * count, "errors");
    const IkOptions o = limited(position_tolerance, rotation_tolerance, 1, step_iterations);
    nb::gil_scoped_release release;
    double target[12], start[kMaxIkJoints], found[kMaxIkJoints], before[kMaxIkJoints];
    pick(q_start.data(), before);
    for (long i = 0; i < count; ++i) {
      double *here = q.data() + i * chain.nq;
      const double *previous = i ? here - chain.nq : q_start.data();
      std::memcpy(here, previous, chain.nq * sizeof(double));
      flatten(H.data() + 16 * i, target);
      // A path that goes on as it went is most of the way there. Where it turns, or where that start leads far from
      // itself, as near a singularity, the step before is the start: so the branch is the one a step finds alone.
      bool met = false;
      for (int ahead = i > 0 && goes_on(H.data() + 16 * (i - 1), i > 1 ? H.data() + 16 * (i - 2) : nullptr); ahead >= 0 && !met;
           --ahead) {
        double widest = 0;
        for (int j = 0; j < chain.n; ++j) {
          const double now = previous[chain.q_index[j]], stride = ahead ? now - before[j] : 0;
          const double next = now + stride;
          if (fabs(stride) > widest) widest = fabs(stride);
          start[j] = fabs(stride) < kLongestStride && next >= lower[j] && next <= upper[j] ? next : now;
        }
        IkAnswer answer{};
        answer.q = found;
        solve_one(chain, o, IkProblem{target, start, 0, 0}, answer);
        met = measure(answer, target, o, here, errors.data() + 2 * i);
        for (int j = 0; j < chain.n && ahead; ++j)
          met = met && fabs(found[j] - start[j]) <= kStray * widest + 1e-9;
        if (!met) std::memcpy(here, previous, chain.nq * sizeof(double));
      }
      if (!met) return i;
      pick(previous, before);
    }
    return count;
  }
};

inline void bind_solver(nb::module_ &m) {
  nb::class_<PySolver>(m, "Solver")
      .def(nb::init<nb::object, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, double, double, double, double, int, int,
                    bool>(),
           nb::arg("chain"), nb::arg("reach"), nb::arg("lower"), nb::arg("upper"), nb::arg("frozen"), nb::arg("row_weight"),
           nb::arg("damping"), nb::arg("constant_damping"), nb::arg("step"), nb::arg("shrink"), nb::arg("patience"),
           nb::arg("attempt_iterations"), nb::arg("free_first"))
      .def("gap", &PySolver::gap, nb::arg("target"), nb::arg("q_init"))
      .def("solve", &PySolver::solve, nb::arg("target"), nb::arg("q_init").none(), nb::arg("q"),
           nb::arg("position_tolerance"), nb::arg("rotation_tolerance"), nb::arg("max_attempts"),
           nb::arg("max_iterations"), nb::arg("seed"), nb::arg("index") = 0, nb::arg("lanes") = 0)
      .def("solve_batch", &PySolver::solve_batch, nb::arg("targets"), nb::arg("q_init").none(), nb::arg("q"),
           nb::arg("errors"), nb::arg("counts"), nb::arg("position_tolerance"), nb::arg("rotation_tolerance"),
           nb::arg("max_attempts"), nb::arg("max_iterations"), nb::arg("seed"), nb::arg("first") = 0,
           nb::arg("threads") = 1)
      .def("track", &PySolver::track, nb::arg("targets"), nb::arg("q_start"), nb::arg("q"), nb::arg("errors"),
           nb::arg("position_tolerance"), nb::arg("rotation_tolerance"), nb::arg("step_iterations"));
}

}  // namespace knuckle
