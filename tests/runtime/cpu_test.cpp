// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/cpu.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "weir/runtime/error.hpp"

namespace {

using weir::Isa;

// The kernel's view of the processor: an oracle that does not use our CPUID code.
bool kernel_reports(const std::string& flag) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("flags")) continue;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      if (word == flag) return true;
    }
    return false;
  }
  return false;
}

TEST(Cpu, AgreesWithTheKernel) {
  if (!kernel_reports("sse2")) GTEST_SKIP() << "/proc/cpuinfo lists no flags here";
  const weir::CpuFeatures& cpu = weir::cpu_features();
  EXPECT_EQ(cpu.avx2, kernel_reports("avx2") && kernel_reports("bmi2") && kernel_reports("fma"));
  EXPECT_EQ(cpu.avx512, cpu.avx2 && kernel_reports("avx512f") && kernel_reports("avx512dq") &&
                            kernel_reports("avx512bw") && kernel_reports("avx512vl") &&
                            kernel_reports("avx512cd") && kernel_reports("avx512_vpopcntdq"));
  EXPECT_EQ(cpu.clflushopt, kernel_reports("clflushopt"));
  EXPECT_EQ(cpu.clwb, kernel_reports("clwb"));
  EXPECT_EQ(cpu.amx_bf16, kernel_reports("amx_bf16"));
}

TEST(Cpu, LevelsIncludeTheOnesBelow) {
  const weir::CpuFeatures& cpu = weir::cpu_features();
  EXPECT_TRUE(cpu.avx2 || !cpu.avx512);
  EXPECT_LT(Isa::baseline, Isa::avx2);
  EXPECT_LT(Isa::avx2, Isa::avx512);
}

TEST(Cpu, NamesRoundTrip) {
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    EXPECT_EQ(weir::parse_isa(weir::to_string(isa)), isa);
  }
  EXPECT_FALSE(weir::parse_isa("AVX2").has_value());
  EXPECT_FALSE(weir::parse_isa("").has_value());
}

TEST(ScopedIsa, ForcesEachLevelOfTheMachineAndRestores) {
  const Isa before = weir::active_isa();
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (isa > weir::detected_isa()) continue;
    const weir::ScopedIsa forced(isa);
    EXPECT_EQ(weir::active_isa(), isa);
    {
      const weir::ScopedIsa inner(Isa::baseline);
      EXPECT_EQ(weir::active_isa(), Isa::baseline);
    }
    EXPECT_EQ(weir::active_isa(), isa);
  }
  EXPECT_EQ(weir::active_isa(), before);
}

TEST(ScopedIsa, RefusesWhatTheMachineLacks) {
  if (weir::detected_isa() == Isa::avx512) GTEST_SKIP() << "this machine has every level";
  EXPECT_THROW(weir::ScopedIsa{Isa::avx512}, weir::Unsupported);
  EXPECT_LE(weir::active_isa(), weir::detected_isa());
}

// WEIR_ISA is read once a process, so each value needs a process of its own.
int exit_code_with(const char* value) {
  setenv("WEIR_ISA", value, 1);
  try {
    return static_cast<int>(weir::active_isa());
  } catch (const weir::InvalidArgument&) {
    return 99;
  }
}

TEST(IsaEnvironmentDeathTest, LowersTheLevel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(exit_code_with("baseline")), testing::ExitedWithCode(0), "");
}

TEST(IsaEnvironmentDeathTest, NeverRaisesItAboveTheMachine) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(exit_code_with("avx512")),
              testing::ExitedWithCode(static_cast<int>(weir::detected_isa())), "");
}

TEST(IsaEnvironmentDeathTest, RefusesUnknownNames) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(std::_Exit(exit_code_with("sse9")), testing::ExitedWithCode(99), "");
}

}  // namespace
