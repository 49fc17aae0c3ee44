// SPDX-License-Identifier: Apache-2.0
// Eviction: find a path first, without locks and without writing; then lock its lines, check that
// it is still so, and carry it out from its end, copy before overwrite. Included by core.hpp.
#pragma once
#include <algorithm>

#include "weir/runtime/rng.hpp"

#include "anifilter/core.hpp"

namespace weir::anifilter {

/// Copies of `incoming` are no victims: moving one of them gains nothing, and recovery tells source
/// from copy by their being different.
template <class B, class Access>
void Core<B, Access>::find_victims(std::uint64_t bucket, std::uint32_t incoming,
                                   Victims& victims) const {
  const Word right = load(right_of(bucket));
  const Word own = load(bucket);
  kernels_.victims(geometry_, occupancy_.get(), bucket, own, right, victims);
  victims.movable &= (1u << victim_count()) - 1;
  if (B::holds_any(own, incoming) || B::slot0(right) == incoming)
    for (unsigned i = 0; i < victim_count(); ++i)
      if (victims.fingerprints[i] == incoming) victims.movable &= ~(1u << i);
}

/// Lookahead Eviction: a victim in `bucket` whose alternate is not blocked, by the occupancy flags,
/// so that no bucket is read in vain. All are looked at without a branch, since which of them will
/// do is a coin toss. False if there is none, or a slot is empty after all.
template <class B, class Access>
bool Core<B, Access>::look_ahead(std::uint64_t bucket, std::uint32_t incoming, Victims& victims,
                                 Eviction& eviction) const {
  find_victims(bucket, incoming, victims);
  if (victims.movable == 0) return false;
  const auto i = static_cast<unsigned>(__builtin_ctz(victims.movable));
  eviction.incoming = {victim_place(bucket, i), incoming, bucket, bucket};
  eviction.victim = {{},
                     static_cast<std::uint32_t>(victims.fingerprints[i]),
                     victims.targets[i],
                     victims.homes[i]};
  return victims.fingerprints[i] != 0;
}

/// If no victim of the key's buckets (`roots`) has room to go to: breadth first over their
/// alternates, for a path of several moves whose last one ends in a bucket that is not blocked.
template <class B, class Access>
auto Core<B, Access>::find_path(const Key& key, std::uint64_t secondary, const Roots& roots,
                                Path& path) const -> Search {
  constexpr std::size_t kMostNodes = 2000;
  Node nodes[kMostNodes];
  std::size_t count = 0;

  const auto is_on_path = [&](int node, std::uint64_t bucket, unsigned victim) {
    const Place place = victim_place(bucket, victim);
    for (; node >= 0; node = nodes[node].parent) {
      const Place other = victim_place(nodes[node].bucket, nodes[node].victim);
      if (other.word == place.word && other.slot == place.slot) return true;
    }
    return false;
  };
  const auto write_path = [&](const Node& last, const Place& free) {
    path.clear();
    path.push_back({free, last.fingerprint, last.target, last.home});
    const Node* node = &last;
    for (; node->parent >= 0; node = &nodes[node->parent]) {
      const Node& parent = nodes[node->parent];
      path.push_back({victim_place(node->bucket, node->victim), parent.fingerprint, node->bucket,
                      parent.home});
    }
    path.push_back(
        {victim_place(node->bucket, node->victim), key.fingerprint, node->bucket, node->bucket});
    path.reverse();
  };
  const auto add_victims = [&](std::uint64_t bucket, int parent, std::uint32_t incoming,
                               const Victims& victims) {
    for (unsigned i = 0; i < victim_count(); ++i) {
      const auto fingerprint = static_cast<std::uint32_t>(victims.fingerprints[i]);
      if (fingerprint == 0) return Search::changed;  // there is room: start again
      if (fingerprint == incoming || is_on_path(parent, bucket, i)) continue;
      const Node node{static_cast<std::uint32_t>(bucket),
                      static_cast<std::uint32_t>(victims.targets[i]),
                      static_cast<std::uint32_t>(victims.homes[i]),
                      fingerprint,
                      static_cast<std::int16_t>(parent),
                      static_cast<std::uint8_t>(i)};
      Place free;
      if ((victims.movable >> i & 1) != 0 && find_place(node.target, free)) {
        write_path(node, free);
        return Search::found;
      }
      if (count < kMostNodes) nodes[count++] = node;
    }
    return Search::none;
  };

  Search search = add_victims(key.prime, -1, key.fingerprint, roots[0]);
  if (search == Search::none) search = add_victims(secondary, -1, key.fingerprint, roots[1]);
  for (std::size_t i = 0; i < count && search == Search::none; ++i) {
    const Node node = nodes[i];
    Victims victims;
    find_victims(node.target, node.fingerprint, victims);
    search = add_victims(node.target, static_cast<int>(i), node.fingerprint, victims);
  }
  return search;
}

/// The same without lookahead: a random walk, as in the cuckoo filter, but only looked at here.
template <class B, class Access>
auto Core<B, Access>::find_walk(const Key& key, std::uint64_t secondary, Path& path) const
    -> Search {
  constexpr std::size_t kMostKicks = 500;
  static_assert(kMostKicks + 3 <= Locks::kMost && kMostKicks + 1 <= Path::kMost);
  // Of the key alone, so that a run can be repeated whatever its threads did before.
  Rng rng(splitmix64(key.prime << 32 | key.fingerprint));
  path.clear();
  const std::uint64_t start = (rng() & 1) != 0 ? key.prime : secondary;
  Move incoming{{}, key.fingerprint, start, start};
  for (std::size_t kick = 0; kick < kMostKicks; ++kick) {
    Victims victims;
    find_victims(incoming.home, incoming.fingerprint, victims);
    unsigned choices[Victims::kMost];
    std::size_t count = 0;
    for (unsigned i = 0; i < victim_count(); ++i) {
      if (victims.fingerprints[i] == 0) return Search::changed;
      const Place place = victim_place(incoming.home, i);
      const bool is_on_path = std::any_of(path.begin(), path.end(), [&place](const Move& move) {
        return move.to.word == place.word && move.to.slot == place.slot;
      });
      if (victims.fingerprints[i] != incoming.fingerprint && !is_on_path) choices[count++] = i;
    }
    if (count == 0) return Search::none;
    const unsigned i = choices[rng.below(count)];
    incoming.to = victim_place(incoming.home, i);
    path.push_back(incoming);
    incoming = {{},
                static_cast<std::uint32_t>(victims.fingerprints[i]),
                victims.targets[i],
                victims.homes[i]};
    if (find_place(incoming.home, incoming.to)) {
      path.push_back(incoming);
      return Search::found;
    }
  }
  return Search::none;
}

/// Every slot that could take `key` in `bucket` has its fingerprint already.
template <class B, class Access>
bool Core<B, Access>::holds_only_copies(const Key& key, std::uint64_t bucket) const {
  Victims victims;
  find_victims(bucket, 0, victims);
  return std::all_of(victims.fingerprints, victims.fingerprints + victim_count(),
                     [&key](std::uint64_t fingerprint) { return fingerprint == key.fingerprint; });
}

template <class B, class Access>
void Core<B, Access>::lock_lines_of(const Path& path, const Key& key, Locks& locks) const {
  locks.add_line_of(key.prime);  // its overflow bit may have to be set
  for (const Move& move : path) locks.add_line_of(move.to.word);
}

/// Under the line's lock: the victim is where it was seen.
template <class B, class Access>
bool Core<B, Access>::is_still(const Move& incoming, const Move& victim) const {
  const Word word = load(incoming.to.word);
  return B::get(word, incoming.to.slot) == victim.fingerprint &&
         home_of(incoming.to.word, word, incoming.to.slot) == victim.old_home;
}

template <class B, class Access>
bool Core<B, Access>::is_still(const Path& path) const {
  for (std::size_t i = 0; i + 1 < path.size(); ++i)
    if (!is_still(path[i], path[i + 1])) return false;
  const Place& last = path.back().to;
  return B::get(load(last.word), last.slot) == 0;
}

/// Puts `incoming` where `victim` is; the victim's copy is durable. From now on the victim is found
/// only in its other bucket, so the overflow bit of its old home must be seen, and persist, no
/// later than the overwrite (R2): in the same store, or in an earlier one to the same line.
template <class B, class Access>
void Core<B, Access>::overwrite_victim(const Move& incoming, const Move& victim) {
  const bool forget = fault(Fault::no_overflow_on_victim_home);
  const bool same_word = victim.old_home == incoming.to.word;
  if (!same_word && !forget) set_overflow(victim.old_home);
  overwrite(incoming.to, incoming.fingerprint, same_word && !forget ? kOverflowBit : 0);
  flush(incoming.to.word);
}

/// First half of an eviction: the newcomer's overflow bit if it goes to its secondary bucket, and
/// the victim's copy. Both need a fence before the second half, overwrite_victim.
template <class B, class Access>
template <class Flush>
void Core<B, Access>::copy_victim(const Key& key, const Eviction& eviction, Flush&& flush_line) {
  if (eviction.incoming.home != key.prime && !fault(Fault::no_overflow_bit) &&
      set_overflow(key.prime))
    flush_line(key.prime);
  put(eviction.victim.to, eviction.victim.fingerprint);
  flush_line(eviction.victim.to.word);
}

/// The common eviction, of one move. False if it is no longer there.
template <class B, class Access>
template <class AnyLocks>
bool Core<B, Access>::evict_under(AnyLocks& locks, const Key& key, Eviction& eviction) {
  auto& [incoming, victim] = eviction;
  locks.lock();
  if (!is_still(incoming, victim) || !find_place(victim.home, victim.to)) {
    locks.unlock(false);
    return false;
  }
  copy_victim(key, eviction, [this](std::uint64_t bucket) { flush(bucket); });
  if (!fault(Fault::no_fence_after_copy)) access_.fence();  // R4
  overwrite_victim(incoming, victim);
  access_.fence();
  locks.unlock(true);
  return true;
}

template <class B, class Access>
bool Core<B, Access>::evict(const Key& key, Eviction& eviction) {
  const auto& [incoming, victim] = eviction;
  access_.prefetch_write(words_ + victim.home);
  if (incoming.home == key.prime) {
    TwoLocks locks(stripes_, access_, key.prime, victim.home);
    return evict_under(locks, key, eviction);
  }
  Locks locks(stripes_, access_);
  locks.add_line_of(key.prime);
  locks.add_line_of(incoming.home);
  locks.add_line_of(victim.home);
  return evict_under(locks, key, eviction);
}

template <class B, class Access>
bool Core<B, Access>::execute(const Key& key, const Path& path) {
  const bool strict = options_.consistency == Consistency::strict;
  Locks locks(stripes_, access_);
  lock_lines_of(path, key, locks);
  locks.lock();
  if (!is_still(path)) {
    locks.unlock(false);
    return false;
  }
  const std::unique_lock log_guard = strict ? lock_shared_log() : std::unique_lock<std::mutex>{};

  if (path.front().home != key.prime && !fault(Fault::no_overflow_bit) && set_overflow(key.prime))
    flush(key.prime);
  for (std::size_t i = path.size() - 1; i > 0; --i) {
    if (strict) {
      // The victim's own insert may not be durable yet; then its copy must not outlive it.
      flush(path[i - 1].to.word);
      log_move(i % 2, path[i - 1].to, path[i]);
    }
    if (i + 1 < path.size())
      overwrite_victim(path[i], path[i + 1]);
    else {
      put(path[i].to, path[i].fingerprint);
      flush(path[i].to.word);
    }
    if (!fault(Fault::no_fence_after_copy)) access_.fence();  // R4
  }
  if (strict && fault(Fault::early_log_clear)) clear_log();
  overwrite_victim(path[0], path[1]);
  access_.fence();
  if (strict) clear_log();  // R5
  return true;
}

/// Entry 0 or 1 of this thread's record: two words, the one with the valid bit last. Both are in
/// one line, which persists in store order, so no checksum is needed.
template <class B, class Access>
void Core<B, Access>::log_move(std::size_t entry, const Place& from, const Move& move) {
  Word* const record = log_record(thread_slot()) + 2 * entry;
  if (access_.load(record) != 0) access_.store(record, 0);
  access_.store(record + 1, LogEntry::destination(move.to.word, move.to.slot, move.fingerprint));
  access_.store(record, LogEntry::source(from.word, from.slot));
  access_.flush(record);
  access_.fence();
}

template <class B, class Access>
void Core<B, Access>::clear_log() {
  Word* const record = log_record(thread_slot());
  access_.store(record, 0);
  access_.store(record + 2, 0);
  access_.flush(record);
  access_.fence();
}

}  // namespace weir::anifilter
