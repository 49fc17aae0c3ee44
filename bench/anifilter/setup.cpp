// SPDX-License-Identifier: Apache-2.0
#include "anifilter/setup.hpp"

#include <utility>

namespace weir::bench {

anifilter::Options filter_options(unsigned log2_slots, Layout layout) {
  anifilter::Options options;
  options.layout = layout;
  options.buckets = (std::uint64_t{1} << log2_slots) / info(layout).slots / 8 * 8;
  return options;
}

cuckoo::Settings cuckoo_settings(unsigned log2_slots, std::uint64_t seed) {
  return {(std::uint64_t{1} << log2_slots) / cuckoo::kSlots, kTimedKicks, seed, false};
}

Ours::Ours(const anifilter::Options& wanted, FlushInstruction flush)
    : Ours(make_memory_region(Filter::region_size(wanted), flush), wanted) {}

Ours::Ours(std::unique_ptr<PersistentRegion> own_region, const anifilter::Options& wanted)
    : region(std::move(own_region)), options(wanted), filter(Filter::create(*region, options)) {}

Saved ours_at(double load, const anifilter::Options& options, FlushInstruction flush,
              const Keys& keys) {
  Ours ours(options);
  const std::uint64_t slots = ours.filter.slots();
  timed_insert(ours.filter, keys, 0, part_of(slots, load), Form::batched);
  const auto bytes = ours.region->bytes();
  Saved saved{make_memory_region(Bytes{bytes.size()}, flush), {bytes.begin(), bytes.end()}, slots};
  saved.restore();
  return saved;
}

Saved cuckoo_at(double load, const cuckoo::Settings& settings, FlushInstruction flush,
                const Keys& keys) {
  Theirs<cuckoo::InterleavedCuckoo<FlushFreeAccess>> theirs(settings);
  const std::uint64_t slots = theirs.filter->slots();
  timed_insert(*theirs.filter, keys, 0, part_of(slots, load), Form::batched);
  const auto bytes = theirs.region->bytes();
  Saved saved{make_memory_region(Bytes{bytes.size()}, flush), {bytes.begin(), bytes.end()}, slots};
  saved.restore();
  return saved;
}

std::string describe(const std::string& what, const PersistentRegion& region) {
  // bytes() is not const: a region hands out what may be written. Nothing is written here.
  const auto bytes = const_cast<PersistentRegion&>(region).bytes();
  static const MachineInfo machine = read_machine();
  return what + "; " + to_string(Bytes{bytes.size()}) + " in " + page_description(bytes.data()) +
         ", " + cache_description(machine, bytes.size());
}

void add_rate(Figures& figures, const std::string& name, const Rounds& rounds, std::size_t which,
              const Figure& common) {
  Figure rate = common;
  rate.name = name;
  rate.unit = "Mops";
  rate.baseline.clear();
  rate.reference.clear();
  figures.add(rate.over(rounds.rate(which)));
}

void add_ratio(Figures& figures, const std::string& name, const Rounds& rounds, std::size_t against,
               const Figure& common) {
  Figure ratio = common;
  ratio.name = name;
  figures.add(ratio.over(rounds.ratio(0, against)));
}

}  // namespace weir::bench
