// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
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

/// Rates of several rivals, taken in rounds: A B C, A B C, ..., so that all see the same minutes of
/// the machine.
struct Rounds {
  std::vector<std::vector<double>> rates;  ///< one list a rival, one entry a round

  [[nodiscard]] Spread rate(std::size_t rival) const { return spread_of(rates[rival]); }
  /// rates[a] / rates[b], round by round.
  [[nodiscard]] Spread ratio(std::size_t a, std::size_t b) const;
};

/// Each rival runs once a round and returns a rate (higher is better).
Rounds run_rounds(std::size_t rounds, std::span<const std::function<double()>> rivals);

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
