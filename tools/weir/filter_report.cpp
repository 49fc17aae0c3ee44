// SPDX-License-Identifier: Apache-2.0
// `weir filter stats` and `weir filter verify`.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "weir/runtime/error.hpp"

#include "filter_commands.hpp"
#include "program.hpp"
#include "text.hpp"

namespace weir::tool {
namespace {

using anifilter::Consistency;
using nlohmann::ordered_json;

std::string_view name(Consistency consistency) {
  return consistency == Consistency::strict ? "strict" : "relaxed";
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

ordered_json json_of(const anifilter::Filter& filter, const anifilter::Stats& stats) {
  const auto& options = filter.options();
  const auto& recovery = filter.recovery();
  return {{"layout", anifilter::info(options.layout).name},
          {"consistency", name(options.consistency)},
          {"hash_seed", options.hash_seed},
          {"spillable_buckets", options.spillable_buckets},
          {"lookahead_eviction", options.lookahead_eviction},
          {"bucket_primacy", options.bucket_primacy},
          {"buckets", stats.buckets},
          {"slots", stats.slots},
          {"size", stats.size},
          {"load_factor", stats.load_factor},
          {"expected_fpr", stats.expected_fpr},
          {"bits_per_key", stats.bits_per_key},
          {"full_buckets", stats.full_buckets},
          {"overflowed_buckets", stats.overflowed_buckets},
          {"spilled_fingerprints", stats.spilled_fingerprints},
          {"secondary_fraction", stats.secondary_fraction},
          {"bytes", stats.region_size.value},
          {"dram_bytes", stats.dram_size.value},
          {"region", filter.region().name()},
          {"open",
           {{"seconds", recovery.seconds},
            {"moves_undone", recovery.moves_undone},
            {"header_repaired", recovery.header_repaired}}}};
}

void line(std::string_view label, const std::string& value) {
  fmt::print("  {:<16} {}\n", label, value);
}

void print(const std::string& path, const anifilter::Filter& filter,
           const anifilter::Stats& stats) {
  const auto& options = filter.options();
  const auto& layout = anifilter::info(options.layout);
  fmt::print("{}\n", path);
  line("keys", fmt::format("{} in {} slots, load {}", with_commas(stats.size),
                           with_commas(stats.slots), percent(stats.load_factor)));
  line("wrong answers", fmt::format("{} of the keys that were never added look present (expected)",
                                    percent(stats.expected_fpr)));
  line("file",
       fmt::format("{}{}", to_string(stats.region_size),
                   stats.size == 0 ? "" : fmt::format(", {:.1f} bits a key", stats.bits_per_key)));
  line("DRAM when open", to_string(stats.dram_size));
  line("layout", fmt::format("{}: {} slots of {} bits in each of {} buckets", layout.name,
                             layout.slots, layout.fingerprint_bits, with_commas(stats.buckets)));
  line("consistency", std::string(name(options.consistency)));
  line("hash seed", fmt::format("{:#x}", options.hash_seed));
  if (!options.spillable_buckets || !options.lookahead_eviction || !options.bucket_primacy) {
    line("switched off", fmt::format("{}{}{}", options.spillable_buckets ? "" : "spilling ",
                                     options.lookahead_eviction ? "" : "lookahead ",
                                     options.bucket_primacy ? "" : "primacy"));
  }
  line("full buckets", percent(share(stats.full_buckets, stats.buckets)));
  line("overflowed", fmt::format("{} of the buckets: a lookup there reads a second line",
                                 percent(share(stats.overflowed_buckets, stats.buckets))));
  line("spilled", fmt::format("{} of the keys are in the next bucket of their line",
                              percent(share(stats.spilled_fingerprints, stats.size))));
  line("opened in", fmt::format("{:.3g} s", filter.recovery().seconds));
}

int report(const CommonOptions& options, const anifilter::VerifyReport& found) {
  if (options.json) {
    print_json({{"command", "verify"},
                {"path", options.path},
                {"ok", found.ok()},
                {"problem_count", found.problem_count},
                {"problems", found.problems}});
  } else if (!options.quiet) {
    if (found.ok()) {
      fmt::print("{}: sound\n", options.path);
    } else {
      fmt::print("{}: {} problem{}\n", options.path, with_commas(found.problem_count),
                 found.problem_count == 1 ? "" : "s");
      for (const auto& problem : found.problems) fmt::print("  {}\n", problem);
      if (found.problem_count > found.problems.size())
        fmt::print("  ... and {} more\n", with_commas(found.problem_count - found.problems.size()));
    }
  }
  return found.ok() ? kOk : kNo;
}

}  // namespace

int run_stats(const CommonOptions& options) {
  const auto filter = open_filter(options, false);
  const auto stats = filter.stats();
  if (options.json) {
    ordered_json result{{"command", "stats"}, {"path", options.path}};
    result.update(json_of(filter, stats));
    print_json(result);
  } else if (!options.quiet) {
    print(options.path, filter, stats);
  }
  return kOk;
}

int run_verify(const CommonOptions& options) {
  anifilter::VerifyReport found;
  try {
    found = open_filter(options, false).verify();
  } catch (const CorruptData& error) {
    // Opening already refused it: for this command that is an answer, not a failure.
    found.problem_count = 1;
    found.problems = {error.what()};
  }
  return report(options, found);
}

}  // namespace weir::tool
