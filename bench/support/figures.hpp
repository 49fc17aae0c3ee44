// SPDX-License-Identifier: Apache-2.0
// What a figure program collects: one Figure a name, checked against one table of bars. The results
// contract itself is in docs/benchmarks.md.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <regex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/progress.hpp"
#include "support/statistics.hpp"

namespace weir::bench {

/// Where a number comes from. Never mixed up: a reader must know which clock ticked.
enum class Kind {
  measured,   ///< a clock or hardware counter of this machine
  counted,    ///< events of the algorithm; the same on every machine
  emulated,   ///< a model of non-volatile memory
  simulated,  ///< virtual time
};
std::string_view to_string(Kind kind);

enum class Better { higher, lower };
std::string_view to_string(Better better);

/// One number of a run, with all that a reader needs to judge it.
struct Figure {
  std::string name = {};
  double value = 0;
  std::string unit = "x";
  Kind kind = Kind::measured;
  Better better = Better::higher;
  std::optional<double> min = {};  ///< over the samples; unset: `value`
  std::optional<double> max = {};
  std::size_t samples = 1;
  std::string baseline = {};               ///< what a ratio is against
  std::string reference = {};              ///< what others report
  std::string config = {};                 ///< layout, size, threads, pages: enough to run it again
  std::optional<double> ceiling = {};      ///< the physical or arithmetic limit, where one is known
  std::optional<double> probe = {};        ///< spin-probe efficiency of the second core
  std::optional<std::uint64_t> seed = {};  ///< unset: the run's

  /// Takes value, min, max and samples from a spread.
  Figure& over(const Spread& spread);
};

/// What is asked of a figure. `must` is the least that will do, `reach` the aim.
struct Bar {
  enum class Ask { at_least, at_most, within, report };

  std::string_view name;  ///< a trailing '*' stands for any ending
  std::string_view topic;
  Ask ask = Ask::report;
  std::optional<double> must;
  std::optional<double> reach;
  std::optional<double> upper;         ///< within: must <= value <= upper
  std::optional<double> must_in_full;  ///< replaces `must` in a full run
  bool only_in_full = false;

  [[nodiscard]] constexpr Bar full_only() const {
    Bar copy = *this;
    copy.only_in_full = true;
    return copy;
  }
  [[nodiscard]] constexpr Bar in_full(double value) const {
    Bar copy = *this;
    copy.must_in_full = value;
    return copy;
  }
  [[nodiscard]] std::optional<double> must_for(bool full) const;
  [[nodiscard]] bool matches(std::string_view figure) const;
};

constexpr Bar at_least(std::string_view topic, std::string_view name, std::optional<double> must,
                       std::optional<double> reach = std::nullopt) {
  return {name, topic, Bar::Ask::at_least, must, reach, {}, {}, false};
}
constexpr Bar at_most(std::string_view topic, std::string_view name, std::optional<double> must,
                      std::optional<double> reach = std::nullopt) {
  return {name, topic, Bar::Ask::at_most, must, reach, {}, {}, false};
}
constexpr Bar within(std::string_view topic, std::string_view name, double low, double high) {
  return {name, topic, Bar::Ask::within, low, {}, high, {}, false};
}
constexpr Bar reported(std::string_view topic, std::string_view name) {
  return {name, topic, Bar::Ask::report, {}, {}, {}, {}, false};
}

/// How far a value meets its bar.
enum class Met { no, must, reach, not_asked };
std::string_view to_string(Met met);
Met judge(const Bar& bar, double value, bool full);

/// What the command line asked for; passed to every topic.
struct RunOptions {
  bool full = false;
  std::uint64_t seed = 1;
  std::string out = {};   ///< results file
  std::string only = {};  ///< regular expression; empty: everything
  std::string data = {};  ///< directory of the shipped data; empty: the usual places
};

/// Everything a run produced. Not thread-safe: topics run one after another.
class Figures {
 public:
  struct Skipped {
    std::string name;
    std::string reason;
  };

  Figures(std::span<const Bar> bars, const RunOptions& options);

  /// False when --only leaves this figure out: then do not spend time on it. Always true for the
  /// figures of a topic that --only names.
  [[nodiscard]] bool wants(std::string_view name) const;
  /// True if --only leaves in the topic's name or a figure that its bars name.
  [[nodiscard]] bool wants_topic(std::string_view topic) const;
  void enter_topic(std::string_view topic);

  /// Records a figure (dropped when it is not wanted) and prints one progress line.
  void add(Figure figure);
  /// Says why a figure could not be measured. It then counts as missing, never as met.
  void skip(std::string name, std::string reason);
  /// A wrong result (not a poor one): the program will return failure.
  void wrong(std::string what);
  /// Records `what` as wrong unless `condition` holds.
  void check(bool condition, const std::string& what);

  [[nodiscard]] const std::vector<Figure>& figures() const { return figures_; }
  [[nodiscard]] const std::vector<Skipped>& skipped() const { return skipped_; }
  [[nodiscard]] const std::vector<std::string>& wrong_results() const { return wrong_; }
  [[nodiscard]] const Bar* bar_of(std::string_view name) const;
  [[nodiscard]] const Figure* find(std::string_view name) const;
  /// Names of bars of this mode (and within --only) for which no figure was recorded.
  [[nodiscard]] std::vector<std::string> missing() const;
  [[nodiscard]] std::span<const Bar> bars() const { return bars_; }
  Progress& progress() { return progress_; }

 private:
  [[nodiscard]] bool selected(std::string_view name) const;

  std::vector<Bar> bars_;
  RunOptions options_;
  std::optional<std::regex> only_;
  bool topic_named_ = false;  // --only matches the current topic's own name
  std::vector<Figure> figures_;
  std::vector<Skipped> skipped_;
  std::vector<std::string> wrong_;
  Progress progress_;
};

}  // namespace weir::bench
