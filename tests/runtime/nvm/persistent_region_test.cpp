// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/persistent_region.hpp"

#include <cstdint>
#include <cstdlib>

#include "weir/runtime/cpu.hpp"

#include "conformance/persistent_region_conformance.hpp"
#include "support/temporary_directory.hpp"

namespace weir::test {
namespace {

using namespace weir::literals;

constexpr const char* kTmpfs = "/dev/shm";

// --- the conformance suite's cases -------------------------------------------------------------

template <Durability kMinimum>
struct MmapCase {
  static std::string skip() { return ""; }
  std::unique_ptr<PersistentRegion> create(Bytes size) {
    return create_mmap_region(directory / "a.weir", size, {.minimum = kMinimum});
  }
  std::unique_ptr<PersistentRegion> open(bool writable) {
    return open_mmap_region(directory / "a.weir", {.minimum = kMinimum, .writable = writable});
  }
  TemporaryDirectory directory;
};

struct MmapMsyncCase : MmapCase<Durability::power_fail_msync> {
  static std::string skip() {
    try {
      MmapCase<Durability::power_fail_msync>().create(Bytes{1});
      return "";
    } catch (const Unsupported&) {
      return "temporary files are in memory here (set TMPDIR to a directory on a disk)";
    }
  }
};

struct MemoryCase {
  static std::string skip() { return ""; }
  std::unique_ptr<PersistentRegion> create(Bytes size) { return make_memory_region(size); }
};

struct FlushedMemoryCase : MemoryCase {
  std::unique_ptr<PersistentRegion> create(Bytes size) {
    return make_memory_region(size, best_flush_instruction());
  }
};

struct ViewCase : MemoryCase {
  std::unique_ptr<PersistentRegion> create(Bytes size) {
    memory = make_memory_region(size);
    return make_view_region(memory->bytes());
  }
  std::unique_ptr<PersistentRegion> memory;
};

struct CountingCase : MemoryCase {
  std::unique_ptr<PersistentRegion> create(Bytes size) { return make_counting_region(size); }
};

struct RecordedCase : MemoryCase {
  std::unique_ptr<PersistentRegion> create(Bytes size) {
    return std::make_unique<RecordedRegion>(size);
  }
};

std::string no_libpmem() {
  return have_libpmem() ? "" : "this build has no libpmem (Debian: libpmem-dev)";
}

struct PmemCase {
  static std::string skip() { return no_libpmem(); }
  std::unique_ptr<PersistentRegion> create(Bytes size) {
    return create_pmem_region(directory / "a.weir", size);
  }
  std::unique_ptr<PersistentRegion> open(bool writable) {
    return open_pmem_region(directory / "a.weir", {.writable = writable});
  }
  TemporaryDirectory directory;
};

using MmapFileCase = MmapCase<Durability::process_crash>;
INSTANTIATE_TYPED_TEST_SUITE_P(Mmap, PersistentRegionConformance, MmapFileCase);
INSTANTIATE_TYPED_TEST_SUITE_P(Mmap, PersistentFileConformance, MmapFileCase);
INSTANTIATE_TYPED_TEST_SUITE_P(MmapMsync, PersistentRegionConformance, MmapMsyncCase);
INSTANTIATE_TYPED_TEST_SUITE_P(MmapMsync, PersistentFileConformance, MmapMsyncCase);
INSTANTIATE_TYPED_TEST_SUITE_P(Memory, PersistentRegionConformance, MemoryCase);
INSTANTIATE_TYPED_TEST_SUITE_P(FlushedMemory, PersistentRegionConformance, FlushedMemoryCase);
INSTANTIATE_TYPED_TEST_SUITE_P(View, PersistentRegionConformance, ViewCase);
INSTANTIATE_TYPED_TEST_SUITE_P(Counting, PersistentRegionConformance, CountingCase);
INSTANTIATE_TYPED_TEST_SUITE_P(Recorded, PersistentRegionConformance, RecordedCase);
INSTANTIATE_TYPED_TEST_SUITE_P(Pmem, PersistentRegionConformance, PmemCase);
INSTANTIATE_TYPED_TEST_SUITE_P(Pmem, PersistentFileConformance, PmemCase);

// --- the truth about durability ------------------------------------------------------------------

TEST(PersistentRegion, NamesOfDurabilityAndFlushInstruction) {
  EXPECT_EQ(to_string(Durability::none), "none");
  EXPECT_EQ(to_string(Durability::process_crash), "process_crash");
  EXPECT_EQ(to_string(Durability::power_fail_msync), "power_fail_msync");
  EXPECT_EQ(to_string(Durability::power_fail), "power_fail");
  EXPECT_EQ(to_string(FlushInstruction::none), "none");
  EXPECT_EQ(to_string(FlushInstruction::clflush), "clflush");
  EXPECT_EQ(to_string(FlushInstruction::clflushopt), "clflushopt");
  EXPECT_EQ(to_string(FlushInstruction::clwb), "clwb");
  EXPECT_EQ(to_string(FlushInstruction::msync), "msync");
}

TEST(PersistentRegion, BestFlushInstructionIsOneTheProcessorHas) {
  const FlushInstruction best = best_flush_instruction();
  EXPECT_EQ(best == FlushInstruction::clwb, cpu_features().clwb);
  EXPECT_EQ(best == FlushInstruction::clflushopt,
            !cpu_features().clwb && cpu_features().clflushopt);
}

TEST(PersistentRegion, MemoryPromisesNothing) {
  EXPECT_EQ(make_memory_region(4_KiB)->durability(), Durability::none);
  EXPECT_EQ(make_memory_region(4_KiB)->flush_instruction(), FlushInstruction::none);
  EXPECT_EQ(make_memory_region(4_KiB, FlushInstruction::clwb)->durability(), Durability::none);
}

TEST(PersistentRegion, ViewShowsTheMemoryItself) {
  const auto memory = make_memory_region(4_KiB);
  const auto view = make_view_region(memory->bytes());
  EXPECT_EQ(view->bytes().data(), memory->bytes().data());
  EXPECT_THROW(make_view_region({}), InvalidArgument);
  EXPECT_THROW(make_view_region(memory->bytes().subspan(64)), InvalidArgument);
}

TEST(PersistentRegion, LargeMemoryIsAlignedToHugePages) {
  for (const Bytes size : {2_MiB, Bytes{(5u << 20) + 123}}) {
    const auto region = make_memory_region(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(region->bytes().data()) % (2u << 20), 0u);
    region->bytes().back() = std::byte{1};
  }
}

TEST(PersistentRegion, AbsurdMemoryIsOutOfSpaceOrRefused) {
  EXPECT_THROW(make_memory_region(Bytes{std::uint64_t{1} << 47}), OutOfSpace);
  EXPECT_THROW(make_memory_region(Bytes{~std::uint64_t{0}}), InvalidArgument);
}

TEST(PersistentRegion, FileOnTmpfsSurvivesTheProcessOnly) {
  const TemporaryDirectory directory(kTmpfs);
  EXPECT_EQ(create_mmap_region(directory / "a", 4_KiB)->durability(), Durability::process_crash);
  for (const Durability minimum : {Durability::power_fail_msync, Durability::power_fail})
    EXPECT_THROW(create_mmap_region(directory / "b", 4_KiB, {.minimum = minimum}), Unsupported);
  EXPECT_FALSE(std::filesystem::exists(directory / "b.creating"));
  // msync would be obeyed and of no use.
  EXPECT_EQ(
      create_mmap_region(directory / "c", 4_KiB, {.flush = FlushInstruction::msync})->durability(),
      Durability::process_crash);
}

TEST(PersistentRegion, FileWithoutDaxNeedsMsyncForPowerFailures) {
  if (const auto reason = MmapMsyncCase::skip(); !reason.empty()) GTEST_SKIP() << reason;
  const TemporaryDirectory directory;
  {
    const auto region = create_mmap_region(directory / "a", 4_KiB);
    if (region->durability() == Durability::power_fail) GTEST_SKIP() << "TMPDIR is on DAX";
    EXPECT_EQ(region->durability(), Durability::process_crash);
    EXPECT_EQ(region->flush_instruction(), FlushInstruction::none);
  }
  const auto region =
      create_mmap_region(directory / "a", 4_KiB, {.minimum = Durability::power_fail_msync});
  EXPECT_EQ(region->durability(), Durability::power_fail_msync);
  EXPECT_EQ(region->flush_instruction(), FlushInstruction::msync);
  try {
    create_mmap_region(directory / "b", 4_KiB, {.minimum = Durability::power_fail});
    FAIL() << "promised power_fail without DAX";
  } catch (const Unsupported& error) {
    EXPECT_NE(std::string(error.what()).find("at most power_fail_msync"), std::string::npos)
        << error.what();
  }
}

TEST(PersistentRegion, OverriddenFlushInstructionLowersThePromise) {
  if (const auto reason = MmapMsyncCase::skip(); !reason.empty()) GTEST_SKIP() << reason;
  const TemporaryDirectory directory;
  const auto region = create_mmap_region(directory / "a", 4_KiB, {.flush = FlushInstruction::clwb});
  EXPECT_EQ(region->flush_instruction(), FlushInstruction::clwb);
  EXPECT_LE(region->durability(), Durability::power_fail);
  EXPECT_THROW(create_mmap_region(
                   directory / "b", 4_KiB,
                   {.minimum = Durability::power_fail_msync, .flush = FlushInstruction::none}),
               Unsupported);
}

/// Set, libpmem takes any mapping for persistent memory. It is read when libpmem is loaded, so the
/// build runs the tests of libpmem a second time with it.
bool pmem_is_forced() {
  const char* forced = std::getenv("PMEM_IS_PMEM_FORCE");
  return forced != nullptr && std::string(forced) == "1";
}

TEST(PmemRegion, SaysWhatLibpmemSaysOfTheMedium) {
  if (const auto reason = no_libpmem(); !reason.empty()) GTEST_SKIP() << reason;
  if (pmem_is_forced()) GTEST_SKIP() << "PMEM_IS_PMEM_FORCE is set";
  const TemporaryDirectory directory(kTmpfs);
  EXPECT_EQ(create_pmem_region(directory / "a", 4_KiB)->durability(), Durability::process_crash);
  EXPECT_THROW(create_pmem_region(directory / "b", 4_KiB, {.minimum = Durability::power_fail}),
               Unsupported);
}

TEST(PmemRegion, ForcedMediumIsPowerFail) {
  if (const auto reason = no_libpmem(); !reason.empty()) GTEST_SKIP() << reason;
  if (!pmem_is_forced()) GTEST_SKIP() << "PMEM_IS_PMEM_FORCE=1 is not set";
  const TemporaryDirectory directory(kTmpfs);
  auto region = create_pmem_region(directory / "a", 1_MiB, {.minimum = Durability::power_fail});
  EXPECT_EQ(region->durability(), Durability::power_fail);
  EXPECT_EQ(region->flush_instruction(), best_flush_instruction());
}

TEST(PmemRegion, IsUnsupportedWithoutLibpmem) {
  if (have_libpmem()) GTEST_SKIP() << "this build has libpmem";
  EXPECT_THROW(create_pmem_region("/tmp/never", 4_KiB), Unsupported);
  EXPECT_THROW(open_pmem_region("/tmp/never"), Unsupported);
}

TEST(PersistentRegion, ChosenRegionOnAPlainDiskIsMmap) {
  const TemporaryDirectory directory(kTmpfs);
  auto region = create_region(directory / "a", 4_KiB);
  EXPECT_TRUE(region->name().starts_with("mmap ")) << region->name();
  region->publish();
  region.reset();
  region = open_region(directory / "a", {.writable = false});
  EXPECT_FALSE(region->writable());
  EXPECT_EQ(region->bytes().size(), 4096u);
}

}  // namespace
}  // namespace weir::test
