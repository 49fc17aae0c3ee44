// SPDX-License-Identifier: Apache-2.0
// False positives against theory. A lookup compares on average m = a S (1 + v (1 - s) + s) stored
// fingerprints, so it is wrong with probability 1 - (1 - 1 / (2^f - 1))^m. Load a, the share v of
// buckets with the overflow bit and the share s of keys in their secondary bucket are measured from
// the words of the very table.
#include <cmath>

#include "anifilter/figures.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

constexpr double kLeastFalsePositives = 20'000;

/// Whether a fingerprint of this value whose home is `bucket` is stored: in one of its own slots,
/// or spilled to the first slot of the right neighbour.
bool is_stored(std::span<const Word> words, const anifilter::LayoutInfo& layout,
               std::uint64_t bucket, std::uint32_t fingerprint) {
  const Word mask = (Word{1} << layout.fingerprint_bits) - 1;
  const Word own = words[bucket];
  for (unsigned slot = (own & anifilter::kSpillBit) != 0 ? 1 : 0; slot < layout.slots; ++slot)
    if ((own >> slot * layout.fingerprint_bits & mask) == fingerprint) return true;
  const Word right = words[anifilter::right_of(bucket)];
  return (right & anifilter::kSpillBit) != 0 && (right & mask) == fingerprint;
}

struct Shares {
  double overflow = 0;   ///< v
  double secondary = 0;  ///< s
};

Shares measure_shares(const Filter& filter, const Keys& keys, std::uint64_t count) {
  const auto words = filter.words();
  const auto& layout = info(filter.options().layout);
  std::uint64_t overflowed = 0;
  for (const Word word : words) overflowed += (word & anifilter::kOverflowBit) != 0;
  std::uint64_t secondary = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto place = filter.locate(filter.hash(keys.present(i)));
    secondary += !is_stored(words, layout, place.prime, place.fingerprint);
  }
  return {static_cast<double>(overflowed) / static_cast<double>(words.size()),
          static_cast<double>(secondary) / static_cast<double>(count)};
}

void fpr_of(Layout layout, Figures& figures, const RunOptions& options) {
  const auto& facts = info(layout);
  const std::string name(facts.name);
  const Keys keys(options.seed);
  Ours ours(filter_options(20, layout));
  const std::uint64_t present = part_of(ours.filter.slots(), 0.95);
  timed_insert(ours.filter, keys, 0, present, Form::batched);

  const Shares shares = measure_shares(ours.filter, keys, present);
  const double compared = ours.filter.load_factor() * facts.slots *
                          (1 + shares.overflow * (1 - shares.secondary) + shares.secondary);
  const double values = std::pow(2.0, facts.fingerprint_bits) - 1;
  const double theory = -std::expm1(compared * std::log1p(-1 / values));
  figures.check(std::abs(ours.filter.expected_fpr() / theory - 1) < 0.03,
                "expected_fpr() of " + name + " is not what its words say");

  const auto lookups = static_cast<std::uint64_t>(
      std::max(kLeastFalsePositives / theory, static_cast<double>(std::uint64_t{1} << 22)));
  const TimedLookups result = timed_absent(ours.filter, keys, 0, lookups, kChunk);
  const double fpr = static_cast<double>(result.found) / static_cast<double>(result.lookups);
  const std::string config =
      text("%s, 2^20 slots, 95 %%, %llu false positives in %.3g lookups, v = %.3f, s = %.3f",
           name.c_str(), static_cast<unsigned long long>(result.found),
           static_cast<double>(result.lookups), shares.overflow, shares.secondary);
  figures.check(result.found >= 10'000, name + " had too few false positives for a ratio");
  figures.add({.name = "fpr_over_theory_" + name,
               .value = fpr / theory,
               .kind = Kind::counted,
               .better = Better::lower,
               .baseline = text("theory: %.4g", theory),
               .config = config});
  figures.add({.name = "fpr_" + name,
               .value = fpr,
               .unit = "",
               .kind = Kind::counted,
               .better = Better::lower,
               .config = config});
}

}  // namespace

void run_fpr_figures(Figures& figures, const RunOptions& options) {
  for (const auto& layout : anifilter::kLayouts) {
    // 2 in a million lookups of 3x20 are wrong: minutes for 20,000 of them.
    if (layout.layout == Layout::k3x20 && !options.full) continue;
    if (figures.wants("fpr_over_theory_" + std::string(layout.name)))
      fpr_of(layout.layout, figures, options);
  }
}

}  // namespace weir::bench
