// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <ctime>

#include "anifilter/trials_crash.hpp"
#include "anifilter/trials_finder.hpp"
#include "anifilter/trials_lifecycle.hpp"

namespace weir::anifilter::trials {
namespace {

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

CrashExplorerOptions explorer_options(const CellOptions& options, std::uint64_t seed) {
  CrashExplorerOptions explorer;
  const bool many = options.kind == CellKind::batch;
  explorer.exhaustive_limit = many ? 48 : options.threads > 1 ? 256 : 4096;
  explorer.samples = many ? 32 : options.threads > 1 ? 128 : 4096;
  explorer.seed = seed;
  explorer.replay_directory = options.replay_directory;
  return explorer;
}

TableRange table_range(const CellOptions& options) {
  TableRange range;
  range.consistency = options.consistency;
  range.spillable = options.kind == CellKind::spill;
  range.lookahead = options.kind == CellKind::lookahead;
  // Two threads shall meet on the same lines.
  if (options.threads > 1) range.most_buckets = 24;
  return range;
}

// The table that a crash image recovers to, with what is not known about it as bounds.
Table recovered(const Table& before, std::span<const Operation> operations,
                StateChecker::Kept& kept) {
  Table table{before.options, std::move(kept.image), before.model};
  for (const Change& change : StateChecker::changes(operations, kept.operations))
    table.model.add(change.side, change.least, change.most);
  ImageRegion region(table.image.bytes());
  const Filter filter = Filter::open(region);
  table.model.settle(decode(filter.words(), table.layout()));
  return table;
}

}  // namespace

const char* to_string(CellKind kind) {
  constexpr const char* kNames[] = {"own",   "spill", "secondary", "lookahead", "path2",
                                    "erase", "batch", "create",    "recovery"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string name_of(const CellOptions& cell) {
  return std::string(to_string(cell.kind)) +
         (cell.consistency == Consistency::strict ? "_strict" : "_relaxed") +
         (cell.threads > 1 ? "_" + std::to_string(cell.threads) + "t" : "");
}

bool CellRun::done() const {
  return result.failures != 0 || result.recordings >= options.most_recordings ||
         (result.states >= options.states && result.tables >= options.tables);
}

void CellRun::add(const CrashResult& explored, StateChecker* checker, std::uint64_t known_states) {
  ++result.recordings;
  result.states += explored.states - std::min(known_states, explored.states);
  result.failures += explored.failures;
  if (checker != nullptr) {
    result.deep_checks += checker->deep_checks;
    result.false_negatives += checker->false_negatives;
    result.surplus = std::max(result.surplus, checker->most_surplus);
  }
  if (explored.failures == 0 || !result.first_failure.empty()) return;
  fail(explored.first_failure, 0);
  result.replay = explored.replay;
}

void CellRun::fail(const std::string& message, std::uint64_t failures) {
  result.failures += failures;
  result.first_failure = name_of(options) + ", seed " + std::to_string(options.seed) + ", table " +
                         std::to_string(result.tables) + ", recording " +
                         std::to_string(result.recordings) + ": " + message;
}

namespace {

// Operations of the wanted kind for each thread; empty when this table has none left.
std::vector<std::vector<Operation>> plan(const CellOptions& options, Table& table, Rng& rng) {
  PlannedErases erases;
  Finder finder(table, rng, erases);
  std::vector<std::vector<Operation>> threads(options.threads);
  const std::uint64_t most = options.kind == CellKind::batch ? 2 : options.threads > 1 ? 2 : 5;
  const std::uint64_t wanted = 1 + rng.below(most);
  std::optional<Operation> first;
  while (!(first = finder.find(options.kind))) {
    const auto total = table.options.buckets * table.layout().slots;
    if (options.kind == CellKind::own || options.kind == CellKind::spill) return {};
    if (!finder.grow(1 + rng.below(1 + total / 24))) return {};
  }
  threads[0].push_back(std::move(*first));
  while (threads[0].size() < wanted) {
    auto next = finder.find(options.kind);
    if (!next) break;
    threads[0].push_back(std::move(*next));
  }
  if (options.threads == 1) return threads;
  const std::uint64_t rivals = 1 + rng.below(3);
  Finder other(table, rng, erases);
  for (std::uint64_t i = 0; i < rivals; ++i) {
    std::optional<Operation> same;
    if (rng.below(3) == 0) same = other.find(options.kind);
    const Operation& first_one = threads[0][rng.below(threads[0].size())];
    Operation next = same ? std::move(*same) : finder.rival(first_one);
    // To say "full" takes thousands of reads, each a chance to switch: only now and then.
    if (finder.accepts(next) || rng.below(32) == 0) threads[1].push_back(std::move(next));
  }
  return threads;
}

// An erase that comes before its key is inserted, or once too often, may take the copy of a group
// fellow with the other prime bucket, if there is one: the caller's mistake, which two threads on
// the same keys make now and then.
void mark_contested(Table& table, std::span<const Operation> operations) {
  const auto groups = table.model.groups();
  std::vector<std::int32_t> erases(groups.size() * 2);
  std::vector<std::int32_t> copies(groups.size() * 2);
  for (std::size_t g = 0; g < groups.size(); ++g)
    for (std::size_t side = 0; side < 2; ++side) copies[g * 2 + side] = groups[g].most[side];
  for (const Operation& operation : operations)
    for (const KeyModel::Side& side : operation.sides)
      ++(operation.kind == Operation::Kind::erase ? erases : copies)[side.group * 2 + side.side];
  for (std::uint32_t g = 0; g < groups.size(); ++g)
    for (std::size_t side = 0; side < 2; ++side)
      if (erases[g * 2 + side] > groups[g].least[side] && copies[g * 2 + 1 - side] > 0)
        table.model.contest(g);
}

// An erase of a key that was certainly there must have found it.
std::string judge_erases(const Table& table, std::span<const Operation> operations) {
  std::vector<std::int32_t> left(table.model.groups().size());
  for (std::size_t g = 0; g < left.size(); ++g)
    left[g] = table.model.groups()[g].least[0] + table.model.groups()[g].least[1];
  for (const Operation& operation : operations)
    if (operation.kind == Operation::Kind::erase)
      for (const KeyModel::Side& side : operation.sides) --left[side.group];
  for (const Operation& operation : operations)
    for (std::size_t i = 0; i < operation.keys.size(); ++i)
      if (operation.kind == Operation::Kind::erase && operation.succeeded[i] == 0 &&
          !table.model.groups()[operation.sides[i].group].contested &&
          left[operation.sides[i].group] >= 0)
        return "erase misses key " + std::to_string(operation.keys[i]) + " that is there";
  return "";
}

std::string judge_live(const Filter& filter, const Table& table,
                       std::span<const Operation> operations) {
  const std::vector<OperationState> all(operations.size(), OperationState::acknowledged);
  const ModelReport report =
      compare(filter.words(), table.layout(), table.model, StateChecker::changes(operations, all),
              table.options.bucket_primacy);
  if (!report.problem.empty()) return "without a crash: " + report.problem;
  if (report.surplus != 0) return "without a crash: surplus fingerprints";
  if (filter.size() != report.residents) return "without a crash: size() is wrong";
  const VerifyReport verified = filter.verify();
  if (!verified.ok())
    return "without a crash, verify(): " + (verified.problems.empty() ? "?" : verified.problems[0]);
  return judge_erases(table, operations);
}

// Records `threads` on the table's image and explores. The table becomes what is left.
void record_and_explore(CellRun& run_state, Table& table,
                        std::vector<std::vector<Operation>> threads, bool continued, Rng& rng) {
  const CellOptions& options = run_state.options;
  std::vector<Operation> operations;
  std::vector<std::size_t> first_of;
  for (auto& list : threads) {
    first_of.push_back(operations.size());
    for (auto& operation : list) operations.push_back(std::move(operation));
  }
  // Now and then on a machine whose caches survive: there, stores persist in their global order.
  const bool caches_survive = rng.below(8) == 0;
  RecordedRegion region(table.image.view(),
                        caches_survive ? FlushInstruction::none : FlushInstruction::clwb);
  std::string problem;
  {
    Filter filter = Filter::open(region);
    region.recorder()->set_fault(static_cast<unsigned>(options.fault));
    region.recorder()->restart();
    const RecordingAccess access(region);
    unsigned done = 0;  // only the body whose turn it is runs
    const auto body = [&](std::size_t thread) {
      const std::size_t end =
          thread + 1 < first_of.size() ? first_of[thread + 1] : operations.size();
      std::vector<Word> before;
      for (std::size_t id = first_of[thread]; id < end; ++id) {
        if (options.threads == 1) before.assign(filter.words().begin(), filter.words().end());
        region.recorder()->begin(id);
        run(filter, operations[id]);
        region.recorder()->acknowledge(id);
        ++run_state.result.operations;
        if (options.threads == 1 && !run_state.is_kind(before, filter, operations[id]))
          ++run_state.result.unlike;
      }
      // A thread that ends gives its log record to the next one that asks, at a time of the
      // system's choice. Both stay until both are done, so that a seed always gives the same run.
      for (++done; done < options.threads;) access.pause();
    };
    if (options.threads == 1) {
      body(0);
    } else {
      const std::function<void()> bodies[] = {[&] { body(0); }, [&] { body(1); }};
      // From hand to hand at every few accesses, up to one thread standing still while the other
      // does a whole operation.
      run_interleaved(region, bodies, rng(), 0.4 * std::pow(0.05, rng.uniform()));
    }
    region.recorder()->set_fault(0);
    if (options.threads > 1) mark_contested(table, operations);
    problem = judge_live(filter, table, operations);
  }
  if (!problem.empty()) {
    run_state.result.false_negatives += 1;
    run_state.fail(problem);
    return;
  }
  StateChecker checker(table, operations,
                       {options.consistency, options.deep_every, options.fault, rng()});
  const bool crash_on = rng.below(4) == 0;
  if (crash_on) checker.keep(16, 3);
  CrashExplorer explorer(explorer_options(options, rng()));
  run_state.add(explorer.explore(region, std::ref(checker)), &checker, continued ? 1 : 0);
  if (run_state.done()) return;
  if (crash_on && !checker.kept().empty() && options.fault == Fault::none) {
    table = recovered(table, operations, checker.kept()[rng.below(checker.kept().size())]);
  } else {
    table.image.assign(region.bytes());
    for (const Operation& operation : operations) table.apply(operation);
  }
}

void run_operations(CellRun& run_state) {
  const CellOptions& options = run_state.options;
  const std::uint64_t quota = options.states / std::max<std::uint64_t>(options.tables, 1) + 1;
  for (std::uint64_t number = 0; !run_state.done(); ++number) {
    Rng rng(splitmix64(options.seed * 1'000'003 + number));
    Table table = make_table(rng, table_range(options));
    const std::uint64_t before = run_state.result.states;
    for (bool continued = false; !run_state.done() && run_state.result.states - before < quota;
         continued = true) {
      auto threads = plan(options, table, rng);
      if (threads.empty()) break;
      if (!continued) ++run_state.result.tables;
      record_and_explore(run_state, table, std::move(threads), continued, rng);
    }
    if (number > 200 + 100 * run_state.result.tables) {
      run_state.fail("no operation of this kind was found on " + std::to_string(number) +
                     " base tables");
    }
  }
}

}  // namespace

bool CellRun::is_kind(std::span<const Word> before, const Filter& filter,
                      const Operation& operation) const {
  if (options.kind == CellKind::erase || options.kind == CellKind::batch) return true;
  const Location place = filter.locate(filter.hash(operation.keys[0]));
  const Effect effect =
      effect_of(before, filter.words(), info(filter.options().layout), place).effect;
  return static_cast<int>(effect) == static_cast<int>(options.kind) + 1;
}

CellResult run_cell(const CellOptions& options) {
  CellRun run_state(options);
  const double start = thread_seconds();
  if (options.kind == CellKind::create)
    run_create_cell(run_state);
  else if (options.kind == CellKind::recovery)
    run_recovery_cell(run_state);
  else
    run_operations(run_state);
  run_state.result.seconds = thread_seconds() - start;
  return run_state.result;
}

std::vector<CellOptions> all_cells() {
  std::vector<CellOptions> cells;
  for (const CellKind kind : kCellKinds)
    for (const Consistency consistency : {Consistency::relaxed, Consistency::strict})
      for (const unsigned threads : {1u, 2u}) {
        if (threads > 1 && (kind == CellKind::create || kind == CellKind::recovery)) continue;
        CellOptions cell;
        cell.kind = kind;
        cell.consistency = consistency;
        cell.threads = threads;
        cell.seed = cells.size() + 1;
        cells.push_back(cell);
      }
  return cells;
}

}  // namespace weir::anifilter::trials
