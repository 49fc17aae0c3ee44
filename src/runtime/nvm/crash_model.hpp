// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "weir/runtime/crash_explorer.hpp"

#include "anonymous_memory.hpp"

namespace weir::detail {

/// What may be durable while a log is replayed event by event (Px86 of Raad et al., POPL'20,
/// without the ordering of flushes by locked instructions): of each line any prefix of its stores,
/// at least the part that a flush captured and a later fence of the flushing thread completed;
/// lines are independent.
///
/// Holds one image and a choice for each dirty line, and keeps both the image and its hash up to
/// date when a choice changes, at the cost of the words that change.
class CrashModel {
 public:
  /// `flushes` false: every store is durable at once (eADR).
  CrashModel(std::span<const std::byte> base, bool flushes);

  /// What an event did to the set of images that may be left.
  enum class Effect {
    same,
    more,      ///< added those that keep every store of newest_line()
    fewer,     ///< some of those before are left
    replaced,  ///< eADR: the one image is another
  };
  /// Replays the next event; all choices must be 0, and are afterwards.
  Effect apply(const CrashEvent& event);

  /// Lines with stores that may be lost; a choice is how many of them are kept, from the oldest.
  [[nodiscard]] std::size_t dirty_lines() const { return dirty_.size(); }
  [[nodiscard]] std::size_t stores(std::size_t line) const { return dirty_[line].stores.size(); }
  [[nodiscard]] std::uint64_t number(std::size_t line) const { return dirty_[line].number; }
  [[nodiscard]] std::size_t choice(std::size_t line) const { return dirty_[line].choice; }
  void choose(std::size_t line, std::size_t kept);
  /// Position of the dirty line of the last store; after Effect::more only.
  [[nodiscard]] std::size_t newest_line() const { return newest_; }

  [[nodiscard]] std::span<const std::byte> image() const { return image_.bytes(); }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  struct Store {
    std::uint64_t word;
    Word value;
    Word previous;  // of the word, when all older stores are kept
    std::uint64_t hash_change;
  };
  struct Line {
    std::uint64_t number;
    std::uint64_t durable = 0;  // how many stores were dropped from `stores` as durable
    std::vector<Store> stores;
    std::size_t choice = 0;
  };
  struct Capture {
    std::uint64_t line;
    std::uint64_t stores;  // counted from the line's first
  };

  Effect store(const CrashEvent& event);
  Effect fence(std::uint16_t thread);
  bool make_durable(const Capture& capture);
  Word* word(std::uint64_t index) { return reinterpret_cast<Word*>(image_.bytes().data()) + index; }

  AnonymousMemory image_;
  const bool flushes_;
  std::uint64_t hash_ = 0;
  std::vector<Line> dirty_;
  std::size_t newest_ = 0;
  std::unordered_map<std::uint64_t, std::size_t> position_;   // line number -> in dirty_
  std::unordered_map<std::uint64_t, std::uint64_t> durable_;  // line number -> stores, if clean
  std::vector<std::vector<Capture>> captured_;                // by thread, since its last fence
};

}  // namespace weir::detail
