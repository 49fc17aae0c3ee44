// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace weir::anifilter {

inline constexpr std::size_t kThreadSlots = 64;

/// A small number that no other living thread has, given back when the thread ends. The last one,
/// kThreadSlots - 1, is shared by all threads that come when the others are taken.
inline std::size_t thread_slot();

namespace detail {
inline constexpr std::size_t kNoThreadSlot = ~std::size_t{0};
inline thread_local std::size_t this_thread_slot = kNoThreadSlot;
std::size_t take_thread_slot();  // sets this_thread_slot
}  // namespace detail

inline std::size_t thread_slot() {
  const std::size_t slot = detail::this_thread_slot;
  return slot != detail::kNoThreadSlot ? slot : detail::take_thread_slot();
}

/// A counter without a locked instruction on the way: each thread adds to a line of its own.
class ShardedCounter {
 public:
  void add(std::int64_t n) {
    const std::size_t slot = thread_slot();
    std::atomic<std::int64_t>& shard = shards_[slot].value;
    if (slot + 1 < kThreadSlots)
      shard.store(shard.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
    else
      shard.fetch_add(n, std::memory_order_relaxed);
  }
  [[nodiscard]] std::int64_t sum() const {
    std::int64_t total = 0;
    for (const Shard& shard : shards_) total += shard.value.load(std::memory_order_relaxed);
    return total;
  }

 private:
  struct alignas(64) Shard {
    std::atomic<std::int64_t> value{0};
  };
  Shard shards_[kThreadSlots];
};

}  // namespace weir::anifilter
