// SPDX-License-Identifier: Apache-2.0
// Making and recovering a filter. Included by core.hpp.
#pragma once
#include <cstring>

#include "anifilter/core.hpp"

namespace weir::anifilter {

/// Old headers are made invalid first, the new ones are published last: a region without a valid
/// header is what every crash on the way leaves.
template <class B, class Access>
void Core<B, Access>::format() {
  auto* const base = reinterpret_cast<Word*>(region().bytes().data());
  const auto header_word = [&](int copy, std::size_t i) {
    return base + kHeaderCopyOffset[copy] / sizeof(Word) + i;
  };
  const auto set = [&](Word* p,
                       Word value) {  // leaves clean words alone: a new file has no pages yet
    if (access_.load(p) == value) return;
    access_.store(p, value);
  };
  const auto flush_range = [&](Word* begin, Word* end) {
    for (Word* p = begin; p < end; p += kWordsPerLine) access_.flush(p);
  };
  Word fields[kHeaderWords];
  std::memcpy(fields, &header_, sizeof fields);
  const auto publish = [&] {
    for (const int copy : {1, 0}) {
      for (std::size_t i = kHeaderWords; i-- > 0;) access_.store(header_word(copy, i), fields[i]);
      flush_range(header_word(copy, 0), header_word(copy, kHeaderWords));
    }
    access_.fence();
  };

  for (const int copy : {0, 1}) {
    for (std::size_t i = 0; i < kHeaderWords; ++i) set(header_word(copy, i), 0);
    flush_range(header_word(copy, 0), header_word(copy, kHeaderWords));
  }
  access_.fence();  // no header is valid from here on
  if (fault(Fault::header_before_data)) publish();
  Word* const log = base + kLogOffset / sizeof(Word);
  for (Word* p = log; p < log + kLogRecords * kWordsPerLine; ++p) set(p, 0);
  flush_range(log, log + kLogRecords * kWordsPerLine);
  // Without primacy every lookup reads both buckets: all overflow bits are set from the start.
  const Word empty = options_.bucket_primacy ? 0 : kOverflowBit;
  for (Word* p = words_; p < words_ + options_.buckets; ++p) set(p, empty);
  flush_range(words_, words_ + options_.buckets);
  access_.fence();  // log and table are clean from here on
  publish();        // the filter exists from here on
}

template <class B, class Access>
void Core<B, Access>::recover(std::size_t threads, const bool (&good_header)[2]) {
  if (writable()) {
    for (const int copy : {0, 1}) {
      if (good_header[copy]) continue;
      Word fields[kHeaderWords];
      std::memcpy(fields, &header_, sizeof fields);
      auto* const to = reinterpret_cast<Word*>(region().bytes().data() + kHeaderCopyOffset[copy]);
      for (std::size_t i = kHeaderWords; i-- > 0;) access_.store(to + i, fields[i]);
      access_.flush(to);
      access_.flush(to + kWordsPerLine);
      access_.fence();
      recovery_report.header_repaired = true;
    }

    // A record is live if its operation had not released its locks: nothing else touched the slots.
    bool any_live = false;
    for (std::size_t i = 0; i < kLogRecords; ++i) {
      for (std::size_t entry = 0; entry < 2; ++entry) {
        const Word* const words = log_record(i) + 2 * entry;
        const LogEntry log = LogEntry::decode(access_.load(words), access_.load(words + 1));
        any_live = any_live || log.valid;
        if (!log.valid || fault(Fault::recovery_skips_log)) continue;
        if (log.source_word >= options_.buckets || log.destination_word >= options_.buckets ||
            log.source_slot >= B::kSlots || log.destination_slot >= B::kSlots)
          throw CorruptData(region().name() + ": log record " + std::to_string(i) +
                            " points outside the table; restore the file from a copy");
        if (B::get(load(log.source_word), log.source_slot) != log.fingerprint ||
            B::get(load(log.destination_word), log.destination_slot) != log.fingerprint)
          continue;
        clear(log.destination_word, log.destination_slot);
        flush(log.destination_word);
        ++recovery_report.moves_undone;
      }
    }
    if (any_live && !fault(Fault::recovery_keeps_log)) {
      access_.fence();  // no fingerprint is there twice from here on
      for (std::size_t i = 0; i < kLogRecords; ++i)
        for (std::size_t entry = 0; entry < 2; ++entry) {
          Word* const words = log_record(i) + 2 * entry;
          if (access_.load(words) == 0) continue;
          access_.store(words, 0);
          access_.flush(words);
        }
      access_.fence();  // the log is clean from here on
    }
    if constexpr (Access::kFlushes) {
      // After a crash of the process alone, the caches may hold bits that are seen but not durable.
      // New operations rely on what they see (R3).
      for (std::uint64_t b = 0; b < options_.buckets; b += kWordsPerLine) flush(b);
      access_.fence();
    }
  }
  const ScanTotals totals = scan(threads, occupancy_.get());
  if (fault(Fault::no_occupancy_update)) kernels_.scan(words_, lines(), false, occupancy_.get());
  recovered_size_ = static_cast<std::int64_t>(totals.fingerprints) - changes_.sum();
  recovery_report.buckets_scanned = options_.buckets;
}

}  // namespace weir::anifilter
