// SPDX-License-Identifier: Apache-2.0
// What every image must hold after recovery:
//   no key whose insert was acknowledged (and whose erase had not begun) is missing, by the filter
//   and by the oracle; no fingerprint belongs to nobody; words are well-formed; surplus is at most
//   one an insert in flight (relaxed) or none (strict); size() is exact and verify() is content.
// Every `deep_every` states also:
//   recovering again changes nothing; inserting copies of what was in flight and then strangers to
//   FULL loses nothing, also not after one more recovery.
#include <algorithm>
#include <cstring>

#include "anifilter/trials_crash.hpp"

namespace weir::anifilter::trials {
namespace {

// Opens on the recording engine when a fault must act in recovery too.
class Opened {
 public:
  Opened(std::span<std::byte> image, Fault fault) {
    if (fault == Fault::none) {
      region_ = std::make_unique<ImageRegion>(image);
    } else {
      auto recorded = std::make_unique<RecordedRegion>(std::span<const std::byte>(image));
      recorded->recorder()->set_fault(static_cast<unsigned>(fault));
      region_ = std::move(recorded);
    }
  }
  PersistentRegion& region() { return *region_; }

 private:
  std::unique_ptr<PersistentRegion> region_;
};

}  // namespace

StateChecker::StateChecker(const Table& table, std::span<const Operation> operations,
                           const Wishes& wishes)
    : table_(&table), operations_(operations), wishes_(wishes), rng_(wishes.seed) {}

std::vector<Change> StateChecker::changes(std::span<const Operation> operations,
                                          std::span<const OperationState> states) {
  std::vector<Change> list;
  for (std::size_t id = 0; id < operations.size(); ++id) {
    const OperationState state = id < states.size() ? states[id] : OperationState::not_begun;
    if (state == OperationState::not_begun) continue;
    const Operation& operation = operations[id];
    const bool insert = operation.kind == Operation::Kind::insert;
    for (std::size_t i = 0; i < operation.keys.size(); ++i) {
      if (state == OperationState::in_flight) {
        list.push_back(insert ? Change{operation.sides[i], 0, 1}
                              : Change{operation.sides[i], -1, 0});
      } else if (operation.succeeded[i] != 0) {
        list.push_back(insert ? Change{operation.sides[i], 1, 1}
                              : Change{operation.sides[i], -1, -1});
      }
    }
  }
  return list;
}

std::uint64_t StateChecker::in_flight(std::span<const Operation> operations,
                                      std::span<const OperationState> states) {
  std::uint64_t count = 0;
  for (std::size_t id = 0; id < std::min(operations.size(), states.size()); ++id)
    if (states[id] == OperationState::in_flight && operations[id].kind == Operation::Kind::insert)
      count += operations[id].keys.size();
  return count;
}

std::string StateChecker::check_words(const Filter& filter, std::span<const Change> changes,
                                      std::uint64_t in_flight) {
  const ModelReport report = compare(filter.words(), table_->layout(), table_->model, changes,
                                     table_->options.bucket_primacy);
  if (report.missing != 0) ++false_negatives;
  if (!report.problem.empty()) return report.problem;
  most_surplus = std::max(most_surplus, report.surplus);
  const bool strict = wishes_.consistency == Consistency::strict;
  if (report.surplus > (strict ? 0 : in_flight))
    return std::to_string(report.surplus) + " surplus fingerprints with " +
           std::to_string(in_flight) + " inserts in flight";
  if (strict && report.unfindable != 0)
    return std::to_string(report.unfindable) +
           " fingerprints in a secondary bucket that no lookup will look for: neither done nor not "
           "done";
  if (report.residents > report.most)
    return std::to_string(report.residents) + " fingerprints where at most " +
           std::to_string(report.most) + " can have been inserted";
  if (filter.size() != report.residents)
    return "size() is " + std::to_string(filter.size()) + ", the words hold " +
           std::to_string(report.residents);
  const VerifyReport verified = filter.verify();
  if (!verified.ok())
    return "verify(): " + (verified.problems.empty() ? "?" : verified.problems[0]);
  return "";
}

std::string StateChecker::check_lookups(const Filter& filter, std::span<const Change> changes,
                                        bool batch) {
  std::vector<KeyModel::Group> groups(table_->model.groups().begin(), table_->model.groups().end());
  for (const Change& change : changes)
    groups[change.side.group].least[change.side.side] += change.least;
  std::vector<std::uint64_t> keys;
  keys.reserve(groups.size());
  for (const KeyModel::Group& group : groups) {
    if (group.contested) continue;
    const std::int32_t debt = std::min(group.least[0], 0) + std::min(group.least[1], 0);
    for (int side = 0; side < 2; ++side)
      if (group.least[side] + debt > 0 && group.known[side]) keys.push_back(group.key[side]);
  }
  const auto missing = [&](std::uint64_t key) {
    ++false_negatives;
    return std::string(batch ? "batched " : "") + "contains() misses key " + std::to_string(key) +
           " whose insert was acknowledged";
  };
  if (!batch) {
    for (const std::uint64_t key : keys)
      if (!filter.contains(key)) return missing(key);
    return "";
  }
  const auto found = std::make_unique<bool[]>(keys.size());
  filter.contains(std::span<const std::uint64_t>(keys), std::span(found.get(), keys.size()));
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (!found[i]) return missing(keys[i]);
  return "";
}

std::string StateChecker::check_reopened(PersistentRegion& region,
                                         std::span<const std::byte> before) {
  const Filter again = Filter::open(region);
  if (again.recovery().moves_undone != 0) return "a second recovery undoes moves once more";
  if (again.recovery().header_repaired) return "a second recovery repairs the header once more";
  if (!std::ranges::equal(std::span<const std::byte>(region.bytes()), before))
    return "a second recovery changes the image";
  return "";
}

std::string StateChecker::check_life_goes_on(PersistentRegion& region,
                                             std::span<const Change> changes) {
  Table later{table_->options, {}, table_->model};
  for (const Change& change : changes) later.model.add(change.side, change.least, change.most);
  {
    Filter filter = Filter::open(region);
    // From here the words are the truth: what a crash left may stay.
    for (const Resident& r : decode(filter.words(), table_->layout())) {
      KeyModel::Side side{};
      if (later.model.find(r.home, r.fingerprint, side))
        ++later.model.groups()[side.group].most[side.side];
    }
    const auto insert = [&](std::uint64_t key) {
      const InsertResult result = filter.insert(key);
      if (result == InsertResult::inserted) later.model.add(filter.locate(filter.hash(key)), key);
      return result;
    };
    // Copies of what moved or was in flight: a log record that recovery left live would take one
    // of them for half a move.
    const auto copies = [&](const KeyModel::Group& group) {
      for (int side = 0; side < 2; ++side)
        for (unsigned i = 0; group.known[side] && i <= table_->layout().slots; ++i)
          if (insert(group.key[side]) != InsertResult::inserted) break;
    };
    for (std::size_t i = 0; i < std::min<std::size_t>(changes.size(), 2); ++i)
      copies(later.model.groups()[changes[changes.size() - 1 - i].side.group]);
    if (!later.model.groups().empty())
      copies(later.model.groups()[rng_.below(later.model.groups().size())]);
    bool full = false;
    for (std::uint64_t i = 0; !full && i <= 2 * filter.slots(); ++i)
      full = insert(rng_()) == InsertResult::full;
    if (!full) return "the filter never gets full after recovery";
  }
  const Filter filter = Filter::open(region);
  const ModelReport report =
      compare(filter.words(), table_->layout(), later.model, {}, table_->options.bucket_primacy);
  if (report.missing != 0) ++false_negatives;
  if (!report.problem.empty()) return "filled after recovery: " + report.problem;
  const VerifyReport verified = filter.verify();
  if (!verified.ok())
    return "filled after recovery, verify(): " +
           (verified.problems.empty() ? "?" : verified.problems[0]);
  for (const KeyModel::Group& group : later.model.groups())
    for (int side = 0; side < 2; ++side)
      if (!group.contested && group.least[side] > 0 && group.least[1 - side] >= 0 &&
          group.known[side] && !filter.contains(group.key[side])) {
        ++false_negatives;
        return "filled after recovery, key " + std::to_string(group.key[side]) + " is missing";
      }
  return "";
}

std::string StateChecker::operator()(std::span<std::byte> image, const CrashPoint& point) {
  const std::uint64_t number = seen_++;
  if (kept_.size() < most_kept_ && number % keep_every_ == keep_every_ - 1)
    kept_.push_back({Image(std::span<const std::byte>(image)),
                     {point.operations.begin(), point.operations.end()}});
  const std::vector<Change> changed = changes(operations_, point.operations);
  Opened opened(image, wishes_.fault);
  PersistentRegion& region = opened.region();
  {
    const Filter filter = Filter::open(region);
    std::string problem = check_words(filter, changed, in_flight(operations_, point.operations));
    if (problem.empty()) problem = check_lookups(filter, changed, number % 8 == 7);
    if (problem.empty() && !expected_.empty() && !std::ranges::equal(filter.words(), expected_))
      problem = "recovery that was cut short and run again ends with other words";
    if (!problem.empty()) return problem;
  }
  if (wishes_.deep_every == 0 || number % wishes_.deep_every != 0) return "";
  ++deep_checks;
  const Image recovered(std::span<const std::byte>(region.bytes()));
  std::string problem = check_reopened(region, recovered.view());
  if (problem.empty()) problem = check_life_goes_on(region, changed);
  return problem;
}

}  // namespace weir::anifilter::trials
