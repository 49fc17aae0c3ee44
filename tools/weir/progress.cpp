// SPDX-License-Identifier: Apache-2.0
#include "progress.hpp"

#include <cstdio>
#include <utility>

#include <fmt/core.h>
#include <unistd.h>

#include "text.hpp"

namespace weir::tool {
namespace {

std::string duration(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5940) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

}  // namespace

Progress::Progress(bool wanted, std::string verb)
    : wanted_(wanted),
      terminal_(::isatty(STDERR_FILENO) != 0),
      verb_(std::move(verb)),
      start_(Clock::now()),
      // Short runs show nothing: a line that flashes by only distracts.
      next_(start_ + std::chrono::milliseconds(terminal_ ? 300 : 1000)) {}

Progress::~Progress() { erase(); }

double Progress::seconds() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::update(std::uint64_t keys, std::optional<double> fraction, double load) {
  if (!wanted_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(terminal_ ? 100 : 5000);
  const double elapsed = seconds();
  std::string line =
      fmt::format("{} {} keys, {}/s, load {}", verb_, short_count(static_cast<double>(keys)),
                  short_count(static_cast<double>(keys) / elapsed), percent(load));
  if (fraction && *fraction > 0) {
    line += fmt::format(", {:.0f} % of the input, {} left", *fraction * 100,
                        duration(elapsed * (1 - *fraction) / *fraction));
  }
  fmt::print(stderr, "{}{}{}", terminal_ ? "\r\033[K" : "", line, terminal_ ? "" : "\n");
  std::fflush(stderr);
  shown_ = terminal_;
}

void Progress::erase() {
  if (!shown_) return;
  fmt::print(stderr, "\r\033[K");
  std::fflush(stderr);
  shown_ = false;
}

bool progress_wanted(bool asked, bool quiet) {
  return asked || (!quiet && ::isatty(STDERR_FILENO) != 0);
}

}  // namespace weir::tool
