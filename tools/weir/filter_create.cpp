// SPDX-License-Identifier: Apache-2.0
// `weir filter create`.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "weir/runtime/error.hpp"

#include "filter_commands.hpp"
#include "program.hpp"
#include "text.hpp"

namespace weir::tool {
namespace {

using anifilter::Consistency;
using anifilter::Filter;
namespace fs = std::filesystem;

anifilter::Layout parse_layout_option(const std::string& text) {
  if (const auto layout = anifilter::parse_layout(text)) return *layout;
  std::vector<std::string> names;
  for (const auto& layout : anifilter::kLayouts) names.emplace_back(layout.name);
  unknown_value("--layout", text, names);
}

Consistency parse_consistency(const std::string& text) {
  if (text == "relaxed") return Consistency::relaxed;
  if (text == "strict") return Consistency::strict;
  unknown_value("--consistency", text, {"relaxed", "strict"});
}

std::uint64_t parse_seed(const std::string& text) {
  if (text == "random") {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }
  if (const auto seed = parse_integer(text)) return *seed;
  throw UsageError(fmt::format(
      "--seed is '{}'; allowed is a decimal or 0x-hexadecimal number below 2^64, or 'random'",
      text));
}

/// The most buckets whose file takes no more than `bytes`.
std::uint64_t buckets_within(std::uint64_t bytes, anifilter::Options options) {
  constexpr std::uint64_t kLine = 8;  // buckets come in lines
  options.buckets = kLine;
  const std::uint64_t smallest = Filter::region_size(options).value;
  if (bytes < smallest)
    throw UsageError(
        fmt::format("--size is {} bytes; the smallest filter takes {}", bytes, smallest));
  options.buckets = 2 * kLine;
  const std::uint64_t line_bytes = Filter::region_size(options).value - smallest;
  return kLine * (1 + (bytes - smallest) / line_bytes);
}

anifilter::Options structure(const CreateOptions& options) {
  const int sizes =
      int{!options.capacity.empty()} + int{!options.size.empty()} + int{!options.buckets.empty()};
  if (sizes != 1)
    throw UsageError(
        fmt::format("{} of --capacity, --size and --buckets {} given; exactly one "
                    "says how large the filter is, such as --capacity 10M",
                    sizes == 0 ? "none" : "more than one", sizes == 0 ? "was" : "were"));
  anifilter::Options result;
  result.layout = parse_layout_option(options.layout);
  result.consistency = parse_consistency(options.consistency);
  result.max_load = parse_fraction("--max-load", options.max_load);
  result.hash_seed = parse_seed(options.seed);
  if (!options.capacity.empty()) result.capacity = parse_count("--capacity", options.capacity);
  if (!options.buckets.empty()) result.buckets = parse_count("--buckets", options.buckets);
  if (!options.size.empty())
    result.buckets = buckets_within(parse_count("--size", options.size), result);
  return result;
}

/// Only a filter may be replaced: nobody means `--force` to overwrite a thesis.
void expect_filter(const std::string& path) {
  constexpr std::string_view kMagic = "WEIRANIF";
  constexpr std::streamoff kSecondCopy = 2048;
  std::ifstream file(path, std::ios::binary);
  for (const std::streamoff offset : {std::streamoff{0}, kSecondCopy}) {
    std::string magic(kMagic.size(), '\0');
    file.clear();
    if (file.seekg(offset) && file.read(magic.data(), std::ssize(magic)) && magic == kMagic) return;
  }
  throw IoError(
      fmt::format("{} is not a filter, so --force does not replace it; remove it or "
                  "choose another name",
                  path));
}

/// The new name, or that the old one is gone, must survive a power failure as well.
void sync_directory(const fs::path& path) {
  const fs::path parent = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const int fd = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw_system_error("cannot sync the directory", parent.string(), errno);
  const int failed = ::fsync(fd) != 0 ? errno : 0;
  ::close(fd);
  if (failed != 0) throw_system_error("cannot sync the directory", parent.string(), failed);
}

/// Makes the new filter beside the old one, and lets it take the name when it is complete. The old
/// one is open for writing meanwhile, so nobody else changes it (Busy if somebody does).
Filter replace(const fs::path& path, const anifilter::Options& structure,
               const RegionOptions& region) {
  expect_filter(path.string());
  const auto old = open_region(path);
  fs::path beside = path;
  beside += ".replacing";
  std::error_code ignored;  // usually it is not there; if it cannot be removed, create says so
  fs::remove(beside, ignored);
  Filter::create(beside, structure, region).close();
  fs::rename(beside, path);
  sync_directory(path);
  anifilter::OpenOptions open;
  open.region = region;
  return Filter::open(path, open);
}

}  // namespace

int run_create(const CreateOptions& options) {
  const anifilter::Options wanted = structure(options);
  RegionOptions region;
  region.minimum = parse_durability(options.durability);
  const bool there = fs::exists(fs::symlink_status(options.path));
  if (there && !options.force)
    throw IoError(
        fmt::format("{} exists; --force replaces a filter, or choose another name", options.path));
  Filter filter = there ? replace(fs::canonical(options.path), wanted, region)
                        : Filter::create(options.path, wanted, region);
  const auto stored = filter.options();
  const auto slots = filter.slots();
  const auto bytes = Filter::region_size(stored);
  const auto durability = filter.durability();
  const auto holds = static_cast<std::uint64_t>(static_cast<double>(slots) * wanted.max_load);
  filter.close();
  const auto& layout = anifilter::info(stored.layout);
  if (options.json) {
    print_json({{"command", "create"},
                {"path", options.path},
                {"layout", layout.name},
                {"consistency", options.consistency},
                {"hash_seed", stored.hash_seed},
                {"buckets", stored.buckets},
                {"slots", slots},
                {"capacity", holds},
                {"bytes", bytes.value},
                {"durability", to_string(durability)},
                {"replaced", there}});
  } else if (!options.quiet) {
    fmt::print("{} {}: {} slots of {} bits, {}\n", there ? "replaced" : "created", options.path,
               with_commas(slots), layout.fingerprint_bits, to_string(bytes));
    fmt::print("holds {} at {} load; what is added survives {}\n", keys(holds),
               percent(wanted.max_load), safe_from(durability));
    if (options.seed == "random") fmt::print("hash seed {:#018x}\n", stored.hash_seed);
  }
  return kOk;
}

}  // namespace weir::tool
