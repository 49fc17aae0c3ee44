// SPDX-License-Identifier: Apache-2.0
// The checks check: an image that is wrong in one place is refused, and says why.
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "anifilter/trials_crash.hpp"

namespace weir::anifilter::trials {
namespace {

using testing::HasSubstr;

constexpr std::size_t kTableOffset = 8192;

class StateChecker_ : public testing::Test {
 protected:
  void SetUp() override {
    Rng rng(7);
    TableRange range;
    range.consistency = Consistency::strict;
    range.least_buckets = range.most_buckets = 64;
    range.least_load = 0.9;
    range.most_load = 0.95;
    range.spillable = true;
    do {
      table_ = make_table(rng, range);
    } while (!table_->options.bucket_primacy || table_->options.layout != Layout::k5x12);
  }

  std::string check(std::span<const Operation> operations = {},
                    std::span<const OperationState> states = {}) {
    StateChecker checker(*table_, operations, {Consistency::strict, 1, Fault::none, 1});
    Image copy = table_->image;
    try {
      return checker(copy.bytes(), {0, states});
    } catch (const std::exception& error) {
      return error.what();
    }
  }
  Word& word(std::size_t bucket) {
    return reinterpret_cast<Word*>(table_->image.bytes().data() + kTableOffset)[bucket];
  }
  std::span<const Word> words() { return {&word(0), table_->options.buckets}; }

  std::optional<Table> table_;
};

TEST_F(StateChecker_, AcceptsTheTableAsItIs) { EXPECT_EQ(check(), ""); }

TEST_F(StateChecker_, SeesAMissingKey) {
  const Resident gone = decode(words(), table_->layout()).front();
  word(gone.bucket) &= ~(Word{0xFFF} << (12 * gone.slot));
  if (gone.slot == 0) word(gone.bucket) &= ~kSpillBit;
  EXPECT_THAT(check(), HasSubstr("a key is missing"));
}

TEST_F(StateChecker_, SeesAStranger) {
  for (std::size_t b = 0; b < 64; ++b) {
    for (unsigned s = 4; s > 0; --s) {
      if ((word(b) >> (12 * s) & 0xFFF) != 0) continue;
      std::uint32_t fingerprint = 1;
      KeyModel::Side side{};
      while (table_->model.find(static_cast<std::uint32_t>(b), fingerprint, side)) ++fingerprint;
      word(b) |= Word{fingerprint} << (12 * s);
      EXPECT_THAT(check(), HasSubstr("belongs to no key"));
      return;
    }
  }
  FAIL() << "no room in the table";
}

TEST_F(StateChecker_, SeesASurplusCopy) {
  for (const Resident& r : decode(words(), table_->layout())) {
    for (unsigned s = 4; s > 0; --s) {
      if (r.spilled() || (word(r.bucket) >> (12 * s) & 0xFFF) != 0) continue;
      word(r.bucket) |= Word{r.fingerprint} << (12 * s);
      EXPECT_THAT(check(), HasSubstr("surplus"));
      return;
    }
  }
  FAIL() << "no room in the table";
}

TEST_F(StateChecker_, SeesASpillBitOverAnEmptySlot) {
  for (std::size_t b = 0; b < 64; ++b) {
    if ((word(b) & 0xFFF) != 0) continue;
    word(b) |= kSpillBit;
    EXPECT_THAT(check(), HasSubstr("spill bit over an empty slot 0"));
    return;
  }
  FAIL() << "all slots 0 are taken";
}

TEST_F(StateChecker_, SeesALostOwner) {
  for (const Resident& r : decode(words(), table_->layout())) {
    if (!r.spilled()) continue;
    word(r.bucket) &= ~kSpillBit;
    EXPECT_NE(check(), "");
    return;
  }
  FAIL() << "nothing was spilled";
}

TEST_F(StateChecker_, SeesAMissingOverflowBit) {
  for (const KeyModel::Group& group : table_->model.groups()) {
    if (group.least[0] != 1 || group.least[1] != 0) continue;
    const Location alone_in_secondary{group.bucket[1], group.bucket[0], group.fingerprint};
    Image saved = table_->image;
    word(group.bucket[0]) &= ~kOverflowBit;
    const bool in_prime = oracle_contains(words(), table_->layout(),
                                          {group.bucket[0], group.bucket[1], group.fingerprint});
    if (!in_prime && oracle_contains(words(), table_->layout(), alone_in_secondary)) {
      EXPECT_THAT(check(), HasSubstr("without an overflow bit"));
      return;
    }
    table_->image = saved;
  }
  FAIL() << "no key sits in its secondary bucket";
}

TEST_F(StateChecker_, SeesAnOperationThatIsNeitherDoneNorNot) {
  Operation insert;
  insert.keys = {0};
  Filter filter = [&] {
    static std::optional<ImageRegion> region;
    region.emplace(table_->image.bytes());
    return Filter::open(*region);
  }();
  // A key that belongs to a bucket with room; its fingerprint is put into the other bucket.
  for (std::uint64_t key = 1;; ++key) {
    const Location place = filter.locate(filter.hash(key));
    if ((word(place.prime) & kOverflowBit) != 0 || (word(place.secondary) >> 48 & 0xFFF) != 0)
      continue;
    insert.keys = {key};
    insert.sides = {table_->model.side_of(place, key)};
    word(place.secondary) |= Word{place.fingerprint} << 48;
    break;
  }
  const OperationState in_flight[] = {OperationState::in_flight};
  EXPECT_THAT(check({&insert, 1}, in_flight), HasSubstr("neither done nor not done"));
}

TEST_F(StateChecker_, JudgesAnOperationByItsState) {
  Operation erase;
  erase.kind = Operation::Kind::erase;
  Rng rng(1);
  erase.keys = {table_->resident_key(rng).value()};
  Image before = table_->image;
  {
    ImageRegion region(table_->image.bytes());
    Filter filter = Filter::open(region);
    const Location place = filter.locate(filter.hash(erase.keys[0]));
    erase.sides = {table_->model.side_of(place, erase.keys[0])};
    run(filter, erase);
  }
  using enum OperationState;
  const auto in = [&](OperationState state) { return check({&erase, 1}, {&state, 1}); };
  EXPECT_EQ(in(acknowledged), "");
  EXPECT_EQ(in(in_flight), "");
  EXPECT_THAT(in(not_begun), HasSubstr("missing"));
  table_->image = before;
  EXPECT_EQ(in(not_begun), "");
  EXPECT_EQ(in(in_flight), "");
  EXPECT_THAT(in(acknowledged), HasSubstr("surplus"));
}

}  // namespace
}  // namespace weir::anifilter::trials
