// SPDX-License-Identifier: Apache-2.0
// Finds operations of a wanted kind for a table, and operations that get in their way.
#pragma once
#include <optional>
#include <vector>

#include "anifilter/trials_crash.hpp"

namespace weir::anifilter::trials {

/// Erases that were planned for one run, by group and side of the table's model.
using PlannedErases = std::vector<std::int32_t>;

/// A scratch copy of a table, on which operations are tried one after the other.
class Finder {
 public:
  /// `table` gets the sides of new keys in its model (with no keys of them). Finders of one run
  /// share `erases`, so that none plans to erase a key once too often. All must outlive this.
  Finder(Table& table, Rng& rng, PlannedErases& erases);

  /// The next operation of this kind, done on the scratch copy. Operations tried on the way that
  /// turned out to be of another kind are undone. Nothing when none was found in a while.
  std::optional<Operation> find(CellKind kind);

  /// An operation likely to collide with `first`, an operation that find() gave: same keys, same
  /// buckets, same lines, the victims of its evictions. Not done on the scratch copy.
  Operation rival(const Operation& first);

  /// Does an operation on the scratch copy; false if that has no room for all of its keys.
  bool accepts(Operation operation);

  [[nodiscard]] std::span<const Word> words() const { return filter_->words(); }
  /// Where residents were that the operations found so far have moved.
  [[nodiscard]] std::span<const Resident> moved() const { return moved_; }
  [[nodiscard]] Location locate(std::uint64_t key) const;
  /// One-key operation with its side filled in.
  Operation make(Operation::Kind kind, std::uint64_t key);
  /// Adds keys (of any effect) to the table itself, before any operation was found; false when
  /// full.
  bool grow(std::uint64_t keys);

 private:
  void reopen();
  void undo();
  std::optional<Operation> find_insert(Effect wanted);
  std::optional<Operation> find_batch();
  std::optional<Operation> find_erase();
  std::optional<std::uint64_t> key_near(const Location& place);
  bool take(std::uint64_t key);

  Table* table_;
  Rng* rng_;
  PlannedErases* erases_;
  Image image_;
  std::optional<ImageRegion> region_;
  std::optional<Filter> filter_;
  std::vector<Word> before_;
  Image saved_;
  std::vector<Resident> moved_;  // by the inserts found so far
};

}  // namespace weir::anifilter::trials
