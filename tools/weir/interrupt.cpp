// SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

#include <cerrno>

#include <poll.h>
#include <pthread.h>

#include "weir/runtime/error.hpp"

namespace weir::tool {
namespace {

volatile sig_atomic_t g_interrupted = 0;

void on_signal(int) { g_interrupted = 1; }

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &previous_[i]);
    if (previous_[i].sa_handler == SIG_IGN) continue;
    struct sigaction action {};
    action.sa_handler = on_signal;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    sigemptyset(&action.sa_mask);
    sigaction(kSignals[i], &action, nullptr);
  }
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &previous_[i], nullptr);
}

bool interrupted() { return g_interrupted != 0; }

bool wait_readable(int fd) {
  // Blocked between the test and the wait, so that no signal slips in between; ppoll opens the
  // mask.
  sigset_t guarded;
  sigset_t before;
  sigemptyset(&guarded);
  sigaddset(&guarded, SIGINT);
  sigaddset(&guarded, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &guarded, &before);
  struct pollfd wait {};
  wait.fd = fd;
  wait.events = POLLIN;
  int ready = 0;
  int error = 0;
  while (!interrupted() && ready == 0) {
    ready = ppoll(&wait, 1, nullptr, &before);
    if (ready < 0) {
      error = errno;
      if (error != EINTR) break;
      ready = 0;
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (ready < 0) throw_system_error("cannot wait for input", "file descriptor", error);
  return ready > 0;
}

}  // namespace weir::tool
