// SPDX-License-Identifier: Apache-2.0
// `weir filter add`, `query` and `remove`: keys go through in batches, standard output carries data
// only, what there is to say goes to standard error.
#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "weir/runtime/error.hpp"

#include "filter_commands.hpp"
#include "interrupt.hpp"
#include "key_output.hpp"
#include "key_reader.hpp"
#include "program.hpp"
#include "progress.hpp"
#include "text.hpp"

namespace weir::tool {
namespace {

using anifilter::Filter;
using anifilter::HashedKey;
using anifilter::InsertResult;
using nlohmann::ordered_json;

/// Key counts of one run.
struct Tally {
  std::uint64_t read = 0;
  std::uint64_t done = 0;             ///< added, present or removed
  std::uint64_t no_room = 0;          ///< add: the filter was full
  std::uint64_t too_many_copies = 0;  ///< add
  std::uint64_t missing = 0;          ///< remove
};

/// What the three commands do alike: parse, open, read, report.
class KeyRun {
 public:
  KeyRun(const KeyOptions& options, std::string_view command, const std::string& verb,
         bool writable)
      : options_(prepared(options)),
        command_(command),
        minimum_(parse_durability(options.durability)),
        reader_(options_.input),
        filter_(open_filter(options, writable, minimum_)),
        progress_(progress_wanted(options.progress, options.quiet), verb) {
    if (reader_.reads_terminal() && !options.quiet)
      fmt::print(stderr, "reading keys from the terminal, one a line; Ctrl-D ends\n");
  }

  bool next() {
    status_ = reader_.next(batch_);
    tally.read += batch_.size();
    return status_ == ReadStatus::keys;
  }

  /// Calls `on_integers` or `on_hashes` of the filter with the batch as that takes it.
  template <typename Call>
  void with_keys(Call call) {
    if (options_.input.format != KeyFormat::lines) {
      call(std::span<const std::uint64_t>(batch_.values));
      return;
    }
    hashes_.clear();
    for (const std::string_view key : batch_.text) hashes_.push_back(filter_.hash(key));
    call(std::span<const HashedKey>(hashes_));
  }

  void show_progress() { progress_.update(tally.done, reader_.fraction(), filter_.load_factor()); }

  /// Reports on standard error why the input ended early, if it did; gives the exit code for that,
  /// else `code`.
  int finish(int code, const std::string& so_far) {
    progress_.erase();
    if (reader_.bad_keys() > 0 && status_ != ReadStatus::malformed && !options_.quiet)
      fmt::print(stderr, "weir: skipped {} malformed {}\n", with_commas(reader_.bad_keys()),
                 reader_.bad_keys() == 1 ? "key" : "keys");
    if (status_ == ReadStatus::malformed) {
      fmt::print(stderr, "weir: {}\n{}; --skip-bad goes on after such keys\n", reader_.error(),
                 so_far);
      return kUsage;
    }
    if (status_ == ReadStatus::interrupted) {
      if (!options_.quiet)
        fmt::print(stderr, "weir: interrupted after {}: {}\n",
                   tally.read == 0 ? "no key" : reader_.position(), so_far);
      return kInterrupted;
    }
    return code;
  }

  [[nodiscard]] ordered_json summary() const {
    return {{"command", command_},
            {"path", options_.path},
            {"read", tally.read},
            {"malformed", reader_.bad_keys()},
            {"interrupted", status_ == ReadStatus::interrupted},
            {"seconds", progress_.seconds()}};
  }

  [[nodiscard]] std::string shown(std::size_t i) const {
    return options_.input.format == KeyFormat::binary ? fmt::format("{:#x}", batch_.values[i])
                                                      : in_quotes(batch_.text[i]);
  }

  [[nodiscard]] const KeyOptions& options() const { return options_; }
  [[nodiscard]] const KeyBatch& batch() const { return batch_; }
  [[nodiscard]] Filter& filter() { return filter_; }
  [[nodiscard]] double seconds() const { return progress_.seconds(); }
  [[nodiscard]] bool malformed() const { return status_ == ReadStatus::malformed; }

  Tally tally;

 private:
  static KeyOptions prepared(KeyOptions options) {
    options.input.format = parse_key_format(options.format);
    if (options.null_delimited) options.input.delimiter = '\0';
    return options;
  }

  KeyOptions options_;
  std::string_view command_;
  Durability minimum_;
  KeyReader reader_;
  Filter filter_;
  Progress progress_;
  KeyBatch batch_;
  std::vector<HashedKey> hashes_;
  ReadStatus status_ = ReadStatus::end;
};

/// "" for what took no time to speak of.
std::string duration_and_rate(std::uint64_t count, double seconds) {
  if (seconds < 0.1) return {};
  return fmt::format(", in {:.1f} s ({}/s)", seconds,
                     short_count(static_cast<double>(count) / seconds));
}

void add_batch(KeyRun& run, KeyOutput& rejects) {
  std::array<InsertResult, kBatchKeys> results{};
  const std::size_t n = run.batch().size();
  run.with_keys(
      [&](auto keys) { run.tally.done += run.filter().insert(keys, std::span(results).first(n)); });
  for (std::size_t i = 0; i < n; ++i) {
    if (results[i] == InsertResult::inserted) continue;
    ++(results[i] == InsertResult::full ? run.tally.no_room : run.tally.too_many_copies);
    rejects.write(run.batch().text[i]);
  }
}

/// Standard error: what to do when not every key went in.
void explain_rejects(const Tally& tally, const KeyOptions& options, std::uint64_t size,
                     double load) {
  if (tally.no_room > 0) {
    std::string larger = short_count(static_cast<double>(size + tally.no_room) * 1.05);
    std::erase(larger, ' ');
    fmt::print(stderr,
               "weir: {} is full (load {}): {} did not fit; what is in it is not affected.\n"
               "Make a larger filter (--capacity {}) and add all of its keys and these to it,\n"
               "or add those that did not fit to a second filter (--rejects FILE writes them).\n",
               options.path, percent(load), keys(tally.no_room), larger);
  }
  if (tally.too_many_copies > 0) {
    fmt::print(stderr,
               "weir: {} not added: their fingerprints are there as often as they can be, most\n"
               "likely since the same key was added many times. They are present.\n",
               keys(tally.too_many_copies));
  }
}

}  // namespace

int run_add(const KeyOptions& options) {
  KeyRun run(options, "add", "added", true);
  KeyOutput rejects(options.rejects, run.options());
  const InterruptGuard guard;
  while (run.next()) {
    if (run.tally.no_room == 0) {
      add_batch(run, rejects);
      run.show_progress();
    } else {
      // Each further try would search in vain, and slowly; the rest is only counted.
      run.tally.no_room += run.batch().size();
      for (const auto key : run.batch().text) rejects.write(key);
    }
  }
  rejects.flush();
  const Tally& tally = run.tally;
  const std::uint64_t size = run.filter().size();
  const double load = run.filter().load_factor();
  const Durability durability = run.filter().durability();
  run.filter().close();
  const double seconds = run.seconds();
  const bool all = tally.no_room + tally.too_many_copies == 0;
  const std::string so_far =
      fmt::format("added {} (safe from {})", keys(tally.done), safe_from(durability));
  const int code = run.finish(all ? kOk : kNo, so_far);
  if (!options.quiet) {
    explain_rejects(tally, options, size, load);
    if (code == kOk || code == kNo)
      fmt::print(stderr, "{}{}; the filter holds {}, load {}\n", so_far,
                 duration_and_rate(tally.done, seconds), with_commas(size), percent(load));
  }
  if (options.json) {
    auto summary = run.summary();
    summary.update(
        ordered_json{{"added", tally.done},
                     {"no_room", tally.no_room},
                     {"too_many_copies", tally.too_many_copies},
                     {"keys_per_second", static_cast<double>(tally.done) / std::max(seconds, 1e-9)},
                     {"size", size},
                     {"load_factor", load},
                     {"durability", to_string(durability)}});
    print_json(summary);
  }
  return code;
}

int run_query(const KeyOptions& options) {
  if (options.json && options.count) throw UsageError("--json already has the count; drop --count");
  KeyRun run(options, "query", "looked up", false);
  const bool lists = !options.json && !options.count && !options.quiet;
  KeyOutput output(lists ? "-" : "", run.options());
  std::array<bool, kBatchKeys> present{};
  std::uint64_t found = 0;
  const auto selected = [&] { return options.invert ? run.tally.read - found : found; };
  bool settled = false;
  while (!settled && run.next()) {
    const std::size_t n = run.batch().size();
    run.with_keys([&](auto keys) {
      found += std::as_const(run.filter()).contains(keys, std::span(present).first(n));
    });
    run.tally.done += n;
    for (std::size_t i = 0; lists && i < n; ++i)
      if (present[i] != options.invert) output.write(run.batch().text[i]);
    if (n < kBatchKeys) output.flush();  // somebody may be waiting at the other end
    settled = options.quiet && !options.json && selected() > 0;
    run.show_progress();
  }
  output.flush();
  const std::string so_far =
      fmt::format("{} of {} present", with_commas(found), keys(run.tally.read));
  const int code = run.finish(selected() > 0 ? kOk : kNo, so_far);
  if (options.count && !options.quiet) fmt::print("{}\n", selected());
  if (options.json) {
    auto summary = run.summary();
    summary.update(ordered_json{{"present", found},
                                {"absent", run.tally.read - found},
                                {"expected_fpr", run.filter().expected_fpr()}});
    print_json(summary);
  }
  if ((code == kOk || code == kNo) && !options.quiet && ::isatty(STDERR_FILENO) != 0)
    fmt::print(stderr, "{}\n", so_far);
  return code;
}

int run_remove(const KeyOptions& options) {
  constexpr std::uint64_t kShown = 5;
  KeyRun run(options, "remove", "removed", true);
  KeyOutput rejects(options.rejects, run.options());
  std::array<bool, kBatchKeys> removed{};
  std::string examples;
  const InterruptGuard guard;
  while (run.next()) {
    const std::size_t n = run.batch().size();
    run.with_keys([&](auto keys) {
      run.tally.done += run.filter().erase(keys, std::span(removed).first(n));
    });
    for (std::size_t i = 0; i < n; ++i) {
      if (removed[i]) continue;
      if (run.tally.missing++ < kShown) examples += (examples.empty() ? "" : ", ") + run.shown(i);
      rejects.write(run.batch().text[i]);
    }
    run.show_progress();
  }
  rejects.flush();
  const Tally& tally = run.tally;
  const std::uint64_t size = run.filter().size();
  const Durability durability = run.filter().durability();
  run.filter().close();
  const std::string so_far =
      fmt::format("removed {} (safe from {})", keys(tally.done), safe_from(durability));
  const int code = run.finish(tally.missing == 0 ? kOk : kNo, so_far);
  if (!options.quiet) {
    if (tally.missing > 0)
      fmt::print(stderr, "weir: not found: {}: {}{}\n", keys(tally.missing), examples,
                 tally.missing > kShown ? ", ... (--rejects FILE writes all of them)" : "");
    if (code == kOk || code == kNo)
      fmt::print(stderr, "{}{}; the filter holds {}\n", so_far,
                 duration_and_rate(tally.done, run.seconds()), with_commas(size));
  }
  if (options.json) {
    auto summary = run.summary();
    summary.update(ordered_json{{"removed", tally.done},
                                {"not_found", tally.missing},
                                {"size", size},
                                {"durability", to_string(durability)}});
    print_json(summary);
  }
  return code;
}

}  // namespace weir::tool
