// SPDX-License-Identifier: Apache-2.0
#include "weir/runtime/crash_explorer.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <limits>
#include <utility>

#include "weir/runtime/error.hpp"
#include "weir/runtime/hash.hpp"
#include "weir/runtime/rng.hpp"

#include "crash_model.hpp"
#include "crash_replay.hpp"

namespace weir {
namespace {

using Effect = detail::CrashModel::Effect;

/// Open addressing over hashes: a million insertions in some 30 ms.
class HashSet {
 public:
  /// True if it was not there.
  bool insert(std::uint64_t hash) {
    if (hash == 0) hash = 1;  // 0 marks an empty cell
    if (2 * (size_ + 1) > cells_.size()) grow();
    std::uint64_t& cell = find(hash);
    if (cell == hash) return false;
    cell = hash;
    ++size_;
    return true;
  }

 private:
  std::uint64_t& find(std::uint64_t hash) {
    std::size_t i = mix64(hash) & (cells_.size() - 1);
    while (cells_[i] != 0 && cells_[i] != hash) i = (i + 1) & (cells_.size() - 1);
    return cells_[i];
  }
  void grow() {
    std::vector<std::uint64_t> old(cells_.size() * 2);
    old.swap(cells_);
    for (const std::uint64_t hash : old)
      if (hash != 0) find(hash) = hash;
  }
  std::vector<std::uint64_t> cells_ = std::vector<std::uint64_t>(1024);
  std::size_t size_ = 0;
};

const char* to_string(OperationState state) {
  switch (state) {
    case OperationState::not_begun:
      return "not begun";
    case OperationState::in_flight:
      return "in flight";
    case OperationState::acknowledged:
      return "acknowledged";
  }
  return "?";
}

/// One explore() call.
class Exploration {
 public:
  Exploration(const CrashExplorerOptions& options, std::span<const std::byte> base, bool flushes,
              const CrashCheck& check)
      : options_(options),
        check_(check),
        model_(base, flushes),
        scratch_(Bytes{base.size()}, false),
        rng_(options.seed) {}

  CrashResult run(const std::vector<CrashEvent>& events) {
    for (const CrashEvent& event : events)
      if (event.kind >= CrashEvent::Kind::begin && event.index >= operations_.size())
        operations_.resize(event.index + 1, OperationState::not_begun);
    visit(Effect::replaced);
    for (const CrashEvent& event : events) {
      if (stopped()) break;
      ++event_;
      Effect effect = model_.apply(event);
      if (event.kind == CrashEvent::Kind::begin)
        effect = set_state(event.index, OperationState::in_flight);
      else if (event.kind == CrashEvent::Kind::acknowledge)
        effect = set_state(event.index, OperationState::acknowledged);
      visit(effect);
    }
    return std::move(result_);
  }

 private:
  static constexpr std::size_t kNoLine = ~std::size_t{0};

  bool stopped() const {
    return options_.max_failures != 0 && result_.failures >= options_.max_failures;
  }

  Effect set_state(std::size_t operation, OperationState state) {
    const auto hash_of = [&](OperationState s) {
      return splitmix64(operation * 4 + static_cast<std::uint64_t>(s));
    };
    operations_hash_ += hash_of(state) - hash_of(operations_[operation]);
    operations_[operation] = state;
    return Effect::replaced;  // the same images have to satisfy another check
  }

  /// Cuts the power here: after the first event_ events.
  void visit(Effect effect) {
    ++result_.points;
    // What was tried completely needs no second look while the operations are the same.
    if (effect == Effect::same || (effect == Effect::fewer && complete_)) return;
    // Without its newest store a line is as it was at the last point, where such images had their
    // turn: only those with it are new.
    bool anew = effect != Effect::more;
    // ... unless only a sample had, and all fit now.
    if (!complete_ && images(kNoLine) <= options_.exhaustive_limit) anew = true;
    const std::size_t fixed = anew ? kNoLine : model_.newest_line();
    if (fixed != kNoLine) model_.choose(fixed, model_.stores(fixed));
    if (images(fixed) <= options_.exhaustive_limit) {
      enumerate(fixed);
      if (anew) complete_ = true;
    } else {
      ++result_.sampled_points;
      complete_ = false;
      sample(fixed);
    }
    for (std::size_t line = 0; line < model_.dirty_lines(); ++line) model_.choose(line, 0);
  }

  /// The product of the choices of all lines but `fixed`; saturates.
  std::uint64_t images(std::size_t fixed) const {
    std::uint64_t product = 1;
    for (std::size_t line = 0; line < model_.dirty_lines(); ++line) {
      const std::uint64_t choices = line == fixed ? 1 : model_.stores(line) + 1;
      if (product > std::numeric_limits<std::uint64_t>::max() / choices)
        return std::numeric_limits<std::uint64_t>::max();
      product *= choices;
    }
    return product;
  }

  void enumerate(std::size_t fixed) {
    const std::size_t lines = model_.dirty_lines();
    for (;;) {
      check_image();
      // Counts up like an odometer, one digit a line.
      std::size_t line = 0;
      for (; line < lines; ++line) {
        if (line == fixed) continue;
        if (model_.choice(line) < model_.stores(line)) {
          model_.choose(line, model_.choice(line) + 1);
          break;
        }
        model_.choose(line, 0);
      }
      if (line == lines || stopped()) return;
    }
  }

  void sample(std::size_t fixed) {
    const std::size_t lines = model_.dirty_lines();
    std::uint64_t left = options_.samples;
    const auto draw = [&] {
      if (left == 0 || stopped()) return false;
      --left;
      check_image();
      return true;
    };
    const auto choose_all = [&](auto&& kept) {
      for (std::size_t line = 0; line < lines; ++line)
        if (line != fixed) model_.choose(line, kept(line));
    };
    // The bugs of real structures: one line is missing, or is there alone.
    for (const bool full : {false, true}) {
      choose_all([&](std::size_t line) { return full ? model_.stores(line) : 0; });
      if (!draw()) return;
      for (std::size_t line = 0; line < lines; ++line) {
        if (line == fixed) continue;
        model_.choose(line, full ? 0 : model_.stores(line));
        if (!draw()) return;
        model_.choose(line, full ? model_.stores(line) : 0);
      }
    }
    // Then any prefix of any line: uniform, or whole lines of which a random share is there.
    do {
      const bool uniform = (rng_() & 1) != 0;
      const double share = rng_.uniform();
      choose_all([&](std::size_t line) {
        const std::size_t stores = model_.stores(line);
        if (uniform) return static_cast<std::size_t>(rng_.below(stores + 1));
        return rng_.uniform() < share ? stores : 0;
      });
    } while (draw());
  }

  void check_image() {
    const std::uint64_t state = mix64(model_.hash() ^ splitmix64(operations_hash_));
    if (!states_.insert(state)) return;
    ++result_.states;
    if (images_.insert(model_.hash())) ++result_.images;
    const auto image = model_.image();
    std::memcpy(scratch_.bytes().data(), image.data(), image.size());
    std::string problem;
    try {
      problem = check_(scratch_.bytes(), {event_, operations_});
      if (problem.empty()) return;
    } catch (const std::exception& exception) {
      problem = std::string("exception: ") + exception.what();
    } catch (...) {
      problem = "exception of unknown type";
    }
    if (result_.failures++ == 0) report(problem, state);
  }

  void report(const std::string& problem, std::uint64_t state) {
    std::string& message = result_.first_failure;
    message =
        problem + "\n  power failure after event " + std::to_string(event_) + "; stores kept:";
    if (model_.dirty_lines() == 0) message += " all";
    for (std::size_t line = 0; line < model_.dirty_lines(); ++line)
      message += (line == 0 ? " " : ", ") + std::string("line ") +
                 std::to_string(model_.number(line)) + " " + std::to_string(model_.choice(line)) +
                 "/" + std::to_string(model_.stores(line));
    message += "; operations:";
    for (std::size_t i = 0; i < operations_.size(); ++i)
      if (operations_[i] != OperationState::not_begun)
        message += " " + std::to_string(i) + " " + to_string(operations_[i]) + ",";
    if (message.back() == ',')
      message.pop_back();
    else
      message += " none";
    if (options_.replay_directory.empty()) return;
    char name[64];
    std::snprintf(name, sizeof name, "crash-event%zu-%016llx.replay", event_,
                  static_cast<unsigned long long>(state));
    try {
      const auto path = options_.replay_directory / name;
      detail::save_crash_replay(path, {message, event_, operations_, {}}, model_.image());
      result_.replay = path;
    } catch (const Error& error) {
      // The failure that was found matters more than its file.
      message += std::string("\n  no replay file: ") + error.what();
    }
  }

  const CrashExplorerOptions& options_;
  const CrashCheck& check_;
  detail::CrashModel model_;
  detail::AnonymousMemory scratch_;  // what the check may change
  Rng rng_;
  std::vector<OperationState> operations_;
  std::uint64_t operations_hash_ = 0;
  HashSet states_;
  HashSet images_;
  std::size_t event_ = 0;
  bool complete_ = false;  // all images of the last point were tried
  CrashResult result_;
};

/// A store past the access layer would not be in any image, and the check would blame recovery.
void expect_complete_log(std::span<const std::byte> base, std::span<const std::byte> now,
                         const std::vector<CrashEvent>& events) {
  std::vector<std::byte> image(base.begin(), base.end());
  for (const CrashEvent& event : events)
    if (event.kind == CrashEvent::Kind::store)
      std::memcpy(image.data() + event.index * sizeof(Word), &event.value, sizeof(Word));
  const auto [expected, found] = std::mismatch(image.begin(), image.end(), now.begin());
  WEIR_EXPECTS(
      expected == image.end(),
      "CrashExplorer: byte " + std::to_string(expected - image.begin()) +
          " of the region was changed past RecordingAccess; store persistent words through "
          "it, or call restart() after preparing the region");
}

}  // namespace

CrashResult& CrashResult::operator+=(const CrashResult& other) {
  points += other.points;
  sampled_points += other.sampled_points;
  states += other.states;
  images += other.images;
  if (failures == 0) {
    first_failure = other.first_failure;
    replay = other.replay;
  }
  failures += other.failures;
  return *this;
}

CrashExplorer::CrashExplorer(CrashExplorerOptions options) : options_(std::move(options)) {}
CrashExplorer::~CrashExplorer() = default;

CrashResult CrashExplorer::explore(RecordedRegion& region, const CrashCheck& check) {
  WEIR_EXPECTS(check != nullptr, "CrashExplorer: no check was given");
  const CrashRecorder& recorder = *region.recorder();
  expect_complete_log(recorder.base(), region.bytes(), recorder.events());
  const bool flushes = region.flush_instruction() != FlushInstruction::none;
  return Exploration(options_, recorder.base(), flushes, check).run(recorder.events());
}

}  // namespace weir
