// SPDX-License-Identifier: Apache-2.0
// Single-key operations. Included by core.hpp.
#pragma once
#include "anifilter/core.hpp"

namespace weir::anifilter {

template <class B, class Access>
InsertResult Core<B, Access>::insert(std::uint64_t hash) {
  expect_writable();
  const OperationScope<Access> scope(access_);
  const Key key = key_of(hash);
  access_.prefetch_write(words_ + key.prime);
  const InsertResult result = insert_one(key);
  if (result == InsertResult::inserted) changes_.add(1);
  return result;
}

/// One line, one store, one flush, one fence. Durable when the fence returns; no bit of another
/// word depends on it, so the lock need not be held that long.
template <class B, class Access>
inline bool Core<B, Access>::insert_in_prime(const Key& key) {
  const std::uint32_t stripe = stripes_.index(key.prime / kWordsPerLine);
  stripes_.lock(stripe, access_);
  Place place;
  if (!find_place(key.prime, place)) {
    stripes_.unlock_unchanged(stripe);
    return false;
  }
  put(place, key.fingerprint);
  flush(place.word);
  stripes_.unlock_changed(stripe);
  access_.fence();
  return true;
}

template <class B, class Access>
InsertResult Core<B, Access>::insert_elsewhere(const Key& key) {
  const std::uint64_t secondary = alternate(key.prime, key.fingerprint);
  for (;;) {
    // Without lookahead nothing is known about a bucket before it is read.
    if (!options_.lookahead_eviction || !blocked(secondary) || !blocked(key.prime)) {
      if (insert_in_either(key, secondary)) return InsertResult::inserted;
      if (options_.lookahead_eviction) continue;  // taken meanwhile; the flags say so by now
    }
    Roots roots;
    Eviction eviction;
    Path path;
    Search search;
    if (!options_.lookahead_eviction) {
      search = find_walk(key, secondary, path);
    } else if (look_ahead(key.prime, key.fingerprint, roots[0], eviction) ||
               look_ahead(secondary, key.fingerprint, roots[1], eviction)) {
      if (options_.consistency == Consistency::relaxed) {
        if (evict(key, eviction)) return InsertResult::inserted;
        continue;
      }
      search =
          find_place(eviction.victim.home, eviction.victim.to) ? Search::found : Search::changed;
      path.push_back(eviction.incoming);
      path.push_back(eviction.victim);
    } else {
      search = find_path(key, secondary, roots, path);
    }
    if (search == Search::found && execute(key, path)) return InsertResult::inserted;
    if (search == Search::none) break;
    access_.pause();  // another thread changed the path; look again
  }
  return holds_only_copies(key, key.prime) && holds_only_copies(key, secondary)
             ? InsertResult::too_many_copies
             : InsertResult::full;
}

/// The prime bucket if it has room after all, else the secondary one behind the overflow bit.
template <class B, class Access>
bool Core<B, Access>::insert_in_either(const Key& key, std::uint64_t secondary) {
  access_.prefetch_write(words_ + secondary);
  TwoLocks locks(stripes_, access_, key.prime, secondary);
  locks.lock();
  Place place;
  // Without primacy a key starts at either of its buckets, as in the cuckoo filter.
  const bool swapped = !options_.bucket_primacy && (mix_fingerprint(key.fingerprint) & 1) != 0;
  const std::uint64_t first = swapped ? secondary : key.prime;
  const std::uint64_t second = swapped ? key.prime : secondary;
  const std::uint64_t home = find_place(first, place)    ? first
                             : find_place(second, place) ? second
                                                         : ~std::uint64_t{0};
  if (home == ~std::uint64_t{0}) {
    locks.unlock(false);
    return false;
  }
  const bool late = fault(Fault::overflow_bit_after_copy);
  if (home == secondary && !late && !fault(Fault::no_overflow_bit) && set_overflow(key.prime) &&
      !fault(Fault::no_flush_of_second_line)) {
    flush(key.prime);
    // Strict: else a crash could leave the fingerprint alone, where no lookup or erase finds it.
    if (options_.consistency == Consistency::strict) access_.fence();
  }
  put(place, key.fingerprint);
  flush(place.word);
  access_.fence();
  if (late && home == secondary) set_overflow(key.prime);
  locks.unlock(true);  // R3: after the fence
  return true;
}

template <class B, class Access>
bool Core<B, Access>::contains(std::uint64_t hash) const {
  const OperationScope<Access> scope(access_);
  const Key key = key_of(hash);
  const auto holds = [&](std::uint64_t bucket, Word& own) {
    const Word right = load(right_of(bucket));  // the neighbour first, see bucket_holds
    own = load(bucket);
    return B::holds_spilled(right, key.fingerprint) || B::holds_own(own, key.fingerprint);
  };
  Word own;
  if (holds(key.prime, own)) return true;
  if ((own & kOverflowBit) == 0) return false;  // Bucket Primacy

  const std::uint64_t secondary = alternate(key.prime, key.fingerprint);
  const std::uint32_t stripe = stripes_.index(key.prime / kWordsPerLine);
  access_.prefetch(words_ + secondary);
  for (;;) {  // contains_in_two, through the access policy
    const std::uint32_t before = stripes_.version(stripe);
    if (holds(key.prime, own) || holds(secondary, own)) return true;
    if ((before & 1) == 0 && stripes_.version(stripe) == before) return false;
    access_.pause();
  }
}

/// Removes one copy from `bucket`, under its line's lock. The spilled one first: readers look there
/// first, and a copy that a reader has yet to come to must not vanish while another one stays.
template <class B, class Access>
bool Core<B, Access>::take_from(std::uint64_t bucket, std::uint32_t fingerprint,
                                std::uint64_t& changed) {
  changed = right_of(bucket);
  if (B::holds_spilled(load(changed), fingerprint)) {
    clear(changed, 0);
    return true;
  }
  changed = bucket;
  const Word matches = B::own_matches(load(bucket), fingerprint);
  if (matches == 0) return false;
  clear(bucket, B::lowest(matches));
  return true;
}

/// True if a copy was removed; then the line of `changed` has to be flushed.
template <class B, class Access>
bool Core<B, Access>::erase_unflushed(const Key& key, std::uint64_t& changed) {
  const std::uint32_t stripe = stripes_.index(key.prime / kWordsPerLine);
  stripes_.lock(stripe, access_);
  if (take_from(key.prime, key.fingerprint, changed)) {
    stripes_.unlock_changed(stripe);
    return true;
  }
  const bool elsewhere = (load(key.prime) & kOverflowBit) != 0;
  stripes_.unlock_unchanged(stripe);
  if (!elsewhere) return false;
  const std::uint64_t secondary = alternate(key.prime, key.fingerprint);
  access_.prefetch_write(words_ + secondary);
  TwoLocks locks(stripes_, access_, key.prime, secondary);
  locks.lock();
  if (take_from(key.prime, key.fingerprint, changed) ||
      take_from(secondary, key.fingerprint, changed))
    return true;
  locks.unlock(false);
  return false;
}

template <class B, class Access>
bool Core<B, Access>::erase(std::uint64_t hash) {
  expect_writable();
  const OperationScope<Access> scope(access_);
  std::uint64_t changed;
  if (!erase_unflushed(key_of(hash), changed)) return false;
  flush(changed);
  access_.fence();
  changes_.add(-1);
  return true;
}

}  // namespace weir::anifilter
