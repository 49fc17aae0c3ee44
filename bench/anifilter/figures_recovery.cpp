// SPDX-License-Identifier: Apache-2.0
// From the call of open() on a filter file to the end of the first insert, everything scanned.
#include <filesystem>

#include <unistd.h>

#include "anifilter/figures.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

constexpr unsigned kLog2Slots = 26;

/// A file in memory that is gone when this is.
struct TemporaryFile {
  TemporaryFile() : path("/dev/shm/weir-bench-" + std::to_string(getpid()) + ".anifilter") {
    remove();
  }
  ~TemporaryFile() { remove(); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  void remove() {
    std::error_code ignored;  // not there is as good as removed
    std::filesystem::remove(path, ignored);
  }
  std::filesystem::path path;
};

}  // namespace

void run_recovery_figures(Figures& figures, const RunOptions& options) {
  const TemporaryFile file;
  const Keys keys(options.seed);
  std::uint64_t present = 0;
  double per_1e9 = 0;
  std::string where;
  try {
    Filter filter = Filter::create(file.path, filter_options(kLog2Slots));
    present = part_of(filter.slots(), 0.95);
    per_1e9 = 1e9 / static_cast<double>(filter.slots());
    timed_insert(filter, keys, 0, present, Form::batched);
    where = filter.region().name();
    filter.close();
  } catch (const IoError& error) {
    for (const char* name : {"recovery_seconds_per_1e9_slots", "recovery_seconds_per_1e9_slots_2t"})
      figures.skip(name, error.what());
    return;
  }

  for (const std::size_t threads : {std::size_t{1}, std::size_t{2}}) {
    std::vector<double> seconds;
    std::string pages;
    for (int sample = 0; sample < (options.full ? 15 : 5); ++sample) {
      const double begin = wall_seconds();
      Filter filter = Filter::open(file.path, {.region = {}, .recovery_threads = threads});
      const InsertResult inserted = filter.insert(keys.present(present++));
      seconds.push_back((wall_seconds() - begin) * per_1e9);
      figures.check(inserted == InsertResult::inserted, "a recovered filter takes no insert");
      figures.check(filter.recovery().buckets_scanned == filter.options().buckets,
                    "recovery did not scan every bucket");
      figures.check(filter.size() == present, "a recovered filter counts wrong");
      check_present(figures, filter, keys, present, "a recovered filter", std::uint64_t{1} << 16);
      pages = page_description(filter.words().data());
    }
    Figure figure{
        .name =
            threads == 1 ? "recovery_seconds_per_1e9_slots" : "recovery_seconds_per_1e9_slots_2t",
        .unit = "s",
        .better = Better::lower,
        .reference = "a scalar scan: 1.3 s",
        .config =
            text("5x12, 2^26 slots at 95 %% scaled to 1e9, %zu thread(s), wall clock, ", threads) +
            where + ", " + pages,
        .probe = threads == 2 ? std::optional(spin_probe()) : std::nullopt};
    figures.add(figure.over(spread_of(seconds)));
  }
}

}  // namespace weir::bench
