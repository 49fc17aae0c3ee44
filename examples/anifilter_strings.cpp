// SPDX-License-Identifier: Apache-2.0
// Byte strings in batches: prints the lines of its input that were not seen before, in this run or
// an earlier one. Usage: anifilter_strings [file of the filter] < text
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "weir/anifilter/filter.hpp"

namespace {

using weir::anifilter::Filter;
using weir::anifilter::HashedKey;
using weir::anifilter::InsertResult;

constexpr std::size_t kBatch = 64;

// [handle]
/// Prints what is new and remembers it. A line that occurs twice in one batch is printed twice.
void handle(Filter& filter, const std::vector<std::string>& lines) {
  // Batches of strings go in as hashes: hash() is what insert(string_view) would use.
  std::vector<HashedKey> keys;
  for (const auto& line : lines) keys.push_back(filter.hash(line));
  const auto seen = std::make_unique<bool[]>(keys.size());
  filter.contains(keys, {seen.get(), keys.size()});

  std::vector<HashedKey> fresh;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (seen[i]) continue;  // surely so for most; for a few only because of a false positive
    std::cout << lines[i] << '\n';
    fresh.push_back(keys[i]);
  }
  std::vector<InsertResult> results(fresh.size());
  if (filter.insert(fresh, results) != fresh.size())
    std::cerr << "the filter is full: some lines will be printed again\n";
}
// [handle]

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path path = argc > 1 ? argv[1] : "strings.weir";
  weir::anifilter::Options options;
  options.capacity = 1'000'000;
  options.layout = weir::anifilter::Layout::k4x15;  // 0.02 % false positives for 16.8 bits a key
  Filter filter = Filter::open_or_create(path, options);

  std::vector<std::string> lines;
  for (std::string line; std::getline(std::cin, line);) {
    lines.push_back(line);
    if (lines.size() < kBatch) continue;
    handle(filter, lines);
    lines.clear();
  }
  handle(filter, lines);
  std::cerr << filter.size() << " lines remembered in " << path << '\n';
  filter.close();
  return 0;
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 1;
}
