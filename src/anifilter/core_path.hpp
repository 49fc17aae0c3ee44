// SPDX-License-Identifier: Apache-2.0
// Eviction: find a path first, without locks and without writing; then lock its lines, check that
// it is still so, and carry it out from its end, copy before overwrite. Included by core.hpp.
#pragma once
#include <limits>

#include "weir/runtime/rng.hpp"

#include "anifilter/core.hpp"

namespace weir::anifilter {

/// Visits the fingerprints whose eviction makes room for one of `bucket`: those in its slots, and
/// the one in its right neighbour's slot 0, where it could spill. Skips copies of `incoming`:
/// moving one of them gains nothing, and recovery tells source from copy by their being different.
/// False if an empty slot shows that there is room already (or `visit` said to stop).
template <class B, class Access>
template <class Visit>
bool Core<B, Access>::for_each_victim(std::uint64_t bucket, std::uint32_t incoming,
                                      Visit&& visit) const {
  const Word own = load(bucket);
  for (unsigned slot = B::kSlots; slot-- > 0;) {
    const auto fingerprint = static_cast<std::uint32_t>(B::get(own, slot));
    if (fingerprint == 0) return false;
    if (fingerprint == incoming) continue;
    if (!visit(bucket, Place{bucket, slot, false}, fingerprint, home_of(bucket, own, slot)))
      return false;
  }
  if (!options_.spillable_buckets) return true;
  const std::uint64_t neighbour = right_of(bucket);
  const Word right = load(neighbour);
  const auto fingerprint = static_cast<std::uint32_t>(B::slot0(right));
  if (fingerprint == 0) return false;
  if (fingerprint == incoming) return true;
  return visit(bucket, Place{neighbour, 0, true}, fingerprint, home_of(neighbour, right, 0));
}

/// Lookahead Eviction: the first victim whose alternate bucket is not blocked, by the occupancy
/// flags, so only a bucket that has room is read. If neither bucket has one, breadth first over the
/// victims' alternates: a path of several moves, found the same way.
template <class B, class Access>
auto Core<B, Access>::find_path(const Key& key, std::uint64_t secondary, Path& path) const
    -> Search {
  constexpr std::size_t kMostNodes = 2000;
  thread_local std::vector<Node> nodes;
  nodes.clear();

  const auto is_on_path = [&](std::int32_t node, const Place& place) {
    for (; node >= 0; node = nodes[static_cast<std::size_t>(node)].parent) {
      const Place& other = nodes[static_cast<std::size_t>(node)].place;
      if (other.word == place.word && other.slot == place.slot) return true;
    }
    return false;
  };
  const auto write_path = [&](const Node& last, const Place& free, std::uint64_t free_home) {
    path.clear();
    path.push_back({free, last.fingerprint, free_home, last.home});
    const Node* node = &last;
    while (node->parent >= 0) {
      const Node* parent = &nodes[static_cast<std::size_t>(node->parent)];
      path.push_back({node->place, parent->fingerprint, node->bucket, parent->home});
      node = parent;
    }
    path.push_back({node->place, key.fingerprint, node->bucket, node->bucket});
    std::reverse(path.begin(), path.end());
  };

  Search result = Search::none;
  const auto expand = [&](std::uint64_t bucket, std::int32_t parent, std::uint32_t incoming) {
    const bool complete = for_each_victim(
        bucket, incoming,
        [&](std::uint64_t at, const Place& place, std::uint32_t fingerprint, std::uint64_t home) {
          if (is_on_path(parent, place)) return true;
          const Node node{at, place, fingerprint, home, parent};
          const std::uint64_t target = alternate(home, fingerprint);
          Place free;
          if (!blocked(target) && find_place(target, free) && !is_on_path(parent, free)) {
            write_path(node, free, target);
            result = Search::found;
            return false;
          }
          if (nodes.size() < kMostNodes) nodes.push_back(node);
          return true;
        });
    if (!complete && result == Search::none) result = Search::changed;
    return result == Search::none;
  };

  if (!expand(key.prime, -1, key.fingerprint)) return result;
  if (!expand(secondary, -1, key.fingerprint)) return result;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node node = nodes[i];
    if (!expand(alternate(node.home, node.fingerprint), static_cast<std::int32_t>(i),
                node.fingerprint))
      return result;
  }
  return Search::none;
}

/// The same without lookahead: a random walk, as in the cuckoo filter, but only looked at here.
template <class B, class Access>
auto Core<B, Access>::find_walk(const Key& key, std::uint64_t secondary, Path& path) const
    -> Search {
  constexpr std::size_t kMostKicks = 500;
  static_assert(kMostKicks + 3 <= Locks::kMost);
  thread_local Rng rng(splitmix64(thread_slot()));
  path.clear();
  std::uint64_t bucket = (rng() & 1) != 0 ? key.prime : secondary;
  Move incoming{{}, key.fingerprint, bucket, bucket};
  for (std::size_t kick = 0; kick < kMostKicks; ++kick) {
    Node victims[B::kSlots + 1];
    std::size_t count = 0;
    const bool complete = for_each_victim(
        bucket, incoming.fingerprint,
        [&](std::uint64_t at, const Place& place, std::uint32_t fingerprint, std::uint64_t home) {
          for (const Move& move : path)
            if (move.to.word == place.word && move.to.slot == place.slot) return true;
          victims[count++] = {at, place, fingerprint, home, -1};
          return true;
        });
    if (!complete) return Search::changed;
    if (count == 0) return Search::none;
    const Node& victim = victims[rng.below(count)];
    incoming.to = victim.place;
    incoming.home = bucket;
    path.push_back(incoming);
    bucket = alternate(victim.home, victim.fingerprint);
    incoming = {{}, victim.fingerprint, bucket, victim.home};
    if (find_place(bucket, incoming.to)) {
      path.push_back(incoming);
      return Search::found;
    }
  }
  return Search::none;
}

template <class B, class Access>
void Core<B, Access>::lock_lines_of(const Path& path, const Key& key, Locks& locks) const {
  locks.add_line_of(key.prime);  // its overflow bit may have to be set
  for (const Move& move : path) locks.add_line_of(move.to.word);
}

/// Under the locks of its lines: every victim is where it was, the last place is still free.
template <class B, class Access>
bool Core<B, Access>::is_still(const Path& path) const {
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    const Place& place = path[i].to;
    const Move& victim = path[i + 1];
    const Word word = load(place.word);
    if (B::get(word, place.slot) != victim.fingerprint ||
        home_of(place.word, word, place.slot) != victim.old_home)
      return false;
  }
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
  put(incoming.to, incoming.fingerprint, same_word && !forget ? kOverflowBit : 0);
  flush(incoming.to.word);
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
  changes_.add(1);
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
