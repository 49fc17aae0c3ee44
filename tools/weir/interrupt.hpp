// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>

#include <signal.h>

namespace weir::tool {

/// While it lives, a first SIGINT or SIGTERM only asks the program to stop, so that a change of the
/// filter ends with a finished batch; a second one kills as usual. A signal that was ignored before
/// stays ignored (nohup, background jobs). One at a time; made and destroyed by the main thread.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

 private:
  static constexpr std::array<int, 2> kSignals{SIGINT, SIGTERM};
  std::array<struct sigaction, 2> previous_{};
};

/// A guarded signal has arrived.
bool interrupted();

/// Waits until `fd` can be read; false if a guarded signal came first, however late it came.
bool wait_readable(int fd);

}  // namespace weir::tool
