// SPDX-License-Identifier: Apache-2.0
// An oracle for filter images that shares no code with the engine: it reads the bucket words by the
// documented format alone and knows, from a list of keys, what may and what must be in them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "weir/anifilter/filter.hpp"

namespace weir::anifilter::trials {

/// One fingerprint as it lies in the words.
struct Resident {
  std::uint32_t bucket;  ///< where it is stored
  std::uint32_t home;    ///< whose it is: `bucket`, or its left neighbour when spilled
  std::uint32_t fingerprint;
  std::uint32_t slot;

  [[nodiscard]] bool spilled() const { return bucket != home; }
};

/// Reads every fingerprint. Appends to `problems` one line for each word that the format does not
/// allow (a spill bit over an empty slot 0, bits outside slots and flags).
std::vector<Resident> decode(std::span<const Word> words, const LayoutInfo& layout,
                             std::string* problems = nullptr);

/// How many fingerprints of one kind there must and may be.
struct Bounds {
  std::int32_t least = 0;
  std::int32_t most = 0;
};

/// A multiset of keys, kept as the filter can tell them apart: keys with the same fingerprint and
/// the same pair of buckets are one group, whose two sides are the buckets (the prime bucket of a
/// key may be the secondary bucket of its group fellow).
class KeyModel {
 public:
  struct Group {
    std::uint32_t bucket[2] = {0, 0};
    std::uint32_t fingerprint = 0;
    std::int32_t least[2] = {0, 0};  ///< keys of that prime bucket that must be there
    std::int32_t most[2] = {0, 0};   ///< keys of that prime bucket that may be there
    /// One of its keys may have been erased before it was inserted, which takes the copy of a
    /// fellow: only the number of copies is known.
    bool contested = false;
    bool vague = false;             ///< a crash left more or less, and nobody knows of which side
    std::uint64_t key[2] = {0, 0};  ///< a key of each side, if `known`
    bool known[2] = {false, false};
  };
  struct Side {
    std::uint32_t group;
    std::uint32_t side;
  };

  explicit KeyModel(std::size_t expected_groups = 512);

  /// The group and side of a key, made if new.
  Side side_of(const Location& location, std::uint64_t key);
  /// As above; the group must have been made before.
  [[nodiscard]] bool find(std::uint32_t bucket, std::uint32_t fingerprint, Side& out) const;

  void contest(std::uint32_t group) { groups_[group].contested = true; }
  void add(Side s, std::int32_t least, std::int32_t most) {
    groups_[s.group].least[s.side] += least;
    groups_[s.group].most[s.side] += most;
  }
  void add(const Location& location, std::uint64_t key) { add(side_of(location, key), 1, 1); }
  void remove(const Location& location, std::uint64_t key) { add(side_of(location, key), -1, -1); }

  /// After a crash: what is there is there. Doubt about operations in flight ends as room between
  /// what must be there and what was found.
  void settle(std::span<const Resident> residents);

  [[nodiscard]] std::span<const Group> groups() const { return groups_; }
  [[nodiscard]] std::span<Group> groups() { return groups_; }

 private:
  [[nodiscard]] std::size_t probe(std::uint64_t tag) const;
  void put(std::uint64_t tag, Side s);

  struct Cell {
    std::uint64_t tag = 0;  // 0: empty; fingerprints are never 0
    Side side{0, 0};
  };
  std::vector<Cell> cells_;
  std::vector<Group> groups_;
  std::size_t used_ = 0;
};

/// What an image holds, compared with what `model` says.
struct ModelReport {
  std::string problem;           ///< "" or the first thing that is wrong
  std::uint64_t residents = 0;   ///< fingerprints stored
  std::uint64_t missing = 0;     ///< keys that must be there and are not, or are not findable
  std::uint64_t surplus = 0;     ///< fingerprints beyond what any group may hold
  std::uint64_t strangers = 0;   ///< fingerprints that belong to no key at all
  std::uint64_t most = 0;        ///< fingerprints that the model allows in all
  std::uint64_t unfindable = 0;  ///< fingerprints in a secondary bucket, with no overflow bit
                                 ///< behind which a lookup would look for them
};

/// Counts residents by group and checks: no key missing, each key findable by the documented lookup
/// (prime bucket, and the secondary only over an overflow bit, unless the filter was made without
/// bucket primacy), no stranger, no malformed word. Surplus (also the unfindable kind) is counted,
/// not judged. `changes` adjusts the model's bounds (by group and side).
struct Change {
  KeyModel::Side side;
  std::int32_t least;
  std::int32_t most;
};
ModelReport compare(std::span<const Word> words, const LayoutInfo& layout, const KeyModel& model,
                    std::span<const Change> changes = {}, bool primacy = true);

/// The documented lookup of `place` on raw words.
bool oracle_contains(std::span<const Word> words, const LayoutInfo& layout, const Location& place);

}  // namespace weir::anifilter::trials
