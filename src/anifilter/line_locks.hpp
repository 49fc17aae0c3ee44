// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "weir/runtime/persistent_access.hpp"

#include "anifilter/stripes.hpp"

namespace weir::anifilter {

/// The stripes of two lines (which may be one), locked in ascending order. Unlocks in its
/// destructor, as "changed": a stray version step costs a reader one retry.
template <class Access>
class TwoLineLocks {
 public:
  TwoLineLocks(Stripes& stripes, const Access& access, std::uint64_t one, std::uint64_t other)
      : stripes_(stripes), access_(access) {
    const std::uint32_t a = stripes.index(one / kWordsPerLine);
    const std::uint32_t b = stripes.index(other / kWordsPerLine);
    first_ = std::min(a, b);  // no branch: which one comes first is a coin toss
    second_ = std::max(a, b);
  }
  ~TwoLineLocks() {
    if (locked_) unlock(true);
  }
  TwoLineLocks(const TwoLineLocks&) = delete;
  TwoLineLocks& operator=(const TwoLineLocks&) = delete;

  void lock() {
    stripes_.lock(first_, access_);
    if (second_ != first_) stripes_.lock(second_, access_);
    locked_ = true;
  }
  void unlock(bool changed) {
    unlock(first_, changed);
    if (second_ != first_) unlock(second_, changed);
    locked_ = false;
  }

 private:
  void unlock(std::uint32_t stripe, bool changed) {
    changed ? stripes_.unlock_changed(stripe) : stripes_.unlock_unchanged(stripe);
  }

  Stripes& stripes_;
  const Access& access_;
  std::uint32_t first_;
  std::uint32_t second_;
  bool locked_ = false;
};

/// The stripes of a few lines, locked together in ascending order, so that two threads cannot wait
/// for each other. Unlocks in its destructor, as "changed": a stray version step costs a reader one
/// retry.
template <class Access>
class LineLocks {
 public:
  static constexpr std::size_t kMost = 640;  // longest random walk, with a margin

  LineLocks(Stripes& stripes, const Access& access) : stripes_(stripes), access_(access) {}
  ~LineLocks() { unlock(true); }
  LineLocks(const LineLocks&) = delete;
  LineLocks& operator=(const LineLocks&) = delete;

  void add_line_of(std::uint64_t bucket) {
    const std::uint32_t stripe = stripes_.index(bucket / kWordsPerLine);
    std::size_t at = count_;
    while (at > 0 && indices_[at - 1] > stripe) --at;
    if (at > 0 && indices_[at - 1] == stripe) return;
    std::copy_backward(indices_ + at, indices_ + count_, indices_ + count_ + 1);
    indices_[at] = stripe;
    ++count_;
  }
  void lock() {
    for (; locked_ < count_; ++locked_) stripes_.lock(indices_[locked_], access_);
  }
  /// Takes all or none, and waits for none.
  bool try_lock() {
    for (; locked_ < count_; ++locked_)
      if (!stripes_.try_lock(indices_[locked_])) {
        unlock_keeping_lines();
        return false;
      }
    return true;
  }
  void unlock(bool changed) {
    for (std::size_t i = 0; i < locked_; ++i)
      changed ? stripes_.unlock_changed(indices_[i]) : stripes_.unlock_unchanged(indices_[i]);
    locked_ = count_ = 0;
  }
  /// Gives the locked stripes to the caller, who must unlock them.
  template <class Take>
  void release_to(Take&& take) {
    for (std::size_t i = 0; i < locked_; ++i) take(indices_[i]);
    locked_ = count_ = 0;
  }

 private:
  void unlock_keeping_lines() {
    for (std::size_t i = 0; i < locked_; ++i) stripes_.unlock_unchanged(indices_[i]);
    locked_ = 0;
  }

  Stripes& stripes_;
  const Access& access_;
  std::uint32_t indices_[kMost];  // ascending, no two alike
  std::size_t count_ = 0;
  std::size_t locked_ = 0;
};

}  // namespace weir::anifilter
