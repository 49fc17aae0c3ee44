// SPDX-License-Identifier: Apache-2.0
// Batches: memory latencies overlap, and a batch shares its fences. Included by core.hpp.
#pragma once
#include "anifilter/core.hpp"

namespace weir::anifilter {

inline constexpr std::size_t kBatch = 64;

/// What the inserts of a batch have left to do. Phase 1 stores all new fingerprints and all copies
/// of victims; one fence; phase 2 overwrites the victims; one fence. The stripes of pending
/// overwrites (R4) and of new overflow bits (R3) stay locked until then; a thread that holds such
/// stripes never waits for another one: it drains first. Lines are flushed together, right before
/// the fence: a flush between two locks would be waited for by the second one.
template <class B, class Access>
struct Core<B, Access>::Batch {
  explicit Batch(Core& owner) : core(owner) {}
  ~Batch() {
    // Only after an exception of a fence: nothing that was promised depends on what is dropped
    // here.
    for (const std::uint32_t stripe : held) core.stripes_.unlock_changed(stripe);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  void lock(Locks& locks) {
    if (locks.try_lock()) return;
    core.drain(*this);
    locks.lock();
  }
  void flush_later(std::uint64_t bucket) { unflushed.push_back(bucket); }
  void hold(Locks& locks) {
    locks.release_to([this](std::uint32_t stripe) { held.push_back(stripe); });
  }

  Core& core;
  std::vector<std::uint32_t> held;
  std::vector<Eviction> overwrites;
  std::vector<std::uint64_t> unflushed;  ///< buckets whose line phase 1 has changed
};

template <class B, class Access>
void Core<B, Access>::drain(Batch& batch) {
  if (!batch.unflushed.empty()) {
    for (const std::uint64_t bucket : batch.unflushed) flush(bucket);
    batch.unflushed.clear();
    if (batch.overwrites.empty() || !fault(Fault::no_fence_after_copy)) access_.fence();  // R4
  }
  if (!batch.overwrites.empty()) {
    for (const auto& [incoming, victim] : batch.overwrites) overwrite_victim(incoming, victim);
    batch.overwrites.clear();
    access_.fence();
  }
  for (const std::uint32_t stripe : batch.held) stripes_.unlock_changed(stripe);
  batch.held.clear();
}

/// Phase 1 of an eviction: the copy. False if it is no longer there.
template <class B, class Access>
bool Core<B, Access>::evict_in_batch(const Key& key, Eviction& eviction, Batch& batch) {
  auto& [incoming, victim] = eviction;
  Locks locks(stripes_, access_);
  locks.add_lines_of(key.prime, victim.home);
  if (incoming.home != key.prime) locks.add_line_of(incoming.home);
  batch.lock(locks);
  if (!is_still(incoming, victim) || !find_place(victim.home, victim.to)) {
    locks.unlock(false);
    return false;
  }
  copy_victim(key, eviction, [&](std::uint64_t bucket) { batch.flush_later(bucket); });
  batch.overwrites.push_back(eviction);
  batch.hold(locks);
  changes_.add(1);
  return true;
}

template <class B, class Access>
InsertResult Core<B, Access>::insert_in_batch(const Key& key, Batch& batch) {
  const std::uint64_t secondary = alternate(key.prime, key.fingerprint);
  for (;;) {
    const bool prime_blocked = blocked(key.prime);
    if (!prime_blocked || !blocked(secondary)) {
      Locks locks(stripes_, access_);
      locks.add_line_of(key.prime);
      if (prime_blocked) locks.add_line_of(secondary);
      batch.lock(locks);
      Place place;
      const bool in_prime = find_place(key.prime, place);
      if (!in_prime && !(prime_blocked && find_place(secondary, place))) {
        locks.unlock(false);
        continue;  // taken meanwhile; the flags say so by now
      }
      bool new_bit = false;
      if (!in_prime && !fault(Fault::no_overflow_bit) && set_overflow(key.prime)) {
        new_bit = true;
        if (!fault(Fault::no_flush_of_second_line)) batch.flush_later(key.prime);
      }
      put(place, key.fingerprint);
      batch.flush_later(place.word);
      changes_.add(1);
      if (new_bit)
        batch.hold(locks);  // R3
      else
        locks.unlock(true);
      return InsertResult::inserted;
    }
    Eviction eviction;
    if (!look_ahead(key, secondary, eviction)) {
      drain(batch);  // whatever it waits for may be held by this very batch
      return insert_elsewhere(key);
    }
    if (evict_in_batch(key, eviction, batch)) return InsertResult::inserted;
  }
}

/// A pipeline: the prime line of a key is fetched two steps ahead, and one step ahead the second
/// line it will need, if any: its secondary bucket, or the alternate of the victim that will
/// probably be evicted. All of that is only a guess; everything is looked at again under the locks.
template <class B, class Access>
std::size_t Core<B, Access>::insert(const std::uint64_t* hashes, std::size_t n,
                                    InsertResult* results) {
  expect_writable();
  // Sharing fences pays where they cost something; moves are logged one by one in strict mode; and
  // the two ablations take the single-key way.
  const bool share_fences = Access::kFlushes && options_.consistency == Consistency::relaxed &&
                            options_.bucket_primacy && options_.lookahead_eviction;
  constexpr std::size_t kStep = 16;
  std::array<Key, 4 * kStep> keys;
  const auto fetch_prime = [&](std::size_t i) {
    const Key key = key_of(hashes[i]);
    keys[i % keys.size()] = key;
    access_.prefetch_write(words_ + key.prime);
  };
  const auto fetch_second = [&](std::size_t i) {
    const Key& key = keys[i % keys.size()];
    if (!blocked(key.prime)) return;
    const std::uint64_t secondary = alternate(key.prime, key.fingerprint);
    Eviction eviction;
    if (!blocked(secondary))
      access_.prefetch_write(words_ + secondary);
    else if (options_.lookahead_eviction && look_ahead(key.prime, key.fingerprint, eviction))
      access_.prefetch_write(words_ + eviction.victim.home);
  };
  const auto insert_one = [&](std::size_t i, Batch& batch) {
    const Key& key = keys[i % keys.size()];
    if (share_fences) return insert_in_batch(key, batch);
    if (options_.bucket_primacy && !blocked(key.prime) && insert_in_prime(key))
      return InsertResult::inserted;
    return insert_elsewhere(key);
  };

  std::size_t inserted = 0;
  Batch batch(*this);
  for (std::size_t i = 0; i < std::min(n, 2 * kStep); ++i) fetch_prime(i);
  for (std::size_t i = 0; i < std::min(n, kStep); ++i) fetch_second(i);
  for (std::size_t first = 0; first < n; first += kBatch) {
    const OperationScope<Access> scope(access_);
    const std::size_t end = std::min(n, first + kBatch);
    for (std::size_t i = first; i < end; ++i) {
      if (i + 2 * kStep < n) fetch_prime(i + 2 * kStep);
      if (i + kStep < n) fetch_second(i + kStep);
      results[i] = insert_one(i, batch);
      inserted += results[i] == InsertResult::inserted;
    }
    drain(batch);
  }
  return inserted;
}

template <class B, class Access>
std::size_t Core<B, Access>::erase(const std::uint64_t* hashes, std::size_t n, bool* results) {
  expect_writable();
  std::size_t erased = 0;
  for (std::size_t first = 0; first < n; first += kBatch) {
    const std::size_t end = std::min(n - first, kBatch);
    const OperationScope<Access> scope(access_);
    std::array<Key, kBatch> keys;
    for (std::size_t i = 0; i < end; ++i) {
      keys[i] = key_of(hashes[first + i]);
      access_.prefetch_write(words_ + keys[i].prime);
    }
    std::array<std::uint64_t, kBatch> changed;
    std::size_t in_batch = 0;
    for (std::size_t i = 0; i < end; ++i)
      in_batch += results[first + i] = erase_unflushed(keys[i], changed[in_batch]);
    for (std::size_t i = 0; i < in_batch; ++i) flush(changed[i]);
    if (in_batch != 0) access_.fence();
    changes_.add(-static_cast<std::int64_t>(in_batch));
    erased += in_batch;
  }
  return erased;
}

template <class B, class Access>
std::size_t Core<B, Access>::contains(const std::uint64_t* hashes, std::size_t n,
                                      bool* results) const {
  if constexpr (Access::kDirect) {
    return kernels_.contains(view(), hashes, n, results);
  } else {
    std::size_t found = 0;
    for (std::size_t i = 0; i < n; ++i) found += results[i] = contains(hashes[i]);
    return found;
  }
}

}  // namespace weir::anifilter
