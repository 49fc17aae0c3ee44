// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_oracle.hpp"

#include <algorithm>
#include <bit>

namespace weir::anifilter::trials {
namespace {

constexpr unsigned kSpill = 60;
constexpr unsigned kOverflow = 61;

bool bit(Word word, unsigned position) { return ((word >> position) & 1) != 0; }

std::uint32_t ring_left(std::uint32_t bucket) { return bucket / 8 * 8 + (bucket + 7) % 8; }
std::uint32_t ring_right(std::uint32_t bucket) { return bucket / 8 * 8 + (bucket + 1) % 8; }

std::uint32_t slot_of(Word word, const LayoutInfo& layout, unsigned slot) {
  const unsigned f = layout.fingerprint_bits;
  return static_cast<std::uint32_t>((word >> (slot * f)) & ((Word{1} << f) - 1));
}

std::uint64_t tag_of(std::uint64_t bucket, std::uint64_t fingerprint) {
  return bucket << 24 | fingerprint;
}

// Calls visit(resident) for each fingerprint; appends malformed words to `problems`.
template <class Visit>
void for_each_resident(std::span<const Word> words, const LayoutInfo& layout, std::string* problems,
                       Visit&& visit) {
  const unsigned used = layout.slots * layout.fingerprint_bits;
  const Word allowed = (((Word{1} << used) - 1)) | Word{1} << kSpill | Word{1} << kOverflow;
  for (std::uint32_t b = 0; b < words.size(); ++b) {
    const Word word = words[b];
    const bool spilled = bit(word, kSpill);
    if (problems != nullptr) {
      if ((word & ~allowed) != 0)
        *problems += "bucket " + std::to_string(b) + " has bits outside slots and flags; ";
      if (spilled && slot_of(word, layout, 0) == 0)
        *problems += "bucket " + std::to_string(b) + " has the spill bit over an empty slot 0; ";
    }
    for (unsigned s = 0; s < layout.slots; ++s) {
      const std::uint32_t fingerprint = slot_of(word, layout, s);
      if (fingerprint == 0) continue;
      visit(Resident{b, s == 0 && spilled ? ring_left(b) : b, fingerprint, s});
    }
  }
}

}  // namespace

std::vector<Resident> decode(std::span<const Word> words, const LayoutInfo& layout,
                             std::string* problems) {
  std::vector<Resident> residents;
  residents.reserve(words.size() * layout.slots);
  for_each_resident(words, layout, problems, [&](const Resident& r) { residents.push_back(r); });
  return residents;
}

bool oracle_contains(std::span<const Word> words, const LayoutInfo& layout, const Location& place) {
  const auto in = [&](std::uint64_t home) {
    const auto b = static_cast<std::uint32_t>(home);
    const Word own = words[b];
    for (unsigned s = bit(own, kSpill) ? 1 : 0; s < layout.slots; ++s)
      if (slot_of(own, layout, s) == place.fingerprint) return true;
    const Word right = words[ring_right(b)];
    return bit(right, kSpill) && slot_of(right, layout, 0) == place.fingerprint;
  };
  return in(place.prime) || (bit(words[place.prime], kOverflow) && in(place.secondary));
}

KeyModel::KeyModel(std::size_t expected_groups)
    : cells_(std::bit_ceil(std::max<std::size_t>(expected_groups, 8) * 4)) {
  groups_.reserve(expected_groups);
}

std::size_t KeyModel::probe(std::uint64_t tag) const {
  std::size_t at = (tag * 0x9E3779B97F4A7C15u >> 20) & (cells_.size() - 1);
  while (cells_[at].tag != 0 && cells_[at].tag != tag) at = (at + 1) & (cells_.size() - 1);
  return at;
}

void KeyModel::put(std::uint64_t tag, Side s) {
  if ((used_ + 1) * 2 > cells_.size()) {
    std::vector<Cell> old(cells_.size() * 2);
    old.swap(cells_);
    for (const Cell& cell : old)
      if (cell.tag != 0) cells_[probe(cell.tag)] = cell;
  }
  cells_[probe(tag)] = {tag, s};
  ++used_;
}

bool KeyModel::find(std::uint32_t bucket, std::uint32_t fingerprint, Side& out) const {
  const Cell& cell = cells_[probe(tag_of(bucket, fingerprint))];
  out = cell.side;
  return cell.tag != 0;
}

KeyModel::Side KeyModel::side_of(const Location& location, std::uint64_t key) {
  const auto prime = static_cast<std::uint32_t>(location.prime);
  const auto secondary = static_cast<std::uint32_t>(location.secondary);
  Side side{};
  if (!find(prime, location.fingerprint, side)) {
    side = {static_cast<std::uint32_t>(groups_.size()), 0};
    Group group;
    group.bucket[0] = prime;
    group.bucket[1] = secondary;
    group.fingerprint = location.fingerprint;
    groups_.push_back(group);
    put(tag_of(prime, location.fingerprint), side);
    put(tag_of(secondary, location.fingerprint), {side.group, 1});
  }
  Group& group = groups_[side.group];
  group.key[side.side] = key;
  group.known[side.side] = true;
  return side;
}

namespace {

// An erase may have been paid by a key that was itself in flight, or by a key of the other side.
void pay_debts(std::int32_t (&least)[2]) {
  for (int side = 0; side < 2; ++side) {
    if (least[side] >= 0) continue;
    least[1 - side] = std::max(0, least[1 - side] + least[side]);
    least[side] = 0;
  }
}

}  // namespace

void KeyModel::settle(std::span<const Resident> residents) {
  for (Group& group : groups_) {
    pay_debts(group.least);
    group.vague = true;
    group.most[0] = group.most[1] = 0;
  }
  for (const Resident& r : residents) {
    Side side{};
    if (find(r.home, r.fingerprint, side)) ++groups_[side.group].most[side.side];
  }
  for (Group& group : groups_)
    if (group.most[0] == group.least[0] && group.most[1] == group.least[1]) group.vague = false;
}

ModelReport compare(std::span<const Word> words, const LayoutInfo& layout, const KeyModel& model,
                    std::span<const Change> changes, bool primacy) {
  ModelReport report;
  const auto complain = [&](std::string text) {
    if (report.problem.empty()) report.problem = std::move(text);
  };
  std::vector<KeyModel::Group> groups(model.groups().begin(), model.groups().end());
  for (const Change& change : changes) {
    groups[change.side.group].least[change.side.side] += change.least;
    groups[change.side.group].most[change.side.side] += change.most;
  }
  std::vector<std::int32_t> found(groups.size() * 2);
  std::string malformed;
  for_each_resident(words, layout, &malformed, [&](const Resident& r) {
    ++report.residents;
    KeyModel::Side side{};
    if (model.find(r.home, r.fingerprint, side)) {
      ++found[side.group * 2 + side.side];
    } else {
      ++report.strangers;
      complain("a fingerprint that belongs to no key: " + std::to_string(r.fingerprint) +
               " of bucket " + std::to_string(r.home) + " in bucket " + std::to_string(r.bucket));
    }
  });
  if (!malformed.empty()) complain(malformed);

  for (std::size_t g = 0; g < groups.size(); ++g) {
    const KeyModel::Group& group = groups[g];
    std::int32_t least[2] = {group.least[0], group.least[1]};
    pay_debts(least);
    const std::int32_t total = found[g * 2] + found[g * 2 + 1];
    const std::int32_t most = std::max(group.most[0] + group.most[1], 0);
    report.most += static_cast<std::uint64_t>(most);
    if (total > most) report.surplus += static_cast<std::uint64_t>(total - most);
    if (total < least[0] + least[1]) {
      report.missing += static_cast<std::uint64_t>(least[0] + least[1] - total);
      complain("a key is missing: fingerprint " + std::to_string(group.fingerprint) +
               " of buckets " + std::to_string(group.bucket[0]) + " and " +
               std::to_string(group.bucket[1]) + ": must be there " +
               std::to_string(least[0] + least[1]) + " times, is there " + std::to_string(total) +
               " times");
    }
    for (std::size_t side = 0; side < 2; ++side) {
      // More here than have this prime bucket: some are here in their secondary one.
      const std::int32_t guests = found[g * 2 + side] - group.most[side];
      if (guests > 0 && !group.vague && !group.contested && primacy &&
          !bit(words[group.bucket[1 - side]], kOverflow))
        report.unfindable += static_cast<std::uint64_t>(guests);
      if (found[g * 2 + side] >= least[side] || group.contested || !primacy ||
          bit(words[group.bucket[side]], kOverflow))
        continue;
      ++report.missing;
      complain("a key cannot be found: fingerprint " + std::to_string(group.fingerprint) +
               " of prime bucket " + std::to_string(group.bucket[side]) +
               " is in its secondary bucket without an overflow bit");
    }
  }
  return report;
}

}  // namespace weir::anifilter::trials
