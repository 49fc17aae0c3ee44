// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_child.hpp"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "weir/runtime/error.hpp"

namespace weir::anifilter::trials {

TempDirectory::TempDirectory() {
  std::error_code error;
  const bool memory =
      std::filesystem::is_directory("/dev/shm", error) && ::access("/dev/shm", W_OK | X_OK) == 0;
  const std::filesystem::path parent =
      memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
  std::string name = (parent / "weir-trial-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) throw_system_error("cannot make a directory", name, errno);
  path_ = name;
}

TempDirectory::~TempDirectory() {
  std::error_code ignored;  // a destructor has nobody to tell; the system cleans up in the end
  std::filesystem::remove_all(path_, ignored);
}

SharedMemory::SharedMemory(std::size_t bytes) : bytes_(bytes) {
  memory_ = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw_system_error("cannot map shared memory", "anonymous", errno);
}

SharedMemory::~SharedMemory() { ::munmap(memory_, bytes_); }

Child::Child(const std::function<void()>& body) {
  std::fflush(nullptr);  // else the child would write the parent's buffered output once more
  pid_ = ::fork();
  if (pid_ < 0) throw_system_error("cannot fork", "child", errno);
  if (pid_ != 0) return;
  int code = 0;
  try {
    body();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "child: %s\n", error.what());
    code = 3;
  }
  ::_exit(code);  // no destructors and exit handlers of the parent's objects
}

Child::~Child() { kill(); }

void Child::reap(int status) {
  ended_ = true;
  failed_ = WIFSIGNALED(status) ? WTERMSIG(status) != SIGKILL : WEXITSTATUS(status) != 0;
}

bool Child::running() {
  if (ended_) return false;
  int status = 0;
  if (::waitpid(pid_, &status, WNOHANG) != pid_) return true;
  reap(status);
  return false;
}

bool Child::kill() {
  if (!running()) return false;
  ::kill(pid_, SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reap(status);
  return WIFSIGNALED(status);
}

void Child::wait() {
  int status = 0;
  if (ended_) return;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reap(status);
}

void wait_microseconds(double microseconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                      std::chrono::duration<double, std::micro>(microseconds));
  if (microseconds > 300) std::this_thread::sleep_until(end - std::chrono::microseconds(200));
  while (Clock::now() < end) {
  }
}

}  // namespace weir::anifilter::trials
