// SPDX-License-Identifier: Apache-2.0
#include "anifilter/engine.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "weir/runtime/error.hpp"
#include "weir/runtime/workers.hpp"

namespace weir::anifilter {
namespace {

constexpr std::uint64_t kSample = std::uint64_t{1} << 16;

Word slot_of(const LayoutInfo& layout, Word word, unsigned slot) {
  return word >> (slot * layout.fingerprint_bits) & ((Word{1} << layout.fingerprint_bits) - 1);
}

}  // namespace

Engine::Engine(RegionHolder region, const PoolHeader& header)
    : region_(std::move(region)),
      header_(header),
      options_(options_of(header)),
      geometry_(header.buckets, header.hash_seed),
      words_(reinterpret_cast<Word*>(region_.region->bytes().data() + header.table_offset)),
      stripes_(header.buckets / kWordsPerLine),
      occupancy_(
          std::make_unique<std::uint8_t[]>(header.buckets / kWordsPerLine + kOccupancyPadding)),
      kernels_(anifilter::kernels(options_.layout, active_isa())),
      writable_(region_.region->writable()) {}

void Engine::throw_not_writable() const {
  if (failed_)
    throw IoError(region().name() +
                  ": an earlier write could not be made durable; close the filter, mend the medium "
                  "and open it again");
  throw Unsupported(region().name() + ": the filter is open for reading only; open it for writing");
}

ScanTotals Engine::scan(std::size_t threads, std::uint8_t* occupancy) const {
  std::vector<ScanTotals> parts(threads);
  const auto body = [&](std::size_t begin, std::size_t end, std::size_t worker) {
    parts[worker] = kernels_.scan(words_ + begin * kWordsPerLine, end - begin,
                                  options_.spillable_buckets, occupancy + begin);
  };
  if (threads == 1)
    body(0, lines(), 0);
  else
    Workers(threads).for_ranges(lines(), body);
  ScanTotals totals;
  for (const ScanTotals& part : parts) totals += part;
  return totals;
}

double false_positive_rate(double compared, unsigned fingerprint_bits) {
  const double values = std::ldexp(1.0, static_cast<int>(fingerprint_bits)) - 1;
  return -std::expm1(compared * std::log1p(-1 / values));
}

double Engine::sample_exposed_fraction() const {
  const LayoutInfo& layout = info(options_.layout);
  const std::uint64_t step = std::max<std::uint64_t>(1, options_.buckets * layout.slots / kSample);
  std::uint64_t seen = 0;
  std::uint64_t exposed = 0;
  for (std::uint64_t b = 0; b < options_.buckets; b += step) {
    const Word word = __atomic_load_n(words_ + b, __ATOMIC_RELAXED);
    for (unsigned s = 0; s < layout.slots; ++s) {
      const Word fingerprint = slot_of(layout, word, s);
      if (fingerprint == 0) continue;
      const std::uint64_t home = s == 0 && (word & kSpillBit) != 0 ? left_of(b) : b;
      const std::uint64_t other =
          geometry_.alternate(home, static_cast<std::uint32_t>(fingerprint));
      ++seen;
      exposed += (__atomic_load_n(words_ + other, __ATOMIC_RELAXED) & kOverflowBit) != 0;
    }
  }
  return seen == 0 ? 0 : static_cast<double>(exposed) / static_cast<double>(seen);
}

double Engine::expected_fpr() const {
  const LayoutInfo& layout = info(options_.layout);
  const double load = static_cast<double>(size()) / static_cast<double>(slots());
  return false_positive_rate(load * layout.slots * (1 + sample_exposed_fraction()),
                             layout.fingerprint_bits);
}

Stats Engine::stats() const {
  std::vector<std::uint8_t> occupancy(lines());
  // Threads may be writing: word by word with atomic loads, which loads of vectors are not.
  const ScanTotals totals =
      anifilter::kernels(options_.layout, Isa::baseline)
          .scan(words_, lines(), options_.spillable_buckets, occupancy.data());
  const LayoutInfo& layout = info(options_.layout);
  Stats stats;
  stats.buckets = options_.buckets;
  stats.slots = slots();
  stats.size = totals.fingerprints;
  stats.load_factor = static_cast<double>(stats.size) / static_cast<double>(stats.slots);
  stats.full_buckets = totals.full;
  stats.overflowed_buckets = totals.overflowed;
  stats.spilled_fingerprints = totals.spilled;
  stats.exposed_fraction = sample_exposed_fraction();
  stats.expected_fpr = false_positive_rate(
      stats.load_factor * layout.slots * (1 + stats.exposed_fraction), layout.fingerprint_bits);
  stats.region_size = {header_.total_bytes};
  stats.bits_per_key = stats.size == 0 ? 0
                                       : static_cast<double>(header_.total_bytes * 8) /
                                             static_cast<double>(stats.size);
  stats.dram_size = {lines() + stripes_.count() * sizeof(Stripes::Word) + sizeof(Engine)};
  return stats;
}

VerifyReport Engine::verify() const {
  VerifyReport report;
  const auto problem = [&report](std::string text) {
    ++report.problem_count;
    if (report.problems.size() < 100) report.problems.push_back(std::move(text));
  };
  const LayoutInfo& layout = info(options_.layout);
  const unsigned used = layout.slots * layout.fingerprint_bits;
  const Word allowed = ((Word{1} << used) - 1) | kSpillBit | kOverflowBit;
  for (std::uint64_t b = 0; b < options_.buckets; ++b) {
    const Word word = words_[b];
    const std::string where = "bucket " + std::to_string(b) + ": ";
    if ((word & ~allowed) != 0) problem(where + "unused bits are set");
    if ((word & kSpillBit) != 0 && slot_of(layout, word, 0) == 0)
      problem(where + "spill bit is set, slot 0 is empty");
    if ((word & kSpillBit) != 0 && !options_.spillable_buckets)
      problem(where + "spill bit is set in a filter without spillable buckets");
    if ((word & kOverflowBit) == 0 && !options_.bucket_primacy)
      problem(where + "overflow bit is clear in a filter without bucket primacy");
  }
  std::vector<std::uint8_t> occupancy(lines());
  const ScanTotals totals = scan(1, occupancy.data());
  for (std::uint64_t line = 0; line < lines(); ++line)
    if (occupancy[line] != occupancy_[line])
      problem("line " + std::to_string(line) + ": occupancy flags are " +
              std::to_string(occupancy_[line]) + ", the words say " +
              std::to_string(occupancy[line]));
  if (totals.fingerprints != size())
    problem("size() is " + std::to_string(size()) + ", the words hold " +
            std::to_string(totals.fingerprints) + " fingerprints");
  for (std::size_t i = 0; i < kLogRecords; ++i)
    for (std::size_t w = 0; w < kWordsPerLine; w += 2)
      if ((log_record(i)[w] >> 63) != 0 && writable())
        problem("log record " + std::to_string(i) + " is live with no operation running");
  for (std::uint64_t i = 0; i < stripes_.count(); ++i)
    if ((stripes_.version(static_cast<std::uint32_t>(i)) & 1) != 0)
      problem("stripe " + std::to_string(i) + " is locked with no operation running");
  return report;
}

std::unique_ptr<Engine> make_engine(RegionHolder region, const PoolHeader& header) {
  if (region.region->recorder() != nullptr) return make_recording_engine(std::move(region), header);
  if (region.region->counter() != nullptr) return make_counting_engine(std::move(region), header);
  if (region.region->flush_instruction() == FlushInstruction::none)
    return make_flush_free_engine(std::move(region), header);
  return make_native_engine(std::move(region), header);
}

}  // namespace weir::anifilter
