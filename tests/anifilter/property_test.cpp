// SPDX-License-Identifier: Apache-2.0
// Random sequences of operations against a multiset, checked by the oracle that knows the format
// and none of the code.
#include <algorithm>
#include <map>
#include <optional>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "weir/anifilter/filter.hpp"
#include "weir/runtime/cpu.hpp"

#include "anifilter/trials_oracle.hpp"
#include "anifilter/trials_table.hpp"

namespace weir::anifilter {
namespace {

using trials::Image;
using trials::ImageRegion;
using trials::KeyModel;

enum class Step { insert, erase, contains, insert_batch, erase_batch, contains_batch, reopen };

class Checked {
 public:
  explicit Checked(const Options& options)
      : image_(Filter::region_size(options)), region_(image_.bytes()) {
    filter_.emplace(Filter::create(region_, options));
  }

  void step(Step step, const std::vector<std::uint64_t>& keys) {
    switch (step) {
      case Step::insert:
        for (const std::uint64_t key : keys) inserted(key, filter_->insert(key));
        break;
      case Step::erase:
        for (const std::uint64_t key : keys)
          if (count_[key] > 0) erased(key, filter_->erase(key));
        break;
      case Step::contains:
        for (const std::uint64_t key : keys) found(key, filter_->contains(key));
        break;
      case Step::insert_batch: {
        std::vector<InsertResult> results(keys.size());
        const std::size_t n = filter_->insert(keys, results);
        RC_ASSERT(n == std::size_t(std::ranges::count(results, InsertResult::inserted)));
        for (std::size_t i = 0; i < keys.size(); ++i) inserted(keys[i], results[i]);
        break;
      }
      case Step::erase_batch: {
        std::vector<std::uint64_t> there;
        std::map<std::uint64_t, std::int64_t> taken;
        for (const std::uint64_t key : keys)
          if (count_[key] > taken[key]) {
            ++taken[key];
            there.push_back(key);
          }
        const auto results = std::make_unique<bool[]>(there.size());
        const std::size_t n = filter_->erase(there, {results.get(), there.size()});
        RC_ASSERT(n == there.size());
        for (std::size_t i = 0; i < there.size(); ++i) erased(there[i], results[i]);
        break;
      }
      case Step::contains_batch: {
        const auto results = std::make_unique<bool[]>(keys.size());
        const std::size_t n = filter_->contains(keys, {results.get(), keys.size()});
        RC_ASSERT(n == std::size_t(std::count(results.get(), results.get() + keys.size(), true)));
        for (std::size_t i = 0; i < keys.size(); ++i) found(keys[i], results[i]);
        break;
      }
      case Step::reopen:
        filter_->close();
        filter_.emplace(Filter::open(region_));
        break;
    }
  }

  void check() const {
    const trials::ModelReport report = compare(filter_->words(), info(filter_->options().layout),
                                               model_, {}, filter_->options().bucket_primacy);
    RC_ASSERT(report.problem == "");
    RC_ASSERT(report.surplus == 0u);
    RC_ASSERT(report.unfindable == 0u);
    RC_ASSERT(report.residents == filter_->size());
    const VerifyReport verified = filter_->verify();
    RC_ASSERT(verified.problems == std::vector<std::string>{});
    for (const auto& [key, count] : count_)
      if (count > 0) RC_ASSERT(filter_->contains(key));
  }

 private:
  void inserted(std::uint64_t key, InsertResult result) {
    if (result == InsertResult::inserted) {
      ++count_[key];
      model_.add(filter_->locate(filter_->hash(key)), key);
    } else if (result == InsertResult::too_many_copies) {
      // Then it is there for sure, in nearly all the slots that it may have.
      RC_ASSERT(filter_->contains(key));
    }
  }
  void erased(std::uint64_t key, bool success) {
    RC_ASSERT(success);
    --count_[key];
    model_.remove(filter_->locate(filter_->hash(key)), key);
  }
  void found(std::uint64_t key, bool answer) const {
    const Location place = filter_->locate(filter_->hash(key));
    // Exactly what the documented lookup says, so false positives agree as well.
    if (filter_->options().bucket_primacy) {
      RC_ASSERT(answer ==
                trials::oracle_contains(filter_->words(), info(filter_->options().layout), place));
    }
    const auto it = count_.find(key);
    if (it != count_.end() && it->second > 0) RC_ASSERT(answer);
  }

  Image image_;
  ImageRegion region_;
  std::optional<Filter> filter_;
  std::map<std::uint64_t, std::int64_t> count_;
  KeyModel model_;
};

rc::Gen<std::vector<std::uint64_t>> some_keys() {
  // Often the same keys, so that copies pile up and erases find something.
  return rc::gen::mapcat(rc::gen::inRange(1, 70), [](int n) {
    return rc::gen::container<std::vector<std::uint64_t>>(
        static_cast<std::size_t>(n), rc::gen::oneOf(rc::gen::inRange<std::uint64_t>(0, 24),
                                                    rc::gen::inRange<std::uint64_t>(0, 400)));
  });
}

RC_GTEST_PROP(FilterProperty, AgreesWithAMultiset, ()) {
  Options options;
  options.layout =
      *rc::gen::element(Layout::k7x8, Layout::k6x10, Layout::k5x12, Layout::k4x15, Layout::k3x20);
  options.buckets = 8 * *rc::gen::inRange<std::uint64_t>(1, 9);
  options.hash_seed = *rc::gen::arbitrary<std::uint64_t>();
  options.consistency = *rc::gen::element(Consistency::relaxed, Consistency::strict);
  options.spillable_buckets = *rc::gen::weightedElement<bool>({{4, true}, {1, false}});
  options.lookahead_eviction = *rc::gen::weightedElement<bool>({{4, true}, {1, false}});
  options.bucket_primacy = *rc::gen::weightedElement<bool>({{4, true}, {1, false}});
  Isa isa = *rc::gen::element(Isa::baseline, Isa::avx2, Isa::avx512);
  if (isa > detected_isa()) isa = detected_isa();
  const ScopedIsa scope(isa);

  const auto steps = *rc::gen::container<std::vector<std::pair<Step, std::vector<std::uint64_t>>>>(
      rc::gen::pair(rc::gen::weightedElement<Step>({{8, Step::insert},
                                                    {3, Step::erase},
                                                    {2, Step::contains},
                                                    {8, Step::insert_batch},
                                                    {3, Step::erase_batch},
                                                    {2, Step::contains_batch},
                                                    {1, Step::reopen}}),
                    some_keys()));
  Checked filter(options);
  for (const auto& [step, keys] : steps) filter.step(step, keys);
  filter.check();
  filter.step(Step::reopen, {});
  filter.check();
}

}  // namespace
}  // namespace weir::anifilter
