// SPDX-License-Identifier: Apache-2.0
// A filter in a file: create, insert, look up, erase, close, and find everything again after
// opening it anew. Usage: anifilter_quickstart [file]
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <vector>

#include "weir/anifilter/filter.hpp"

namespace {

using weir::anifilter::Filter;
using weir::anifilter::InsertResult;

// [fill]
void fill(const std::filesystem::path& path) {
  weir::anifilter::Options options;
  options.capacity = 1'000'000;  // keys at 95 % load; everything else has a default
  Filter filter = Filter::create(path, options);
  std::printf("created %s for %llu keys: %s, %.1f bits a key\n", path.c_str(),
              static_cast<unsigned long long>(options.capacity),
              to_string(Filter::region_size(options)).c_str(),
              8.0 * static_cast<double>(Filter::region_size(options).value) / 1e6);

  // One key: durable when insert returns. Full is an answer, not an exception.
  if (filter.insert(std::uint64_t{42}) != InsertResult::inserted) std::puts("the filter is full");
  std::printf("contains(42): %s\n", filter.contains(std::uint64_t{42}) ? "probably" : "no");

  // Many keys: a batch is faster, and durable as a whole when it returns.
  std::vector<std::uint64_t> keys(900'000);
  for (std::size_t i = 0; i < keys.size(); ++i) keys[i] = 1'000 + i;
  std::vector<InsertResult> results(keys.size());
  const std::size_t inserted = filter.insert(keys, results);
  std::printf("inserted %zu of %zu keys, load %.1f %%\n", inserted, keys.size(),
              100 * filter.load_factor());

  filter.erase(std::uint64_t{42});  // only keys that were inserted may be erased
  std::printf("erased 42, contains(42): %s\n",
              filter.contains(std::uint64_t{42}) ? "probably" : "no");
  filter.close();  // or the destructor, which cannot report an error
}
// [fill]

// [check]
int check(const std::filesystem::path& path) {
  const Filter filter = Filter::open(path);  // recovers, had the program died in the middle
  std::printf("opened again in %.1f ms: %llu keys\n", 1e3 * filter.recovery().seconds,
              static_cast<unsigned long long>(filter.size()));
  int missing = 0;
  for (std::uint64_t key = 1'000; key < 901'000; ++key) missing += filter.contains(key) ? 0 : 1;
  int wrong = 0;
  for (std::uint64_t key = 2'000'000; key < 3'000'000; ++key) wrong += filter.contains(key) ? 1 : 0;
  std::printf("%d keys missing; %.3f %% of other keys look present, %.3f %% expected\n", missing,
              wrong / 1e4, 100 * filter.expected_fpr());
  return missing == 0 ? 0 : 1;
}
// [check]

}  // namespace

int main(int argc, char** argv) try {
  const std::filesystem::path path = argc > 1 ? argv[1] : "quickstart.weir";
  std::filesystem::remove(path);
  fill(path);
  const int result = check(path);
  std::filesystem::remove(path);
  return result;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 1;
}
