// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <csignal>
#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace weir::test {

/// A forked child that runs `body` and then waits to be killed; the parent goes on when body has
/// returned. Its exit status is 1 if the body threw, which ready() tells.
class ChildProcess {
 public:
  explicit ChildProcess(const std::function<void()>& body) {
    int ready[2];
    if (pipe(ready) != 0) return;
    pid_ = fork();
    if (pid_ == 0) {
      try {
        body();
      } catch (...) {
        _exit(1);
      }
      const char byte = 1;
      if (write(ready[1], &byte, 1) != 1) _exit(1);
      for (;;) pause();
    }
    close(ready[1]);
    char byte = 0;
    ready_ = read(ready[0], &byte, 1) == 1;  // end of file if the child is dead
    close(ready[0]);
  }
  ~ChildProcess() { kill_now(); }
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  [[nodiscard]] bool ready() const { return ready_; }

  void kill_now() {
    if (pid_ <= 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  bool ready_ = false;
};

}  // namespace weir::test
