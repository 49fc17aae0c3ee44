// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdio>
#include <string>

namespace weir::bench {

/// printf into a string.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

/// Lines on standard error with the time since the program started, so that a long step is seen to
/// be alive and standard output stays clean.
class Progress {
 public:
  Progress();
  explicit Progress(std::FILE* file);  ///< nullptr: silent
  [[gnu::format(printf, 2, 3)]] void line(const char* format, ...);
  [[nodiscard]] double seconds() const;

 private:
  std::FILE* file_;
  double start_;
};

}  // namespace weir::bench
