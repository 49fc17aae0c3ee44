// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <array>
#include <string_view>

namespace weir::anifilter {

/// Seeded mistakes in the durable protocol, compiled only into the recording engine and switched on
/// with CrashRecorder::set_fault(). They exist to prove that the crash explorer would see such a
/// mistake.
enum class Fault : unsigned {
  none = 0,
  no_overflow_bit,             ///< a secondary insert does not set the prime bucket's overflow bit
  no_fence_after_copy,         ///< a moved fingerprint is overwritten before its copy is durable
  no_overflow_on_victim_home,  ///< a move does not set the overflow bit of the victim's home
  overflow_bit_after_copy,     ///< ... sets it only after the insert was acknowledged
  no_flush_of_second_line,     ///< a secondary insert flushes one of its two lines
  header_before_data,          ///< create publishes the header before table and log are clean
  early_log_clear,      ///< strict: the log record is cleared before the overwrite is durable
  recovery_skips_log,   ///< strict: recovery does not undo a half-done move
  torn_update,          ///< fingerprint and spill bit are stored one after the other
  no_occupancy_update,  ///< recovery rebuilds occupancy without looking at the neighbour
  recovery_keeps_log,   ///< strict: recovery leaves the record (the lock on its slots) live
};
inline constexpr unsigned kFaultCount = 11;

std::string_view to_string(Fault fault);

}  // namespace weir::anifilter
