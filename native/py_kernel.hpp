// Which of the kernels is in use, and scratch memory for it.
#pragma once

#include <nanobind/nanobind.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kernel.hpp"
#include "span.hpp"

namespace knuckle {

inline const Kernel *widest() {
#ifdef KNUCKLE_X86
  __builtin_cpu_init();
  if (__builtin_cpu_supports("x86-64-v4")) return kernel_lanes8;
  if (__builtin_cpu_supports("x86-64-v3")) return kernel_lanes4;
#endif
  return kernel_lanes2;
}

inline const Kernel *kernel_of(int lanes) {
  static const Kernel *const best = widest();  // asking the processor takes microseconds
  if (lanes == 0) return best;
#ifdef KNUCKLE_X86
  if (lanes == 8 && best->lanes == 8) return kernel_lanes8;
  if (lanes == 4 && best->lanes >= 4) return kernel_lanes4;
#endif
  if (lanes == 2) return kernel_lanes2;
  throw nb::value_error(("this processor has no kernel of " + std::to_string(lanes) + " lanes").c_str());
}

inline const Kernel *active = widest();

// For one problem four attempts side by side answer soonest; an iteration of eight takes longer than it saves.
inline const Kernel *abreast() { return active->lanes > 4 ? kernel_of(4) : active; }

// One attempt without lanes.
inline void solve_one(const Chain &chain, const IkOptions &options, const IkProblem &problem, IkAnswer &answer) {
#ifdef KNUCKLE_X86
  if (active->lanes > 2) return knuckle::solve_one_avx2(chain, options, problem, answer);
#endif
  solve_one_baseline(chain, options, problem, answer);
}

inline const char *isa() { return active->lanes == 8 ? "avx512" : active->lanes == 4 ? "avx2" : "baseline"; }

// Memory aligned for the widest vector; small sizes stay on the stack.
struct Scratch {
  std::unique_ptr<char[]> large;  // not cleared: nothing is read before it is written
  alignas(64) double small[6144];
  void *at;
  explicit Scratch(long bytes) {
    at = small;
    if (bytes <= (long)sizeof small) return;
    large.reset(new char[bytes + 64]);
    char *aligned = large.get();
    while (reinterpret_cast<std::size_t>(aligned) % 64) ++aligned;
    at = aligned;
  }
};

// Runs `work` in this thread and in others, no more than there are chunks or four a core; fewer where the system gives
// no more. `work` takes chunks until none is left, so any number of threads does it.
template <class Work>
void side_by_side(int threads, long chunks, const Work &work) {
  if (threads <= 1 || chunks <= 1) return work();
  static const long cores = (long)std::thread::hardware_concurrency();  // asking the system takes microseconds
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

// Calls work(first, count, scratch) over chunks of `total` states, by several threads.
template <class Work>
void in_chunks(long total, int threads, long room, const Work &work, long chunk = 256) {
  std::atomic<long> next{0};
  auto run = [&] {
    Scratch scratch(room);
    for (long a; (a = next.fetch_add(chunk)) < total;) work(a, a + chunk < total ? chunk : total - a, scratch.at);
  };
  side_by_side(threads, (total + chunk - 1) / chunk, run);
}

}  // namespace knuckle
