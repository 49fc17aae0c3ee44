// SPDX-License-Identifier: Apache-2.0
#include "anifilter/trials_lifecycle.hpp"

#include <algorithm>

#include "weir/runtime/error.hpp"

#include "anifilter/trials_finder.hpp"

namespace weir::anifilter::trials {
namespace {

void scribble(std::span<std::byte> bytes, Rng& rng) {
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(rng());
}

// --- create -------------------------------------------------------------------------------------

// What lies in the region before: nothing, noise, or an old filter.
struct Site {
  Image image;
  std::optional<Table> old;
  Options options;  ///< of the new filter
};

Site make_site(const CellOptions& cell, Rng& rng) {
  Site site;
  site.options.consistency = cell.consistency;
  site.options.layout = kLayouts[rng.below(kLayouts.size())].layout;
  site.options.buckets = 8 * (1 + rng.below(3));
  site.options.hash_seed = rng();
  site.image = Image(Filter::region_size(site.options));
  switch (rng.below(4)) {
    case 0:
      break;
    case 1:
      scribble(site.image.bytes(), rng);
      break;
    default: {
      TableRange range;
      range.consistency = rng.below(2) == 0 ? Consistency::strict : Consistency::relaxed;
      range.most_buckets = 24;
      Table old = make_table(rng, range);
      if (old.image.bytes().size() < site.image.bytes().size()) {
        // The old filter keeps its size; the new one takes what fits in.
        site.options.buckets = old.options.buckets;
      }
      site.image = old.image;
      site.old = std::move(old);
    }
  }
  return site;
}

bool is_same(const Options& a, const Options& b) {
  return a.hash_seed == b.hash_seed && a.layout == b.layout && a.consistency == b.consistency;
}

std::string check_created(const Site& site, const Image& start, std::span<std::byte> image,
                          const CrashPoint& point, std::span<const std::uint64_t> keys) {
  const auto state = [&](std::size_t id) {
    return id < point.operations.size() ? point.operations[id] : OperationState::not_begun;
  };
  const bool must_exist = state(0) == OperationState::acknowledged;
  ImageRegion region(image);
  std::optional<Filter> filter;
  try {
    filter.emplace(Filter::open(region));
  } catch (const CorruptData& error) {
    return must_exist ? std::string("the new filter does not open: ") + error.what() : "";
  }
  const VerifyReport verified = filter->verify();
  if (!verified.ok())
    return "opens, but verify(): " + (verified.problems.empty() ? "?" : verified.problems[0]);
  if (!is_same(filter->options(), site.options)) {
    if (must_exist || !site.old || !is_same(filter->options(), site.old->options))
      return "opens as a filter that nobody made";
    const ModelReport report = compare(filter->words(), site.old->layout(), site.old->model, {},
                                       site.old->options.bucket_primacy);
    if (report.problem.empty() && report.surplus == 0) return "";
    return "opens as the old filter, damaged: " + report.problem;
  }
  static_cast<void>(start);
  std::uint64_t least = 0;
  std::uint64_t most = 0;
  for (std::size_t i = 0; i < keys.size(); ++i) {
    least += state(i + 1) == OperationState::acknowledged ? 1 : 0;
    most += state(i + 1) != OperationState::not_begun ? 1 : 0;
    if (state(i + 1) == OperationState::acknowledged && !filter->contains(keys[i]))
      return "a key inserted after create is missing";
  }
  if (filter->size() < least || filter->size() > most)
    return "the new filter holds " + std::to_string(filter->size()) + " fingerprints, not " +
           std::to_string(least) + " to " + std::to_string(most);
  for (std::uint64_t key = 1; key <= 12; ++key)
    if (filter->insert(key) == InsertResult::full) return "the new filter is full at once";
  filter.reset();
  const Filter again = Filter::open(region);
  if (again.recovery().moves_undone != 0) return "the new filter undoes moves that nobody made";
  for (std::uint64_t key = 1; key <= 12; ++key)
    if (!again.contains(key)) return "a key inserted into the new filter is missing";
  return "";
}

// --- recovery -----------------------------------------------------------------------------------

// Damages one of the two header copies, as a bad medium or a torn repair would.
void damage_header(std::span<std::byte> image, Rng& rng) {
  constexpr std::size_t kCopy = 2048;
  const std::span<std::byte> copy = image.subspan(rng.below(2) * kCopy, kCopy);
  switch (rng.below(3)) {
    case 0:
      scribble(copy, rng);
      break;
    case 1:
      std::ranges::fill(copy, std::byte{0});
      break;
    default:
      for (int i = 0; i < 4; ++i) copy[rng.below(64)] ^= static_cast<std::byte>(1u << rng.below(8));
  }
}

// Operations of some kind that leaves log records and half-done moves behind.
std::vector<Operation> disturb(Table& table, Rng& rng) {
  PlannedErases erases;
  Finder finder(table, rng, erases);
  constexpr CellKind kKinds[] = {CellKind::lookahead, CellKind::path2, CellKind::batch,
                                 CellKind::lookahead, CellKind::secondary};
  const CellKind kind = kKinds[rng.below(std::size(kKinds))];
  std::optional<Operation> operation;
  for (int i = 0; i < 40 && !(operation = finder.find(kind)); ++i)
    if (!finder.grow(1 + rng.below(8))) break;
  std::vector<Operation> operations;
  if (operation) operations.push_back(std::move(*operation));
  return operations;
}

}  // namespace

void run_create_cell(CellRun& run_state) {
  const CellOptions& options = run_state.options;
  for (std::uint64_t number = 0; !run_state.done(); ++number) {
    Rng rng(splitmix64(options.seed * 1'000'003 + number));
    const Site site = make_site(options, rng);
    std::vector<std::uint64_t> keys(2);
    for (auto& key : keys) key = rng();
    RecordedRegion region(site.image.view());
    region.recorder()->set_fault(static_cast<unsigned>(options.fault));
    region.recorder()->restart();
    region.recorder()->begin(0);
    {
      Filter filter = Filter::create(region, site.options);
      region.recorder()->acknowledge(0);
      for (std::size_t i = 0; i < keys.size(); ++i) {
        region.recorder()->begin(i + 1);
        const InsertResult result = filter.insert(keys[i]);
        region.recorder()->acknowledge(i + 1);
        if (result != InsertResult::inserted) run_state.fail("a new filter takes no key");
      }
    }
    ++run_state.result.tables;
    run_state.result.operations += 1 + keys.size();
    CrashExplorerOptions explorer_options;
    explorer_options.exhaustive_limit = 16;
    explorer_options.samples = 6;
    explorer_options.seed = rng();
    explorer_options.replay_directory = options.replay_directory;
    CrashExplorer explorer(explorer_options);
    run_state.add(explorer.explore(region,
                                   [&](std::span<std::byte> image, const CrashPoint& point) {
                                     std::string problem =
                                         check_created(site, site.image, image, point, keys);
                                     if (problem.find("missing") != std::string::npos)
                                       ++run_state.result.false_negatives;
                                     return problem;
                                   }),
                  nullptr, 0);
  }
}

void run_recovery_cell(CellRun& run_state) {
  const CellOptions& options = run_state.options;
  for (std::uint64_t number = 0; !run_state.done(); ++number) {
    Rng rng(splitmix64(options.seed * 1'000'003 + number));
    TableRange range;
    range.consistency = options.consistency;
    Table table = make_table(rng, range);
    std::vector<Operation> operations = disturb(table, rng);
    if (operations.empty()) continue;

    // Crash images of the operations, before any recovery.
    RecordedRegion disturbed(table.image.view());
    {
      Filter filter = Filter::open(disturbed);
      disturbed.recorder()->restart();
      for (std::size_t id = 0; id < operations.size(); ++id) {
        disturbed.recorder()->begin(id);
        run(filter, operations[id]);
        disturbed.recorder()->acknowledge(id);
      }
    }
    StateChecker::Wishes wishes{options.consistency, 0, Fault::none, rng()};
    StateChecker collector(table, operations, wishes);
    collector.keep(12, 1 + rng.below(4));
    CrashExplorerOptions few;
    few.exhaustive_limit = 64;
    few.samples = 32;
    few.seed = rng();
    const CrashResult base = CrashExplorer(few).explore(disturbed, std::ref(collector));
    if (base.failures != 0) {
      run_state.fail("before recovery: " + base.first_failure, base.failures);
      break;
    }
    ++run_state.result.tables;
    run_state.result.operations += operations.size();

    for (StateChecker::Kept& kept : collector.kept()) {
      if (rng.below(4) != 0) damage_header(kept.image.bytes(), rng);
      RecordedRegion region(kept.image.view());
      region.recorder()->set_fault(static_cast<unsigned>(options.fault));
      region.recorder()->begin(0);
      std::vector<Word> words;
      {
        const Filter filter = Filter::open(region);
        region.recorder()->acknowledge(0);
        words.assign(filter.words().begin(), filter.words().end());
      }
      wishes.deep_every = options.deep_every;
      wishes.fault = options.fault;
      wishes.seed = rng();
      StateChecker checker(table, operations, wishes);
      checker.expect_words(words);
      CrashExplorerOptions explorer_options;
      explorer_options.exhaustive_limit = 256;
      explorer_options.samples = 64;
      explorer_options.seed = rng();
      explorer_options.replay_directory = options.replay_directory;
      const auto check = [&](std::span<std::byte> image, const CrashPoint& point) {
        return checker(image, {point.event, kept.operations});
      };
      run_state.add(CrashExplorer(explorer_options).explore(region, check), &checker, 0);
      if (run_state.done()) break;
    }
  }
}

}  // namespace weir::anifilter::trials
