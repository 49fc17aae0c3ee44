// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "support/progress.hpp"
#include "support/statistics.hpp"

namespace weir::bench {

/// Seconds that the calling thread has spent on a processor: not disturbed by what else runs here.
double thread_cpu_seconds();
/// Seconds of a monotonic clock: for threads that wait for one another.
double wall_seconds();

/// Adds up thread CPU time over parts, so that preparing the next part is not measured.
class CpuTimer {
 public:
  void start() { begin_ = thread_cpu_seconds(); }
  void stop() { total_ += thread_cpu_seconds() - begin_; }
  [[nodiscard]] double seconds() const { return total_; }

 private:
  double begin_ = 0;
  double total_ = 0;
};

/// Rates of two rivals and the ratio of each neighbouring pair.
struct PairResult {
  Spread ours;
  Spread theirs;
  Spread ratio;  ///< ours / theirs, pair by pair
};

/// Runs ours, theirs, ours, theirs, ... so that both see the same minutes of the machine. Both
/// return a rate (higher is better). `pairs` >= 1.
template <class Ours, class Theirs>
PairResult interleave(std::size_t pairs, Ours&& ours, Theirs&& theirs) {
  std::vector<double> a;
  std::vector<double> b;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < pairs; ++i) {
    a.push_back(ours());
    b.push_back(theirs());
    ratios.push_back(a.back() / b.back());
  }
  return {spread_of(std::move(a)), spread_of(std::move(b)), spread_of(std::move(ratios))};
}

/// How much of a second core this process gets: work that one thread does alone in the time in
/// which each of two threads does the same at once; 1 is two full cores, 0.5 is one shared.
double spin_probe();

inline constexpr double kProbeThreshold = 0.85;
inline constexpr unsigned kProbeTries = 10;

struct Probed {
  bool ok = false;
  double probe = 0;  ///< the worse of before and after, in the last try
  unsigned tries = 0;
};

/// Runs `body` between two probes and accepts it when both reach `threshold`; else waits a little
/// and tries again. Not ok: two cores were never free; what `body` measured must not be used.
Probed run_probed(Progress& progress, const std::function<void()>& body,
                  unsigned tries = kProbeTries, double threshold = kProbeThreshold,
                  const std::function<double()>& probe = spin_probe,
                  std::chrono::milliseconds pause = std::chrono::milliseconds(250));

}  // namespace weir::bench
