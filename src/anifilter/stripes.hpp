// SPDX-License-Identifier: Apache-2.0
// Line locks and versions, in DRAM: a crash forgets them, so recovery has no lock to clear, and a
// reader writes nothing.
#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <thread>

#include "anifilter/bucket.hpp"

namespace weir::anifilter {

/// A line is guarded by stripe `line & mask`. The word is a sequence lock: odd while a writer holds
/// it, and every change of a line moves it on, so a reader can tell that nothing was added behind
/// its back.
class Stripes {
 public:
  using Word = std::atomic<std::uint32_t>;

  explicit Stripes(std::uint64_t lines)
      : mask_(std::bit_ceil(lines < kMost ? lines : kMost) - 1),
        words_(std::make_unique<Word[]>(mask_ + 1)) {}

  [[nodiscard]] std::uint32_t index(std::uint64_t line) const {
    return static_cast<std::uint32_t>(line & mask_);
  }
  [[nodiscard]] std::uint64_t count() const { return mask_ + 1; }
  [[nodiscard]] std::uint64_t mask() const { return mask_; }
  [[nodiscard]] const Word* data() const { return words_.get(); }

  // acquire: pairs with the release in unlock_*; what the last holder stored is visible.
  WEIR_INLINE bool try_lock(std::uint32_t i) {
    std::uint32_t version = words_[i].load(std::memory_order_relaxed);
    return (version & 1) == 0 &&
           words_[i].compare_exchange_strong(version, version + 1, std::memory_order_acquire);
  }
  template <class Access>
  WEIR_INLINE void lock(std::uint32_t i, const Access& access) {
    for (unsigned spins = 0; !try_lock(i); ++spins) {
      access.pause();
      if (spins >= 64) std::this_thread::yield();  // the holder may have been descheduled
    }
  }
  WEIR_INLINE void unlock_changed(std::uint32_t i) { step(i, +1); }
  WEIR_INLINE void unlock_unchanged(std::uint32_t i) { step(i, -1); }

  /// Even: nobody was changing a line of the stripe; the same value later: nobody did in between.
  [[nodiscard]] std::uint32_t version(std::uint32_t i) const {
    return words_[i].load(std::memory_order_acquire);
  }

 private:
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 16;  // 256 KiB: stays in a core's L2

  WEIR_INLINE void step(std::uint32_t i, int by) {
    const std::uint32_t now = words_[i].load(std::memory_order_relaxed);
    words_[i].store(now + static_cast<std::uint32_t>(by), std::memory_order_release);
  }

  std::uint64_t mask_;
  std::unique_ptr<Word[]> words_;
};

}  // namespace weir::anifilter
