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
  locks.add_line_of(key.prime);
  locks.add_line_of(victim.home);
  if (incoming.home != key.prime) locks.add_line_of(incoming.home);
  batch.lock(locks);
  if (!is_still(incoming, victim) || !find_place(victim.home, victim.to)) {
    locks.unlock(false);
    return false;
  }
  copy_victim(key, eviction, [&](std::uint64_t bucket) { batch.flush_later(bucket); });
  batch.overwrites.push_back(eviction);
  batch.hold(locks);
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
      if (new_bit)
        batch.hold(locks);  // R3
      else
        locks.unlock(true);
      return InsertResult::inserted;
    }
    Roots roots;
    Eviction eviction;
    if (!look_ahead(key.prime, key.fingerprint, roots[0], eviction) &&
        !look_ahead(secondary, key.fingerprint, roots[1], eviction)) {
      drain(batch);  // whatever it waits for may be held by this very batch
      return insert_elsewhere(key);
    }
    if (evict_in_batch(key, eviction, batch)) return InsertResult::inserted;
  }
}

/// Keys on their way, sorted by what the occupancy flags say will become of them: a run of the same
/// kind is what branch prediction can follow. Only a guess; everything is looked at again under the
/// locks.
template <class B, class Access>
struct Core<B, Access>::Chunk {
  static constexpr std::size_t kMost = 32;
  std::array<Key, kMost> keys;
  std::uint32_t for_prime;
  std::uint32_t for_secondary;
  std::uint32_t for_eviction;
};

template <class Body>
void for_each_bit(std::uint32_t bits, Body&& body) {
  for (; bits != 0; bits &= bits - 1) body(static_cast<std::size_t>(__builtin_ctz(bits)));
}

/// Hashes, sorts, and fetches the lines that will be needed first.
template <class B, class Access>
void Core<B, Access>::stage(const std::uint64_t* hashes, std::size_t n, Chunk& chunk) const {
  std::uint32_t prime_blocked = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const Key key = key_of(hashes[i]);
    chunk.keys[i] = key;
    access_.prefetch_write(words_ + key.prime);
    prime_blocked |= static_cast<std::uint32_t>(blocked(key.prime)) << i;
  }
  std::uint32_t both_blocked = 0;
  for_each_bit(prime_blocked, [&](std::size_t i) {
    const std::uint64_t secondary = alternate(chunk.keys[i].prime, chunk.keys[i].fingerprint);
    const bool also = blocked(secondary);
    both_blocked |= static_cast<std::uint32_t>(also) << i;
    access_.prefetch_write(words_ + (also ? chunk.keys[i].prime : secondary));
  });
  chunk.for_prime = static_cast<std::uint32_t>((std::uint64_t{1} << n) - 1) & ~prime_blocked;
  chunk.for_secondary = prime_blocked & ~both_blocked;
  chunk.for_eviction = both_blocked;
}

template <class B, class Access>
std::size_t Core<B, Access>::insert_chunk(const Chunk& chunk, std::size_t n, Batch& batch,
                                          InsertResult* results) {
  const bool sharing = shares_fences();
  const auto insert_next = [&](std::size_t i) {
    const Key& key = chunk.keys[i];
    results[i] = sharing ? insert_in_batch(key, batch) : insert_one(key);
  };
  // The prime lines have come; choose the victims, so that their alternates come meanwhile.
  std::array<Eviction, Chunk::kMost> evictions;
  std::uint32_t chosen = 0;
  if (options_.lookahead_eviction && options_.consistency == Consistency::relaxed)
    for_each_bit(chunk.for_eviction, [&](std::size_t i) {
      const Key& key = chunk.keys[i];
      Victims victims;
      if (!look_ahead(key.prime, key.fingerprint, victims, evictions[i])) return;
      chosen |= std::uint32_t{1} << i;
      access_.prefetch_write(words_ + evictions[i].victim.home);
    });
  for_each_bit(chunk.for_prime, insert_next);
  for_each_bit(chunk.for_secondary, insert_next);
  for_each_bit(chunk.for_eviction, [&](std::size_t i) {
    const Key& key = chunk.keys[i];
    const bool done = (chosen >> i & 1) != 0 && (sharing ? evict_in_batch(key, evictions[i], batch)
                                                         : evict(key, evictions[i]));
    if (!done) return insert_next(i);
    results[i] = InsertResult::inserted;
  });
  const auto inserted = std::count(results, results + n, InsertResult::inserted);
  changes_.add(inserted);
  return static_cast<std::size_t>(inserted);
}

template <class B, class Access>
std::size_t Core<B, Access>::insert(const std::uint64_t* hashes, std::size_t n,
                                    InsertResult* results) {
  expect_writable();
  std::size_t inserted = 0;
  Batch batch(*this);
  Chunk chunks[2];
  std::size_t now = std::min(n, Chunk::kMost);
  stage(hashes, now, chunks[0]);
  for (std::size_t first = 0, c = 0; first < n; c ^= 1) {
    const OperationScope<Access> scope(access_);
    const std::size_t next = std::min(n - first - now, Chunk::kMost);
    stage(hashes + first + now, next, chunks[c ^ 1]);
    inserted += insert_chunk(chunks[c], now, batch, results + first);
    first += now;
    now = next;
    if (first % kBatch == 0) drain(batch);
  }
  drain(batch);
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
