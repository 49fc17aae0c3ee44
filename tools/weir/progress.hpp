// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace weir::tool {

/// A line on standard error that says how far a long step is: rewritten in place on a terminal, a
/// new line every few seconds elsewhere. Erased when destroyed.
class Progress {
 public:
  /// `verb`: "added". Silent unless `wanted`.
  Progress(bool wanted, std::string verb);
  ~Progress();
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Cheap enough for every batch. `fraction` of the input, if known; `load` of the filter.
  void update(std::uint64_t keys, std::optional<double> fraction, double load);
  /// Takes the line away, so that something else can be written.
  void erase();
  [[nodiscard]] double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool wanted_;
  bool terminal_;
  bool shown_ = false;
  std::string verb_;
  Clock::time_point start_;
  Clock::time_point next_;
};

/// Whether to show progress: always when asked for, never when quiet, else on a terminal.
bool progress_wanted(bool asked, bool quiet);

}  // namespace weir::tool
