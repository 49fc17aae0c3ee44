// SPDX-License-Identifier: Apache-2.0
// False positives against theory. A lookup compares on average m = a S (1 + v (1 - s) + s) stored
// fingerprints, so it is wrong with probability 1 - (1 - 1 / (2^f - 1))^m. Load a, the share v of
// buckets with the overflow bit and the share s of keys in their secondary bucket are measured from
// the words of the very table.
//
// That formula is 2 to 3 % low, because overflow bits and moved keys are not independent: a key in
// its secondary bucket helps to fill it, and a key whose other bucket overflowed could not move
// there. A stored fingerprint is compared once by lookups of its own bucket and, if its other
// bucket has the overflow bit, once more by lookups of that one. So exactly m = a S (1 + q), q =
// the share of stored fingerprints whose other bucket has the bit: given beside, as the exact
// theory.
#include <cmath>

#include "anifilter/figures.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

/// False positives to wait for: 0.3 % of noise, and 0.7 % where one lookup in 200,000 is wrong.
constexpr double false_positives_wanted(Layout layout) {
  return layout == Layout::k3x20 ? 20'000 : 100'000;
}

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
  double overflow = 0;    ///< v
  double secondary = 0;   ///< s
  double seen_twice = 0;  ///< q
};

Shares measure_shares(const Filter& filter, const Keys& keys, std::uint64_t count) {
  const auto words = filter.words();
  const auto& layout = info(filter.options().layout);
  const auto has_overflowed = [&](std::uint64_t bucket) {
    return (words[bucket] & anifilter::kOverflowBit) != 0;
  };
  std::uint64_t overflowed = 0;
  for (std::uint64_t bucket = 0; bucket < words.size(); ++bucket)
    overflowed += has_overflowed(bucket);
  std::uint64_t moved = 0;
  std::uint64_t seen_twice = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto place = filter.locate(filter.hash(keys.present(i)));
    const bool is_moved = !is_stored(words, layout, place.prime, place.fingerprint);
    moved += is_moved;
    seen_twice += has_overflowed(is_moved ? place.prime : place.secondary);
  }
  const auto share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  return {share(overflowed, words.size()), share(moved, count), share(seen_twice, count)};
}

/// How often a lookup that compares `compared` fingerprints on average is wrong.
double fpr_of(double compared, unsigned bits) {
  return -std::expm1(compared * std::log1p(-1 / (std::pow(2.0, bits) - 1)));
}

void measure_fpr(Layout layout, Figures& figures, const RunOptions& options) {
  const auto& facts = info(layout);
  const std::string name(facts.name);
  const Keys keys(options.seed);
  Ours ours(filter_options(20, layout));
  const std::uint64_t present = part_of(ours.filter.slots(), 0.95);
  timed_insert(ours.filter, keys, 0, present, Form::batched);

  const Shares shares = measure_shares(ours.filter, keys, present);
  const double stored = ours.filter.load_factor() * facts.slots;
  const double theory =
      fpr_of(stored * (1 + shares.overflow * (1 - shares.secondary) + shares.secondary),
             facts.fingerprint_bits);
  const double exact = fpr_of(stored * (1 + shares.seen_twice), facts.fingerprint_bits);
  figures.check(std::abs(ours.filter.expected_fpr() / theory - 1) < 0.04,
                "expected_fpr() of " + name + " is not what its words say");

  const auto lookups = static_cast<std::uint64_t>(std::max(
      false_positives_wanted(layout) / theory, static_cast<double>(std::uint64_t{1} << 22)));
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
  figures.add({.name = "fpr_over_exact_theory_" + name,
               .value = fpr / exact,
               .kind = Kind::counted,
               .better = Better::lower,
               .baseline = text("exact theory: %.4g", exact),
               .config = config + text(", q = %.3f", shares.seen_twice)});
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
      measure_fpr(layout.layout, figures, options);
  }
}

}  // namespace weir::bench
