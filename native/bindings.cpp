// The Python face of the kernel: arrays in, arrays out, the GIL released around long work.
#include <nanobind/nanobind.h>

#include <atomic>
#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "kernel.hpp"
#include "se3.hpp"
#include "span.hpp"

#define KLANES 1
#define KNAME scalar
#include "chain.hpp"
#include "damped.hpp"

namespace nb = nanobind;
using knuckle::Chain;
using knuckle::Collider;
using knuckle::IkAnswer;
using knuckle::IkOptions;
using knuckle::IkProblem;
using knuckle::Kernel;
using knuckle::Span;
using knuckle::copied;

namespace {

const Kernel *widest() {
#ifdef KNUCKLE_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return knuckle::kernel_lanes8;
  if (__builtin_cpu_supports("x86-64-v3")) return knuckle::kernel_lanes4;
#endif
  return knuckle::kernel_lanes2;
}

const Kernel *kernel_of(int lanes) {
  const Kernel *best = widest();
  if (lanes == 0) return best;
#ifdef KNUCKLE_X86
  if (lanes == 8 && best->lanes == 8) return knuckle::kernel_lanes8;
  if (lanes == 4 && best->lanes >= 4) return knuckle::kernel_lanes4;
#endif
  if (lanes == 2) return knuckle::kernel_lanes2;
  throw nb::value_error(("this processor has no kernel of " + std::to_string(lanes) + " lanes").c_str());
}

const Kernel *active = widest();

// For one problem four attempts side by side answer soonest; an iteration of eight takes longer than it saves.
const Kernel *abreast() { return active->lanes > 4 ? kernel_of(4) : active; }

// One attempt without lanes.
void solve_one(const Chain &chain, const IkOptions &options, const IkProblem &problem, IkAnswer &answer) {
#ifdef KNUCKLE_X86
  if (active->lanes > 2) return knuckle::solve_one_avx2(chain, options, problem, answer);
#endif
  knuckle::solve_one_baseline(chain, options, problem, answer);
}

const char *isa() { return active->lanes == 8 ? "avx512" : active->lanes == 4 ? "avx2" : "baseline"; }

// Runs `work` in this thread and in others, no more than there are chunks or four a core; fewer where the system gives
// no more. `work` takes chunks until none is left, so any number of threads does it.
template <class Work>
void side_by_side(int threads, long chunks, const Work &work) {
  const long cores = (long)std::thread::hardware_concurrency();
  long most = threads < chunks ? threads : chunks;
  if (most > 4 * (cores ? cores : 1)) most = 4 * (cores ? cores : 1);
  std::vector<std::thread> others;
  try {
    for (long t = 1; t < most; ++t) others.emplace_back(work);
  } catch (const std::exception &) {
  }
  work();
  for (std::thread &thread : others) thread.join();
}

// Owns the arrays of a knuckle::Chain.
struct PyChain {
  std::vector<double> fixed, multiplier, offset;
  std::vector<int> prismatic, q_index, v_index;
  Chain chain;

  PyChain(nb::handle fixed_, nb::handle prismatic_, nb::handle q_index_, nb::handle v_index_, nb::handle multiplier_,
          nb::handle offset_, int nq, int nv) {
    Span<int> kinds(prismatic_, "prismatic");
    const long n = kinds.size();
    fixed = copied<double>(fixed_, "fixed", 12 * (n + 1));
    prismatic = copied<int>(prismatic_, "prismatic", n);
    q_index = copied<int>(q_index_, "q_index", n);
    v_index = copied<int>(v_index_, "v_index", n);
    multiplier = copied<double>(multiplier_, "multiplier", n);
    offset = copied<double>(offset_, "offset", n);
    for (long i = 0; i < n; ++i)
      if (q_index[i] < 0 || q_index[i] >= nq || v_index[i] < 0 || v_index[i] >= nv)
        throw nb::value_error("q_index and v_index must lie within nq and nv");
    chain = Chain{(int)n, nq, nv, fixed.data(), prismatic.data(), q_index.data(), v_index.data(), multiplier.data(),
                  offset.data()};
  }
  PyChain(const PyChain &) = delete;

  void fk(nb::handle q_, nb::handle out_) const {
    Span<double> q(q_, "q"), out(out_, "out", true);
    q.require(chain.nq, "q");
    out.require(16, "out");
    scalar::fk_block(chain, q.data(), 1, out.data());
  }

  void fk_batch(nb::handle q_, nb::handle out_) const {
    Span<double> q(q_, "q"), out(out_, "out", true);
    const long count = chain.nq ? q.size() / chain.nq : 0;
    q.require(count * chain.nq, "q");
    out.require(count * 16, "out");
    nb::gil_scoped_release release;
    active->fk(chain, q.data(), count, out.data());
  }

  // out is set to zero here: joints outside the chain have zero columns
  void jacobian(nb::handle q_, int reference, nb::handle out_) const {
    Span<double> q(q_, "q"), out(out_, "out", true);
    q.require(chain.nq, "q");
    out.require(6L * chain.nv, "out");
    std::memset(out.data(), 0, sizeof(double) * out.size());
    double small[6 * 16];
    std::vector<double> large(chain.n > 16 ? 6 * chain.n : 0);
    scalar::jacobian_block(chain, q.data(), 1, reference, chain.n > 16 ? large.data() : small, out.data());
  }

  void jacobian_batch(nb::handle q_, int reference, nb::handle out_) const {
    Span<double> q(q_, "q"), out(out_, "out", true);
    const long count = chain.nq ? q.size() / chain.nq : 0;
    q.require(count * chain.nq, "q");
    out.require(count * 6 * chain.nv, "out");
    nb::gil_scoped_release release;
    std::memset(out.data(), 0, sizeof(double) * out.size());
    std::vector<double> scratch(6L * chain.n * active->lanes + 8);
    double *aligned = scratch.data();
    while (reinterpret_cast<std::size_t>(aligned) % 64) ++aligned;
    active->jacobian(chain, q.data(), count, reference, aligned, out.data());
  }

  // e (6) and J (6, nv) with de/dq = -J. tcp: e = log6(T^-1 G), J = Jlog6(G^-1 T) J_local.
  // world: e = (p_G - p, log3(R_G R^T)), J = blkdiag(I, Jlog3(R_G R^T)) J_lwa.
  void error_and_jacobian(nb::handle q_, nb::handle target_, bool world, nb::handle e_, nb::handle out_) const {
    Span<double> q(q_, "q"), target(target_, "target"), e(e_, "e", true), out(out_, "J", true);
    q.require(chain.nq, "q");
    target.require(16, "target");
    e.require(6, "e");
    out.require(6L * chain.nv, "J");
    std::memset(out.data(), 0, sizeof(double) * out.size());
    double small[6 * 16], H[16], A[9], B[9] = {0};
    std::vector<double> large(chain.n > 16 ? 6 * chain.n : 0);
    scalar::jacobian_block(chain, q.data(), 1, world ? knuckle::kLocalWorldAligned : knuckle::kLocal,
                           chain.n > 16 ? large.data() : small, out.data(), H);
    const double *G = target.data();
    double E[9], p[3];  // rotation and translation of the relative pose
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) {
        E[3 * i + j] = 0;
        for (int k = 0; k < 3; ++k)
          E[3 * i + j] += world ? G[4 * i + k] * H[4 * j + k] : H[4 * k + i] * G[4 * k + j];
      }
      p[i] = G[4 * i + 3] - H[4 * i + 3];
    }
    if (world) {
      std::memcpy(e.data(), p, sizeof p);
      knuckle::log3(E, e.data() + 3);
      knuckle::inverse_jacobian3(e.data() + 3, 1.0, A);
    } else {
      double t[3], inverse_R[9], inverse_p[3];
      for (int i = 0; i < 3; ++i) t[i] = H[i] * p[0] + H[4 + i] * p[1] + H[8 + i] * p[2];
      knuckle::log6(E, t, e.data());
      for (int i = 0; i < 3; ++i) {
        inverse_p[i] = -(E[i] * t[0] + E[3 + i] * t[1] + E[6 + i] * t[2]);
        for (int j = 0; j < 3; ++j) inverse_R[3 * i + j] = E[3 * j + i];
      }
      knuckle::jlog6(inverse_R, inverse_p, A, B);
    }
    for (int c = 0; c < chain.n; ++c) {
      double *J = out.data() + chain.v_index[c];
      const long s = chain.nv;
      if (!first_column(c)) continue;
      const double v[3] = {J[0], J[s], J[2 * s]}, w[3] = {J[3 * s], J[4 * s], J[5 * s]};
      for (int i = 0; i < 3; ++i) {
        if (!world)
          J[i * s] = A[3 * i] * v[0] + A[3 * i + 1] * v[1] + A[3 * i + 2] * v[2] + B[3 * i] * w[0] +
                     B[3 * i + 1] * w[1] + B[3 * i + 2] * w[2];
        J[(3 + i) * s] = A[3 * i] * w[0] + A[3 * i + 1] * w[1] + A[3 * i + 2] * w[2];
      }
    }
  }

  // Joints that follow one another share a column, which must be turned once.
  bool first_column(int c) const {
    for (int k = 0; k < c; ++k)
      if (v_index[k] == v_index[c]) return false;
    return true;
  }
};

// dq = J^T (J J^T + mu I)^-1 e for J (6, n) and e (6); false if mu is too small to tell.
bool damped_step(nb::handle jacobian_, nb::handle e_, double mu, nb::handle dq_) {
  Span<double> J(jacobian_, "jacobian"), e(e_, "e"), dq(dq_, "dq", true);
  const long n = dq.size();
  J.require(6 * n, "jacobian");
  e.require(6, "e");
  if (n < 1 || n > knuckle::kMaxIkJoints) throw nb::value_error("dq must hold 1 to 32 numbers");
  double columns[knuckle::kMaxIkJoints][6], gradient[knuckle::kMaxIkJoints];
  for (long i = 0; i < n; ++i) {
    gradient[i] = 0;
    for (int k = 0; k < 6; ++k) {
      columns[i][k] = J.data()[k * n + i];
      gradient[i] += columns[i][k] * e.data()[k];
    }
  }
  scalar::damped_step((int)n, columns, gradient, e.data(), mu, dq.data());
  double sum = 0;
  for (long i = 0; i < n; ++i) sum += fabs(dq.data()[i]);
  return std::isfinite(sum);
}

constexpr double kLongestStride = 0.2;  // [rad | m] beyond it a step of a path is not taken as its direction

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
    if (chain.n < 1 || chain.n > knuckle::kMaxIkJoints)
      throw nb::value_error(("the native solver takes chains of 1 to " + std::to_string(knuckle::kMaxIkJoints) +
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
    knuckle::log3(E, w);
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
    double target[12], start[knuckle::kMaxIkJoints], found[knuckle::kMaxIkJoints], errors[2];
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
    double target[12], start[knuckle::kMaxIkJoints], found[knuckle::kMaxIkJoints], before[knuckle::kMaxIkJoints];
    pick(q_start.data(), before);
    for (long i = 0; i < count; ++i) {
      double *here = q.data() + i * chain.nq;
      const double *previous = i ? here - chain.nq : q_start.data();
      std::memcpy(here, previous, chain.nq * sizeof(double));
      flatten(H.data() + 16 * i, target);
      // a path that goes on as it went is most of the way there; where it does not, the step before is the start
      bool met = false;
      for (int ahead = i > 0; ahead >= 0 && !met; --ahead) {
        for (int j = 0; j < chain.n; ++j) {
          const double now = previous[chain.q_index[j]], stride = ahead ? now - before[j] : 0;
          const double next = now + stride;
          start[j] = fabs(stride) < kLongestStride && next >= lower[j] && next <= upper[j] ? next : now;
        }
        IkAnswer answer{};
        answer.q = found;
        solve_one(chain, o, IkProblem{target, start, 0, 0}, answer);
        met = measure(answer, target, o, here, errors.data() + 2 * i);
        if (!met) std::memcpy(here, previous, chain.nq * sizeof(double));
      }
      if (!met) return i;
      pick(previous, before);
    }
    return count;
  }
};

// Shapes on a tree of joints, owned.
struct PyCollider {
  std::vector<double> fixed, multiplier, offset, place, sphere, box, size, points;
  std::vector<int> parent, kind, q_index, joint, core, pair;
  std::vector<long long> start_;
  std::vector<long> start;
  Collider c;

  // joints: None where poses are given from outside, else (fixed, parent, kind, q_index, multiplier, offset)
  PyCollider(nb::object joints, int count, int nq, nb::handle joint_, nb::handle place_, nb::handle sphere_,
             nb::handle box_, nb::handle core_, nb::handle size_, nb::handle starts_, nb::handle points_,
             nb::handle pair_) {
    std::memset(&c, 0, sizeof c);
    c.tree.n = count;
    c.tree.nq = nq;
    if (!joints.is_none()) {
      nb::tuple parts = nb::cast<nb::tuple>(joints);
      fixed = copied<double>(parts[0], "fixed", 12L * count);
      parent = copied<int>(parts[1], "parent", count);
      kind = copied<int>(parts[2], "kind", count);
      q_index = copied<int>(parts[3], "q_index", count);
      multiplier = copied<double>(parts[4], "multiplier", count);
      offset = copied<double>(parts[5], "offset", count);
      for (int i = 0; i < count; ++i)
        if (parent[i] >= i || parent[i] < -1 || kind[i] < 0 || kind[i] > knuckle::kPlanar || q_index[i] < 0 ||
            q_index[i] + (kind[i] == knuckle::kFree ? 7 : kind[i] > knuckle::kFree ? 4 : 1) > nq)
          throw nb::value_error("parent must come before its joint and q_index lie within nq");
      fixed.push_back(0);  // so that a tree without joints is not taken for one whose poses are given
      c.tree.fixed = fixed.data();
      c.tree.parent = parent.data();
      c.tree.kind = kind.data();
      c.tree.q_index = q_index.data();
      c.tree.multiplier = multiplier.data();
      c.tree.offset = offset.data();
    }
    const long shapes = Span<int>(core_, "core").size();
    c.shapes = (int)shapes;
    joint = copied<int>(joint_, "joint", shapes);
    core = copied<int>(core_, "core", shapes);
    place = copied<double>(place_, "place", 12 * shapes);
    sphere = copied<double>(sphere_, "sphere", 4 * shapes);
    box = copied<double>(box_, "box", 15 * shapes);
    size = copied<double>(size_, "size", 5 * shapes);
    start_ = copied<long long>(starts_, "start", shapes + 1);
    start.assign(start_.begin(), start_.end());
    points = copied<double>(points_, "points", 3 * start[shapes]);
    pair = copied<int>(pair_, "pair", Span<int>(pair_, "pair").size() / 2 * 2);
    for (long i = 0; i < shapes; ++i) {
      if (joint[i] < -1 || joint[i] >= count) throw nb::value_error("joint must be -1 or a joint of the tree");
      if (core[i] < knuckle::kPoints || core[i] > knuckle::kForeign) throw nb::value_error("core must be one of 0 to 5");
      if (start[i + 1] < start[i] || (start[i + 1] - start[i]) % 8 || (core[i] == knuckle::kPoints && start[i + 1] == start[i]))
        throw nb::value_error("every hull needs points, in multiples of 8");
    }
    for (int i : pair)
      if (i < 0 || i >= shapes) throw nb::value_error("pair must hold numbers of shapes");
    c.shapes = (int)shapes;
    c.joint = joint.data();
    c.place = place.data();
    c.sphere = sphere.data();
    c.box = box.data();
    c.core = core.data();
    c.size = size.data();
    c.start = start.data();
    c.points = points.data();
    c.pairs = (int)(pair.size() / 2);
    c.pair = pair.data();
  }
  PyCollider(const PyCollider &) = delete;

  // numbers a configuration has: nq, or 12 a joint
  long row() const { return c.tree.fixed ? c.tree.nq : 12L * c.tree.n; }

  struct Scratch {
    std::vector<double> large;
    alignas(64) double small[6144];
    void *at;
    explicit Scratch(long bytes) {
      at = small;
      if (bytes <= (long)sizeof small) return;
      large.resize(bytes / 8 + 9);
      double *aligned = large.data();
      while (reinterpret_cast<std::size_t>(aligned) % 64) ++aligned;
      at = aligned;
    }
  };

  // One configuration: a Contact.
  int touching(nb::handle q_, double margin) const {
    Span<double> q(q_, "q");
    q.require(row(), "q");
    Scratch room(active->collision_room(c));
    signed char out = 0;
    active->touching(c, q.data(), 1, margin, room.at, &out, nullptr);
    return out;
  }

  // q (N, row) -> out (N) int8, a Contact each.
  void touching_batch(nb::handle q_, double margin, nb::handle out_, int threads) const {
    Span<double> q(q_, "q");
    Span<signed char> out(out_, "out", true);
    const long count = out.size(), width = row();
    q.require(count * width, "q");
    const Kernel *kernel = active;
    nb::gil_scoped_release release;
    std::atomic<long> next{0};
    const long chunk = 512;
    auto work = [&] {
      Scratch room(kernel->collision_room(c));
      for (long a; (a = next.fetch_add(chunk)) < count;)
        kernel->touching(c, q.data() + a * width, a + chunk < count ? chunk : count - a, margin, room.at,
                         out.data() + a, nullptr);
    };
    side_by_side(threads, (count + chunk - 1) / chunk, work);
  }

  // One configuration: a Contact of every pair, (pairs) int8.
  void contacts(nb::handle q_, double margin, nb::handle out_) const {
    Span<double> q(q_, "q");
    Span<signed char> out(out_, "out", true);
    q.require(row(), "q");
    out.require(c.pairs, "out");
    Scratch room(active->collision_room(c));
    signed char any = 0;
    active->touching(c, q.data(), 1, margin, room.at, &any, out.data());
  }

  // One configuration: (pair, distance, x1, y1, z1, x2, y2, z2) of the nearest pair that is apart for certain and not
  // farther than limit, pair -1 if none; `undecided` (pairs) int8: kUndecided where a pair may be nearer or overlaps.
  nb::tuple nearest(nb::handle q_, double limit, nb::handle undecided_) const {
    Span<double> q(q_, "q");
    Span<signed char> undecided(undecided_, "undecided", true);
    q.require(row(), "q");
    undecided.require(c.pairs, "undecided");
    Scratch room(active->collision_room(c));
    knuckle::Nearest n{};
    active->nearest(c, q.data(), limit, room.at, n, undecided.data());
    return nb::make_tuple(n.pair, n.distance, n.on_first[0], n.on_first[1], n.on_first[2], n.on_second[0],
                          n.on_second[1], n.on_second[2]);
  }
};

}  // namespace

NB_MODULE(_core, m) {
  nb::set_leak_warnings(false);  // what outlives the interpreter is freed with the process
  m.doc() = "Native kernel: kinematics of chains and damped least squares, in lanes.";
  m.def("isa", &isa, "Instruction set in use: avx512, avx2 or baseline.");
  m.def("lanes", [] { return active->lanes; }, "Problems solved side by side in one vector.");
  m.def("use_lanes", [](int lanes) { active = kernel_of(lanes); }, nb::arg("lanes"),
        "Chooses the kernel of that many lanes (2, 4, 8), or the widest the processor has (0).");
  m.def("damped_step", &damped_step, nb::arg("jacobian"), nb::arg("e"), nb::arg("mu"), nb::arg("dq"));
  nb::class_<PyChain>(m, "Chain")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, int, int>(),
           nb::arg("fixed"), nb::arg("prismatic"), nb::arg("q_index"), nb::arg("v_index"), nb::arg("multiplier"),
           nb::arg("offset"), nb::arg("nq"), nb::arg("nv"))
      .def_prop_ro("joint_count", [](const PyChain &c) { return c.chain.n; })
      .def("fk", &PyChain::fk, nb::arg("q"), nb::arg("out"))
      .def("fk_batch", &PyChain::fk_batch, nb::arg("q"), nb::arg("out"))
      .def("jacobian", &PyChain::jacobian, nb::arg("q"), nb::arg("reference"), nb::arg("out"))
      .def("jacobian_batch", &PyChain::jacobian_batch, nb::arg("q"), nb::arg("reference"), nb::arg("out"))
      .def("error_and_jacobian", &PyChain::error_and_jacobian, nb::arg("q"), nb::arg("target"), nb::arg("world"),
           nb::arg("e"), nb::arg("jacobian"));
  nb::class_<PyCollider>(m, "Collider")
      .def(nb::init<nb::object, int, int, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle, nb::handle,
                    nb::handle, nb::handle, nb::handle>(),
           nb::arg("joints").none(), nb::arg("joint_count"), nb::arg("nq"), nb::arg("joint"), nb::arg("place"),
           nb::arg("sphere"), nb::arg("box"), nb::arg("core"), nb::arg("size"), nb::arg("start"), nb::arg("points"),
           nb::arg("pair"))
      .def("touching", &PyCollider::touching, nb::arg("q"), nb::arg("margin"))
      .def("touching_batch", &PyCollider::touching_batch, nb::arg("q"), nb::arg("margin"), nb::arg("out"),
           nb::arg("threads") = 1)
      .def("contacts", &PyCollider::contacts, nb::arg("q"), nb::arg("margin"), nb::arg("out"))
      .def("nearest", &PyCollider::nearest, nb::arg("q"), nb::arg("limit"), nb::arg("undecided"));
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
