// SPDX-License-Identifier: Apache-2.0
#include "anifilter/thread_slot.hpp"

namespace weir::anifilter {
namespace {

std::atomic<std::uint64_t> taken{0};  // bit i: slot i has an owner; the last bit is never set
constexpr std::uint64_t kExclusive = (std::uint64_t{1} << (kThreadSlots - 1)) - 1;

struct Owner {
  std::size_t slot = kThreadSlots - 1;
  Owner() { detail::this_thread_slot = find(); }
  std::size_t find() {
    // acquire: pairs with the release in ~Owner, so the last owner's counts are seen before they
    // grow.
    std::uint64_t now = taken.load(std::memory_order_relaxed);
    while ((now & kExclusive) != kExclusive) {
      const std::uint64_t free = ~now & (now + 1);
      if (taken.compare_exchange_weak(now, now | free, std::memory_order_acquire)) {
        slot = static_cast<std::size_t>(__builtin_ctzll(free));
        return slot;
      }
    }
    return slot;
  }
  ~Owner() {
    detail::this_thread_slot = kThreadSlots - 1;  // for destructors that run after this one
    if (slot + 1 < kThreadSlots)
      taken.fetch_and(~(std::uint64_t{1} << slot), std::memory_order_release);
  }
};

}  // namespace

std::size_t detail::take_thread_slot() {
  thread_local const Owner owner;
  return this_thread_slot;
}

}  // namespace weir::anifilter
