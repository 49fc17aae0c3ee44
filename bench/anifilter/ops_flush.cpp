// SPDX-License-Identifier: Apache-2.0
// What durability costs before any structure is built on it: a store to a random line, its flush,
// and a fence after every so many of them.
#include <filesystem>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include "weir/runtime/cpu.hpp"

#include "anifilter/ops.hpp"
#include "anifilter/setup.hpp"

namespace weir::bench {
namespace {

constexpr Bytes kSize{std::uint64_t{64} << 20};
constexpr std::uint64_t kStores = 4096;

enum class Medium { dram, shm_file };

std::unique_ptr<PersistentRegion> make_region(Medium medium, FlushInstruction flush) {
  if (medium == Medium::dram) return make_memory_region(kSize, flush);
  const std::filesystem::path path = "/dev/shm/weir-ops-" + std::to_string(getpid());
  RegionOptions options;
  options.flush = flush;
  // Never published, so the file goes with the region.
  return create_mmap_region(path, kSize, options);
}

void run_flush(benchmark::State& state, Medium medium, FlushInstruction flush,
               std::uint64_t fence_every) {
  std::unique_ptr<PersistentRegion> region;
  try {
    region = make_region(medium, flush);
  } catch (const Error& error) {
    state.SkipWithError(error.what());
    return;
  }
  const NativeAccess access(*region);
  const std::span words(reinterpret_cast<Word*>(region->bytes().data()),
                        kSize.value / sizeof(Word));
  for (std::size_t i = 0; i < words.size(); i += 512) words[i] = 1;  // pages exist
  Rng rng(1);
  for (auto _ : state) {
    CpuTimer timer;
    timer.start();
    for (std::uint64_t i = 0; i < kStores; ++i) {
      Word* const word = &words[rng.below(words.size())];
      access.store(word, i);
      access.flush(word);
      if (fence_every != 0 && i % fence_every == 0) access.fence();
    }
    timer.stop();
    state.SetIterationTime(timer.seconds());
  }
  state.counters["stores"] = benchmark::Counter(static_cast<double>(state.iterations() * kStores),
                                                benchmark::Counter::kIsRate);
}

}  // namespace

void register_flush_ops() {
  std::vector<FlushInstruction> instructions{FlushInstruction::none};
  if (cpu_features().clflushopt) instructions.push_back(FlushInstruction::clflushopt);
  if (cpu_features().clwb) instructions.push_back(FlushInstruction::clwb);
  for (const Medium medium : {Medium::dram, Medium::shm_file})
    for (const FlushInstruction flush : instructions)
      for (const unsigned fence_every : {1u, 8u, 64u, 0u}) {
        if (flush == FlushInstruction::none && fence_every != 1) continue;
        const std::string name =
            text("store_flush/%s/%s/fence_every:%u", medium == Medium::dram ? "dram" : "shm_file",
                 std::string(to_string(flush)).c_str(), fence_every);
        benchmark::RegisterBenchmark(name.c_str(), run_flush, medium, flush, fence_every)
            ->UseManualTime()
            ->Unit(benchmark::kMicrosecond);
      }
}

}  // namespace weir::bench
