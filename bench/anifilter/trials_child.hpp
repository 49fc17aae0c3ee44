// SPDX-License-Identifier: Apache-2.0
// Child processes that are meant to be killed, and what they tell their parent before.
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>

#include <sys/types.h>

namespace weir::anifilter::trials {

/// A new empty directory, in /dev/shm if that is there (its files outlive a process and cost no
/// disk), else in TMPDIR; removed with everything in it at the end.
class TempDirectory {
 public:
  TempDirectory();
  ~TempDirectory();
  TempDirectory(const TempDirectory&) = delete;
  TempDirectory& operator=(const TempDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Zeroed memory that this process and the children it forks share. What a child has written stays
/// when it is killed.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes);
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  template <class T>
  [[nodiscard]] T* as(std::size_t offset_bytes = 0) const {
    return reinterpret_cast<T*>(static_cast<std::byte*>(memory_) + offset_bytes);
  }

 private:
  void* memory_;
  std::size_t bytes_;
};

/// Runs `body` in a forked child, which never returns from it into the caller's code. The calling
/// process should have no other thread: the child gets a copy of locks that those may hold.
class Child {
 public:
  explicit Child(const std::function<void()>& body);
  ~Child();  ///< kills it if it still runs
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// SIGKILL, and waits for the end. False if it had ended before, `failed()` then tells how.
  bool kill();
  /// Waits for its end.
  void wait();
  /// It ended by itself, with an exception or a signal of its own.
  [[nodiscard]] bool failed() const { return failed_; }
  [[nodiscard]] bool running();

 private:
  void reap(int status);
  pid_t pid_;
  bool ended_ = false;
  bool failed_ = false;
};

/// Waits about so long; short waits are spun, since a sleep takes 60 microseconds more.
void wait_microseconds(double microseconds);

}  // namespace weir::anifilter::trials
