// SPDX-License-Identifier: Apache-2.0
// One benchmark iteration is one chunk of keys on a table of a given load. Before the load has
// moved by 1 %, the table is put back; neither that nor the making of keys is timed.
#include <benchmark/benchmark.h>

#include "anifilter/ops.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

constexpr std::size_t kOpsChunk = 1024;

enum class Op { insert, contains_absent, contains_present, erase };

const char* to_string(Op op) {
  switch (op) {
    case Op::insert:
      return "insert";
    case Op::contains_absent:
      return "contains_absent";
    case Op::contains_present:
      return "contains_present";
    case Op::erase:
      return "erase";
  }
  return "?";
}

struct Case {
  Op op;
  Form form;
  Layout layout;
  unsigned log2_slots;
  double load;
};

/// The table of a case, kept for the next one that needs the same.
class Table {
 public:
  static Table& of(const Case& wanted) {
    static std::unique_ptr<Table> last;
    if (!last || last->layout_ != wanted.layout || last->log2_slots_ != wanted.log2_slots ||
        last->load_ != wanted.load)
      last = std::make_unique<Table>(wanted);
    return *last;
  }

  explicit Table(const Case& wanted)
      : layout_(wanted.layout),
        log2_slots_(wanted.log2_slots),
        load_(wanted.load),
        keys(1),
        saved_(ours_at(load_, filter_options(log2_slots_, layout_), FlushInstruction::none, keys)),
        filter(Filter::open(*saved_.region)),
        present(filter.size()),
        window(part_of(saved_.slots, 0.01) / kOpsChunk * kOpsChunk) {}

  void restore() {
    saved_.restore();
    filter = Filter::open(*saved_.region);
  }

 private:
  Layout layout_;
  unsigned log2_slots_;
  double load_;

 public:
  Keys keys;

 private:
  Saved saved_;

 public:
  Filter filter;
  std::uint64_t present;
  std::uint64_t window;  ///< keys that an operation may add or remove before restore()
};

/// Number of successes.
std::size_t run_chunk(Filter& filter, const Case& c, std::span<const std::uint64_t> keys) {
  std::array<bool, kBatch> flags;
  std::size_t done = 0;
  switch (c.op) {
    case Op::insert:
      return insert_keys(filter, keys, c.form) ? keys.size() : 0;
    case Op::contains_absent:
    case Op::contains_present:
      if (c.form == Form::batched) return look_up_keys(filter, keys, kBatch);
      for (const std::uint64_t key : keys) done += filter.contains(key);
      return done;
    case Op::erase:
      if (c.form == Form::single)
        for (const std::uint64_t key : keys) done += filter.erase(key);
      else
        for (std::size_t i = 0; i < keys.size(); i += kBatch)
          done += filter.erase(keys.subspan(i, kBatch), flags);
      return done;
  }
  return 0;
}

void run_case(benchmark::State& state, const Case& c) {
  Table& table = Table::of(c);
  table.restore();
  const bool changes = c.op == Op::insert || c.op == Op::erase;
  std::array<std::uint64_t, kOpsChunk> chunk;
  Rng rng(1);
  std::uint64_t next = 0;
  for (auto _ : state) {
    if (changes && next == table.window) {
      table.restore();
      next = 0;
    }
    for (std::uint64_t& key : chunk) {
      switch (c.op) {
        case Op::insert:
          key = table.keys.present(table.present + next++);
          break;
        case Op::contains_absent:
          key = table.keys.absent(next++);
          break;
        case Op::contains_present:
          key = table.keys.present(rng.below(table.present));
          break;
        case Op::erase:
          key = table.keys.present(next++);
          break;
      }
    }
    CpuTimer timer;
    timer.start();
    const std::size_t done = run_chunk(table.filter, c, chunk);
    timer.stop();
    state.SetIterationTime(timer.seconds());
    if (c.op != Op::contains_absent && done != chunk.size()) {
      state.SkipWithError("wrong result: an operation that must succeed did not");
      break;
    }
  }
  table.restore();
  state.counters["ops"] = benchmark::Counter(static_cast<double>(state.iterations()) * kOpsChunk,
                                             benchmark::Counter::kIsRate);
}

void register_case(const Case& c) {
  const std::string name =
      text("%s/%s/%s/2^%u/load:%.2f", to_string(c.op), c.form == Form::single ? "single" : "batch",
           std::string(info(c.layout).name).c_str(), c.log2_slots, c.load);
  benchmark::RegisterBenchmark(name.c_str(), [c](benchmark::State& state) { run_case(state, c); })
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

}  // namespace

void register_filter_ops() {
  const auto register_table = [](Layout layout, unsigned log2_slots) {
    for (const double load : {0.5, 0.75, 0.9, 0.95})
      for (const Op op : {Op::insert, Op::contains_absent, Op::contains_present, Op::erase})
        for (const Form form : {Form::single, Form::batched})
          register_case({op, form, layout, log2_slots, load});
  };
  for (const auto& layout : anifilter::kLayouts) register_table(layout.layout, 20);
  register_table(Layout::k5x12, 24);
}

}  // namespace weir::bench
