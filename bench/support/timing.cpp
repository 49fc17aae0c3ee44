// SPDX-License-Identifier: Apache-2.0
#include "support/timing.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <thread>

#include "weir/runtime/rng.hpp"
#include "weir/runtime/workers.hpp"

namespace weir::bench {
namespace {

double read_clock(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// Work that needs a core and no memory. The empty asm keeps the compiler from removing it.
void spin(std::uint64_t rounds) {
  std::uint64_t state = rounds;
  for (std::uint64_t i = 0; i < rounds; ++i) {
    state = splitmix64(state);
    asm volatile("" : "+r"(state));
  }
}

// About 25 ms: long enough to span several scheduler slices of a busy machine.
constexpr std::uint64_t kSpinRounds = 10'000'000;

}  // namespace

double thread_cpu_seconds() { return read_clock(CLOCK_THREAD_CPUTIME_ID); }
double wall_seconds() { return read_clock(CLOCK_MONOTONIC); }

Spread Rounds::ratio(std::size_t a, std::size_t b) const {
  std::vector<double> ratios;
  for (std::size_t i = 0; i < rates[a].size(); ++i) ratios.push_back(rates[a][i] / rates[b][i]);
  return spread_of(std::move(ratios));
}

Rounds run_rounds(std::size_t rounds, std::span<const std::function<double()>> rivals) {
  Rounds result;
  result.rates.resize(rivals.size());
  for (std::size_t round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < rivals.size(); ++i) result.rates[i].push_back(rivals[i]());
  return result;
}

double spin_probe() {
  if (hardware_threads() < 2) return 0.5;
  Workers workers(2);
  workers.run([](std::size_t) { spin(kSpinRounds / 100); });  // both threads awake
  const double alone_begin = wall_seconds();
  spin(kSpinRounds);
  const double together_begin = wall_seconds();
  workers.run([](std::size_t) { spin(kSpinRounds); });
  const double end = wall_seconds();
  return std::min(1.0, (together_begin - alone_begin) / (end - together_begin));
}

Probed run_probed(Progress& progress, const std::function<void()>& body, unsigned tries,
                  double threshold, const std::function<double()>& probe,
                  std::chrono::milliseconds pause) {
  Probed result;
  while (result.tries < tries) {
    ++result.tries;
    result.probe = probe();
    if (result.probe >= threshold) {
      body();
      result.probe = std::min(result.probe, probe());
    }
    if (result.probe >= threshold) {
      result.ok = true;
      return result;
    }
    progress.line("the second core is busy (spin probe %.2f, needs %.2f), try %u of %u",
                  result.probe, threshold, result.tries, tries);
    if (result.tries < tries) std::this_thread::sleep_for(pause);
  }
  return result;
}

}  // namespace weir::bench
