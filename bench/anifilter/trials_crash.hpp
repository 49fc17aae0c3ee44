// SPDX-License-Identifier: Apache-2.0
// Crash cells: many recorded operations of one kind, on many base tables, each cut at every store,
// flush and fence into the images that a power failure may leave, each image recovered and checked.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "weir/anifilter/faults.hpp"
#include "weir/runtime/crash_explorer.hpp"

#include "anifilter/trials_table.hpp"

namespace weir::anifilter::trials {

enum class CellKind : std::uint8_t {
  own,
  spill,
  secondary,
  lookahead,
  path2,  ///< paths of two moves and more
  erase,
  batch,
  create,
  recovery,
};
inline constexpr CellKind kCellKinds[] = {
    CellKind::own,   CellKind::spill, CellKind::secondary, CellKind::lookahead, CellKind::path2,
    CellKind::erase, CellKind::batch, CellKind::create,    CellKind::recovery};
const char* to_string(CellKind kind);

/// What is explored, and how much of it.
struct CellOptions {
  CellKind kind = CellKind::own;
  Consistency consistency = Consistency::relaxed;
  unsigned threads = 1;           ///< 1 or 2; create and recovery: 1
  std::uint64_t states = 10'000;  ///< stop when so many distinct states were checked ...
  std::uint64_t tables = 100;     ///< ... and so many base tables were used
  std::uint64_t most_recordings = 1'000'000;
  std::uint64_t deep_every = 32;  ///< every how many states the slow checks are made as well
  std::uint64_t seed = 1;
  Fault fault = Fault::none;               ///< a seeded mistake, to see that it is caught
  std::filesystem::path replay_directory;  ///< empty: no replay files
};

struct CellResult {
  std::uint64_t states = 0;      ///< distinct (image, operation states) checked
  std::uint64_t tables = 0;      ///< base tables
  std::uint64_t recordings = 0;  ///< recorded runs
  std::uint64_t operations = 0;  ///< recorded operations
  std::uint64_t unlike = 0;      ///< of them (one thread), those that were of another kind
  std::uint64_t deep_checks = 0;
  std::uint64_t failures = 0;         ///< states that did not recover to a legal table
  std::uint64_t false_negatives = 0;  ///< of them, those with an acknowledged key missing
  std::uint64_t surplus = 0;          ///< largest number of surplus fingerprints in a state
  std::string first_failure;
  std::filesystem::path replay;
  double seconds = 0;  ///< thread CPU time
};

/// "lookahead_strict_2t"
std::string name_of(const CellOptions& cell);

/// Stops at the first failure.
CellResult run_cell(const CellOptions& options);

/// All cells that there are, without counts.
std::vector<CellOptions> all_cells();

/// Runs cells that should catch `fault` until one does.
struct MutantResult {
  Fault fault = Fault::none;
  bool caught = false;
  std::string cell;          ///< that caught it
  std::uint64_t states = 0;  ///< tried before
  std::string message;
};
MutantResult hunt_mutant(Fault fault, std::uint64_t states_per_cell, std::uint64_t seed);

// --- the parts, for tests -----------------------------------------------------------------------

/// Checks one image: recovers it, compares it with what `table` and `operations` allow, and every
/// so often goes on using it. See the .cpp for the list.
class StateChecker {
 public:
  struct Wishes {
    Consistency consistency = Consistency::relaxed;
    std::uint64_t deep_every = 16;
    Fault fault = Fault::none;  ///< opens through a recorded region with this fault
    std::uint64_t seed = 1;
  };
  /// `operations` by number; both must outlive the checker.
  StateChecker(const Table& table, std::span<const Operation> operations, const Wishes& wishes);

  std::string operator()(std::span<std::byte> image, const CrashPoint& point);

  /// Raw images (before recovery) to be kept for later, every so often.
  struct Kept {
    Image image;
    std::vector<OperationState> operations;
  };
  void keep(std::size_t most, std::uint64_t every) { most_kept_ = most, keep_every_ = every; }
  [[nodiscard]] std::vector<Kept>& kept() { return kept_; }

  /// Recovery must end with just these words.
  void expect_words(std::span<const Word> words) { expected_.assign(words.begin(), words.end()); }

  /// Bounds of `operations` in states `states`, to be laid over the table's model.
  static std::vector<Change> changes(std::span<const Operation> operations,
                                     std::span<const OperationState> states);
  /// Fingerprints that operations in flight may leave behind.
  static std::uint64_t in_flight(std::span<const Operation> operations,
                                 std::span<const OperationState> states);

  std::uint64_t deep_checks = 0;
  std::uint64_t false_negatives = 0;
  std::uint64_t most_surplus = 0;

 private:
  std::string check_words(const Filter& filter, std::span<const Change> changes,
                          std::uint64_t in_flight);
  std::string check_lookups(const Filter& filter, std::span<const Change> changes, bool batch);
  std::string check_reopened(PersistentRegion& region, std::span<const std::byte> before);
  std::string check_life_goes_on(PersistentRegion& region, std::span<const Change> changes);

  const Table* table_;
  std::span<const Operation> operations_;
  Wishes wishes_;
  Rng rng_;
  std::uint64_t seen_ = 0;
  std::size_t most_kept_ = 0;
  std::uint64_t keep_every_ = 1;
  std::vector<Kept> kept_;
  std::vector<Word> expected_;
};

}  // namespace weir::anifilter::trials
