// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_table.hpp"

#include <algorithm>
#include <cstring>

namespace weir::anifilter::trials {
namespace {

std::uint32_t fingerprint_at(Word word, const LayoutInfo& layout, unsigned slot) {
  const unsigned f = layout.fingerprint_bits;
  return static_cast<std::uint32_t>((word >> (slot * f)) & ((Word{1} << f) - 1));
}

bool is_full(Word word, const LayoutInfo& layout) {
  for (unsigned s = 0; s < layout.slots; ++s)
    if (fingerprint_at(word, layout, s) == 0) return false;
  return true;
}

bool can_spill(std::span<const Word> words, const LayoutInfo& layout, const Options& options,
               std::uint64_t bucket) {
  return options.spillable_buckets && fingerprint_at(words[right_of(bucket)], layout, 0) == 0;
}

using HomeCount = std::pair<std::uint64_t, Resident>;

std::vector<HomeCount> by_home(std::span<const Word> words, const LayoutInfo& layout) {
  std::vector<HomeCount> list;
  for (const Resident& r : decode(words, layout))
    list.emplace_back(std::uint64_t{r.home} << 32 | r.fingerprint, r);
  std::sort(list.begin(), list.end(),
            [](const HomeCount& a, const HomeCount& b) { return a.first < b.first; });
  return list;
}

}  // namespace

Image::Image(std::span<const std::byte> bytes) { assign(bytes); }

Image::Image(Bytes size)
    : blocks_((size.value + kBlockBytes - 1) / kBlockBytes), size_(size.value) {
  std::ranges::fill(bytes(), std::byte{0});
}

std::span<std::byte> Image::bytes() {
  return {reinterpret_cast<std::byte*>(blocks_.data()), size_};
}

std::span<const std::byte> Image::view() const {
  return {reinterpret_cast<const std::byte*>(blocks_.data()), size_};
}

void Image::assign(std::span<const std::byte> source) {
  blocks_.resize((source.size() + kBlockBytes - 1) / kBlockBytes);
  size_ = source.size();
  if (size_ != 0) std::memcpy(blocks_.data(), source.data(), size_);
}

void run(Filter& filter, Operation& operation) {
  const std::size_t n = operation.keys.size();
  operation.succeeded.assign(n, 0);
  if (!operation.batch) {
    for (std::size_t i = 0; i < n; ++i)
      operation.succeeded[i] = operation.kind == Operation::Kind::insert
                                   ? filter.insert(operation.keys[i]) == InsertResult::inserted
                                   : filter.erase(operation.keys[i]);
    return;
  }
  if (operation.kind == Operation::Kind::insert) {
    std::vector<InsertResult> results(n);
    filter.insert(std::span<const std::uint64_t>(operation.keys), std::span(results));
    for (std::size_t i = 0; i < n; ++i)
      operation.succeeded[i] = results[i] == InsertResult::inserted;
  } else {
    const auto results = std::make_unique<bool[]>(n);
    filter.erase(std::span<const std::uint64_t>(operation.keys), std::span(results.get(), n));
    for (std::size_t i = 0; i < n; ++i) operation.succeeded[i] = results[i];
  }
}

const char* to_string(Effect effect) {
  constexpr const char* kNames[] = {"none", "own", "spill", "secondary", "lookahead", "path"};
  return kNames[static_cast<std::size_t>(effect)];
}

EffectReport effect_of(std::span<const Word> before, std::span<const Word> after,
                       const LayoutInfo& layout, const Location& newcomer) {
  EffectReport report;
  const auto old_homes = by_home(before, layout);
  const auto new_homes = by_home(after, layout);
  std::size_t a = 0;
  std::size_t b = 0;
  std::vector<Resident> come;
  while (a < old_homes.size() || b < new_homes.size()) {
    if (b == new_homes.size() ||
        (a < old_homes.size() && old_homes[a].first < new_homes[b].first)) {
      report.moved.push_back(old_homes[a++].second);
    } else if (a == old_homes.size() || new_homes[b].first < old_homes[a].first) {
      come.push_back(new_homes[b++].second);
    } else {
      ++a;
      ++b;
    }
  }
  if (come.size() != report.moved.size() + 1) return report;
  if (!report.moved.empty()) {
    report.effect = report.moved.size() == 1 ? Effect::lookahead : Effect::path;
  } else if (come[0].home == newcomer.prime) {
    const std::uint64_t right = right_of(newcomer.prime);
    const bool spilled = (after[right] & kSpillBit) != 0 && (before[right] & kSpillBit) == 0;
    report.effect = spilled ? Effect::spill : Effect::own;
  } else {
    report.effect = Effect::secondary;
  }
  return report;
}

Effect predict(std::span<const Word> words, const LayoutInfo& layout, const Options& options,
               const Location& place) {
  if (!is_full(words[place.prime], layout)) return Effect::own;
  if (can_spill(words, layout, options, place.prime)) return Effect::spill;
  if (!is_full(words[place.secondary], layout) ||
      can_spill(words, layout, options, place.secondary))
    return Effect::secondary;
  return Effect::lookahead;
}

std::optional<std::uint64_t> Table::resident_key(Rng& rng) const {
  const auto groups = model.groups();
  for (int attempt = 0; attempt < 64 && !groups.empty(); ++attempt) {
    const KeyModel::Group& group = groups[rng.below(groups.size())];
    const std::size_t side = rng.below(2);
    for (const std::size_t s : {side, 1 - side})
      if (group.known[s] && group.least[s] > 0) return group.key[s];
  }
  return std::nullopt;
}

void Table::apply(const Operation& operation) {
  for (std::size_t i = 0; i < operation.keys.size(); ++i) {
    if (operation.succeeded[i] == 0) continue;
    const std::int32_t change = operation.kind == Operation::Kind::insert ? 1 : -1;
    model.add(operation.sides[i], change, change);
  }
}

Table make_table(Rng& rng, const TableRange& range) {
  Table table;
  Options& options = table.options;
  options.consistency = range.consistency;
  // Half of the tables have the default layout, the others any.
  options.layout = rng.below(2) == 0 ? Layout::k5x12 : kLayouts[rng.below(kLayouts.size())].layout;
  options.hash_seed = rng();
  options.buckets =
      8 * (range.least_buckets / 8 + rng.below((range.most_buckets - range.least_buckets) / 8 + 1));
  options.lookahead_eviction = range.lookahead || rng.below(8) != 0;
  options.bucket_primacy = rng.below(8) != 0;
  options.spillable_buckets = range.spillable || rng.below(4) != 0;

  table.image = Image(Filter::region_size(options));
  ImageRegion region(table.image.bytes());
  Filter filter = Filter::create(region, options);
  const double load = range.least_load + (range.most_load - range.least_load) * rng.uniform();
  const auto target = load >= 0.97
                          ? ~std::uint64_t{0}
                          : static_cast<std::uint64_t>(load * static_cast<double>(filter.slots()));
  std::vector<std::uint64_t> keys;
  const auto fill = [&] {
    while (filter.size() < target) {
      const std::uint64_t key =
          !keys.empty() && rng.below(24) == 0 ? keys[rng.below(keys.size())] : rng();
      const InsertResult result = filter.insert(key);
      if (result == InsertResult::full) break;
      if (result != InsertResult::inserted) continue;
      keys.push_back(key);
      table.model.add(filter.locate(filter.hash(key)), key);
    }
  };
  fill();
  if (rng.below(2) == 0) {
    const std::uint64_t rounds = 1 + rng.below(4);
    for (std::uint64_t round = 0; round < rounds; ++round) {
      const std::size_t victims = keys.size() / (2 + rng.below(6));
      for (std::size_t i = 0; i < victims; ++i) {
        const std::size_t at = rng.below(keys.size());
        const std::uint64_t key = keys[at];
        // A miss here would be a lost key; the model keeps it, so that the check of the base sees
        // it.
        if (filter.erase(key)) table.model.remove(filter.locate(filter.hash(key)), key);
        keys[at] = keys.back();
        keys.pop_back();
      }
      fill();
    }
  }
  return table;
}

}  // namespace weir::anifilter::trials
