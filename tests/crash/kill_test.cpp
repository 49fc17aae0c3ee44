// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "anifilter/trials_child.hpp"
#include "anifilter/trials_kill.hpp"

namespace weir::anifilter::trials {
namespace {

TEST(Kill9, LosesNoAcknowledgedKey) {
  KillOptions options;
  options.rounds = 12;
  options.rounds_a_file = 4;
  options.create_rounds = 10;
  options.buckets = 1024;
  options.most_microseconds = 6000;
  const KillResult result = run_kill_trial(options);
  EXPECT_EQ(result.problem, "");
  EXPECT_EQ(result.lost, 0u);
  EXPECT_EQ(result.rounds, 12u);
  EXPECT_EQ(result.create_rounds, 10u);
  EXPECT_GT(result.operations, 0u);
  EXPECT_GT(result.keys_checked, 0u);
}

TEST(Child, TellsHowItEnded) {
  Child good([] {});
  good.wait();
  EXPECT_FALSE(good.failed());
  EXPECT_FALSE(good.kill());

  testing::internal::CaptureStderr();
  Child bad([] { throw std::runtime_error("on purpose"); });
  bad.wait();
  EXPECT_TRUE(bad.failed());
  testing::internal::GetCapturedStderr();

  Child endless([] {
    for (;;) wait_microseconds(1000);
  });
  EXPECT_TRUE(endless.running());
  EXPECT_TRUE(endless.kill());
  EXPECT_FALSE(endless.failed());
  EXPECT_FALSE(endless.running());
}

TEST(Child, LeavesWhatItWroteInSharedMemory) {
  SharedMemory memory(64);
  Child child([&] {
    memory.as<int>()[3] = 42;
    for (;;) wait_microseconds(1000);
  });
  while (static_cast<volatile int*>(memory.as<int>())[3] == 0) wait_microseconds(10);
  child.kill();
  EXPECT_EQ(memory.as<int>()[3], 42);
}

}  // namespace
}  // namespace weir::anifilter::trials
