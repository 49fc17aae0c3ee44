// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstddef>
#include <functional>
#include <memory>

namespace weir {

/// A fixed set of worker threads. The calling thread is worker 0, so Workers(1) starts no thread.
class Workers {
 public:
  /// `count` >= 1, else InvalidArgument; 0 is not "all": pass hardware_threads() for that.
  explicit Workers(std::size_t count);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  [[nodiscard]] std::size_t count() const noexcept;

  /// Runs body(worker) once on every worker and returns when all are done. The first exception (by
  /// worker number) is rethrown here after all have finished. One run at a time; not re-entrant.
  void run(const std::function<void(std::size_t worker)>& body);

  /// Splits [0, n) into count() contiguous ranges of almost equal length and runs
  /// body(begin, end, worker) on each that is not empty.
  void for_ranges(std::size_t n,
                  const std::function<void(std::size_t, std::size_t, std::size_t)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Processors that this process may use; at least 1.
std::size_t hardware_threads();

}  // namespace weir
