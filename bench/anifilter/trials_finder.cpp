// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_finder.hpp"

#include <algorithm>

namespace weir::anifilter::trials {
namespace {

constexpr int kTriesByPrediction = 600;  // cheap: a hash and two words
constexpr int kTriesByDoing = 24;        // dear: an insert, a comparison, often an undo

}  // namespace

Finder::Finder(Table& table, Rng& rng, PlannedErases& erases)
    : table_(&table), rng_(&rng), erases_(&erases), image_(table.image) {
  reopen();
}

void Finder::reopen() {
  filter_.reset();
  region_.emplace(image_.bytes());
  filter_.emplace(Filter::open(*region_));
}

void Finder::undo() {
  filter_.reset();
  image_ = saved_;
  reopen();
}

Location Finder::locate(std::uint64_t key) const { return filter_->locate(filter_->hash(key)); }

Operation Finder::make(Operation::Kind kind, std::uint64_t key) {
  Operation operation;
  operation.kind = kind;
  operation.keys = {key};
  operation.sides = {table_->model.side_of(locate(key), key)};
  return operation;
}

bool Finder::accepts(Operation operation) {
  run(*filter_, operation);
  return operation.kind == Operation::Kind::erase ||
         std::ranges::count(operation.succeeded, 0) == 0;
}

bool Finder::grow(std::uint64_t keys) {
  bool grown = false;
  for (std::uint64_t i = 0; i < keys; ++i) {
    Operation operation = make(Operation::Kind::insert, (*rng_)());
    run(*filter_, operation);
    if (operation.succeeded[0] == 0) break;
    table_->apply(operation);
    grown = true;
  }
  table_->image = image_;
  return grown;
}

// Reserves one copy of a resident key for an erase.
bool Finder::take(std::uint64_t key) {
  const KeyModel::Side side = table_->model.side_of(locate(key), key);
  erases_->resize(table_->model.groups().size() * 2);
  std::int32_t& taken = (*erases_)[side.group * 2 + side.side];
  if (taken >= table_->model.groups()[side.group].least[side.side]) return false;
  ++taken;
  return true;
}

std::optional<Operation> Finder::find_insert(Effect wanted) {
  const Effect predicted = wanted == Effect::path ? Effect::lookahead : wanted;
  int done = 0;
  for (int i = 0; i < kTriesByPrediction && done < kTriesByDoing; ++i) {
    const std::uint64_t key = (*rng_)();
    const Location place = locate(key);
    if (predict(filter_->words(), table_->layout(), table_->options, place) != predicted) continue;
    ++done;
    before_.assign(filter_->words().begin(), filter_->words().end());
    saved_ = image_;
    Operation operation;
    operation.keys = {key};
    run(*filter_, operation);
    const EffectReport report = effect_of(before_, filter_->words(), table_->layout(), place);
    if (operation.succeeded[0] == 0) {
      done += 3;  // to find out that it is full took long
      continue;
    }
    if (report.effect != wanted) {
      undo();
      continue;
    }
    moved_.insert(moved_.end(), report.moved.begin(), report.moved.end());
    operation.sides = {table_->model.side_of(place, key)};
    return operation;
  }
  return std::nullopt;
}

std::optional<Operation> Finder::find_batch() {
  // Mostly inserts; from 2 keys to a good part of the room that is left.
  Operation operation;
  operation.batch = true;
  operation.kind = rng_->below(4) == 0 ? Operation::Kind::erase : Operation::Kind::insert;
  const std::uint64_t free = filter_->slots() - filter_->size();
  const std::uint64_t most = operation.kind == Operation::Kind::insert
                                 ? std::min<std::uint64_t>(free, rng_->below(8) == 0 ? 80 : 24)
                                 : 12;
  if (most < 2) return std::nullopt;
  const std::uint64_t n = 2 + rng_->below(most - 1);
  for (std::uint64_t i = 0; i < n; ++i) {
    std::uint64_t key = (*rng_)();
    if (operation.kind == Operation::Kind::insert) {
      // Some keys twice in one batch, and copies of what is there.
      if (i > 0 && rng_->below(12) == 0) key = operation.keys[rng_->below(i)];
      if (rng_->below(12) == 0) key = table_->resident_key(*rng_).value_or(key);
    } else {
      const auto resident = table_->resident_key(*rng_);
      if (!resident) break;
      if (!take(*resident)) continue;
      key = *resident;
    }
    operation.keys.push_back(key);
  }
  if (operation.keys.size() < 2) return std::nullopt;
  for (const std::uint64_t key : operation.keys)
    operation.sides.push_back(table_->model.side_of(locate(key), key));
  run(*filter_, operation);
  return operation;
}

std::optional<Operation> Finder::find_erase() {
  for (int i = 0; i < 32; ++i) {
    const auto key = table_->resident_key(*rng_);
    if (!key) return std::nullopt;
    if (!take(*key)) continue;
    Operation operation = make(Operation::Kind::erase, *key);
    run(*filter_, operation);
    return operation;
  }
  return std::nullopt;
}

std::optional<Operation> Finder::find(CellKind kind) {
  switch (kind) {
    case CellKind::own:
      return find_insert(Effect::own);
    case CellKind::spill:
      return find_insert(Effect::spill);
    case CellKind::secondary:
      return find_insert(Effect::secondary);
    case CellKind::lookahead:
      return find_insert(Effect::lookahead);
    case CellKind::path2:
      return find_insert(Effect::path);
    case CellKind::erase:
      return find_erase();
    case CellKind::batch:
      return find_batch();
    case CellKind::create:
    case CellKind::recovery:
      break;
  }
  return std::nullopt;
}

// A resident key stored in, or hashed to, a line that `place` touches.
std::optional<std::uint64_t> Finder::key_near(const Location& place) {
  const auto near = [&](std::uint32_t bucket) {
    return bucket / 8 == place.prime / 8 || bucket / 8 == place.secondary / 8;
  };
  for (int i = 0; i < 48; ++i) {
    const auto key = table_->resident_key(*rng_);
    if (!key) return std::nullopt;
    const Location other = locate(*key);
    if (near(static_cast<std::uint32_t>(other.prime)) ||
        near(static_cast<std::uint32_t>(other.secondary)))
      return key;
  }
  return std::nullopt;
}

Operation Finder::rival(const Operation& first) {
  const std::uint64_t key = first.keys[rng_->below(first.keys.size())];
  const Location place = locate(key);
  const auto kind_of = [&](std::uint64_t odds) {
    return rng_->below(odds) == 0 ? Operation::Kind::erase : Operation::Kind::insert;
  };
  switch (rng_->below(8)) {
    case 0: {  // the same key: a copy, or its erase, which may come too early and find nothing
      const KeyModel::Side side = table_->model.side_of(place, key);
      // Too early it would take the copy of a fellow whose prime bucket is the other one.
      const bool alone = table_->model.groups()[side.group].least[1 - side.side] == 0;
      return make(alone ? kind_of(2) : Operation::Kind::insert, key);
    }
    case 1:  // a victim of the eviction: moved while another thread wants it
    case 2: {
      for (std::size_t i = 0; i < moved_.size(); ++i) {
        const Resident& victim = moved_[rng_->below(moved_.size())];
        KeyModel::Side side{};
        if (!table_->model.find(victim.home, victim.fingerprint, side)) continue;
        const KeyModel::Group& group = table_->model.groups()[side.group];
        for (std::size_t s = 0; s < 2; ++s)
          if (group.known[s] && group.least[s] > 0)
            return make(take(group.key[s]) ? kind_of(2) : Operation::Kind::insert, group.key[s]);
      }
      [[fallthrough]];
    }
    case 3:
    case 4:
      // A key with the same prime bucket, or whose bucket is the other's secondary bucket: the two
      // share overflow bits and free slots.
      for (int i = 0; i < kTriesByPrediction; ++i) {
        const std::uint64_t other = (*rng_)();
        const Location at = locate(other);
        if (at.prime == place.prime || (i % 4 == 0 && at.prime == place.secondary) ||
            (i % 4 == 1 && at.secondary == place.secondary))
          return make(Operation::Kind::insert, other);
      }
      [[fallthrough]];
    case 5:
      if (const auto near = key_near(place); near && take(*near))
        return make(Operation::Kind::erase, *near);
      [[fallthrough]];
    case 6:
      if (const auto near = key_near(place)) return make(Operation::Kind::insert, *near);
      [[fallthrough]];
    default:
      return make(Operation::Kind::insert, (*rng_)());
  }
}

}  // namespace weir::anifilter::trials
