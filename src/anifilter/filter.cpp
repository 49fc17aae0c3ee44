// SPDX-License-Identifier: Apache-2.0
#include "weir/anifilter/filter.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "weir/runtime/error.hpp"

#include "anifilter/engine.hpp"

namespace weir::anifilter {
namespace {

constexpr std::size_t kHashBatch = 256;

std::unique_ptr<Engine> create_engine(RegionHolder region, const Options& options) {
  const std::uint64_t buckets = bucket_count(options);
  const std::uint64_t need = pool_bytes(buckets).value;
  const std::uint64_t have = region.region->bytes().size();
  WEIR_EXPECTS(have >= need, region.region->name() + " has " + std::to_string(have) +
                                 " bytes, a filter with these options needs " +
                                 std::to_string(need) + "; see Filter::region_size");
  WEIR_EXPECTS(region.region->writable(),
               region.region->name() + " is open for reading only; a filter cannot be made in it");
  auto engine = make_engine(std::move(region), make_pool_header(options, buckets));
  engine->format();
  const bool good[2] = {true, true};
  engine->recover(1, good);
  engine->region().publish();
  return engine;
}

std::unique_ptr<Engine> open_engine(RegionHolder region, std::size_t threads) {
  WEIR_EXPECTS(threads >= 1, "recovery_threads is 0, must be at least 1");
  const auto start = std::chrono::steady_clock::now();
  bool good[2];
  const PoolHeader header = read_pool_header(region.region->bytes(), region.region->name(), good);
  auto engine = make_engine(std::move(region), header);
  engine->recover(threads, good);
  engine->recovery_report.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return engine;
}

/// Runs `body(hashes, first, n)` on pieces of `keys` that were hashed together.
template <class Body>
std::size_t for_each_piece(const Engine& engine, std::span<const std::uint64_t> keys, Body&& body) {
  std::array<std::uint64_t, kHashBatch> hashes;
  std::size_t total = 0;
  for (std::size_t first = 0; first < keys.size(); first += kHashBatch) {
    const std::size_t n = std::min(keys.size() - first, kHashBatch);
    engine.kernels().hash(engine.geometry(), keys.data() + first, n, hashes.data());
    total += body(hashes.data(), first, n);
  }
  return total;
}

const std::uint64_t* values_of(std::span<const HashedKey> keys) {
  static_assert(sizeof(HashedKey) == sizeof(std::uint64_t));
  return keys.empty() ? nullptr : &keys.data()->value;
}

/// Runs a change of the filter; after a failed fence there is no other.
template <class Change>
auto change(Engine& engine, Change&& body) {
  try {
    return body();
  } catch (const IoError&) {
    engine.stop_writing();
    throw;
  }
}

void expect_same_size(std::size_t keys, std::size_t results) {
  WEIR_EXPECTS(keys == results, "a batch of " + std::to_string(keys) + " keys has room for " +
                                    std::to_string(results) + " results; they must be as many");
}

}  // namespace

Filter::Filter(std::unique_ptr<Engine> engine) : engine_(std::move(engine)) {}
Filter::Filter(Filter&&) noexcept = default;
Filter& Filter::operator=(Filter&&) noexcept = default;
Filter::~Filter() = default;

Bytes Filter::region_size(const Options& options) { return pool_bytes(bucket_count(options)); }

Filter Filter::create(const std::filesystem::path& path, const Options& options,
                      const RegionOptions& region) {
  return create(create_region(path, region_size(options), region), options);
}
Filter Filter::create(std::unique_ptr<PersistentRegion> region, const Options& options) {
  return Filter(create_engine(RegionHolder(std::move(region)), options));
}
Filter Filter::create(PersistentRegion& region, const Options& options) {
  return Filter(create_engine(RegionHolder(region), options));
}

Filter Filter::open(const std::filesystem::path& path, const OpenOptions& options) {
  return open(open_region(path, options.region), options.recovery_threads);
}
Filter Filter::open(std::unique_ptr<PersistentRegion> region, std::size_t recovery_threads) {
  return Filter(open_engine(RegionHolder(std::move(region)), recovery_threads));
}
Filter Filter::open(PersistentRegion& region, std::size_t recovery_threads) {
  return Filter(open_engine(RegionHolder(region), recovery_threads));
}

Filter Filter::open_or_create(const std::filesystem::path& path, const Options& options,
                              const OpenOptions& open_options) {
  const std::uint64_t buckets = bucket_count(options);
  if (!std::filesystem::exists(path)) return create(path, options, open_options.region);
  Filter filter = open(path, open_options);
  const Options& stored = filter.options();
  const auto expect = [&path](bool same, const std::string& what) {
    WEIR_EXPECTS(same, path.string() + " exists with another " + what +
                           "; open it with its own options or choose another path");
  };
  expect(stored.layout == options.layout, "layout (" + std::string(info(stored.layout).name) + ")");
  expect(stored.consistency == options.consistency, "consistency");
  expect(stored.hash_seed == options.hash_seed,
         "hash seed (" + std::to_string(stored.hash_seed) + ")");
  expect(stored.buckets >= buckets, "capacity (" + std::to_string(stored.buckets) +
                                        " buckets, fewer than the " + std::to_string(buckets) +
                                        " asked for)");
  return filter;
}

HashedKey Filter::hash(std::uint64_t key) const { return {engine_->geometry().hash(key)}; }
HashedKey Filter::hash(std::string_view key) const {
  return {hash_bytes(std::as_bytes(std::span(key.data(), key.size())), options().hash_seed)};
}

InsertResult Filter::insert(std::uint64_t key) { return insert(hash(key)); }
InsertResult Filter::insert(std::string_view key) { return insert(hash(key)); }
InsertResult Filter::insert(HashedKey key) {
  return change(*engine_, [&] { return engine_->insert(key.value); });
}
bool Filter::contains(std::uint64_t key) const { return engine_->contains(hash(key).value); }
bool Filter::contains(std::string_view key) const { return engine_->contains(hash(key).value); }
bool Filter::contains(HashedKey key) const { return engine_->contains(key.value); }
bool Filter::erase(std::uint64_t key) { return erase(hash(key)); }
bool Filter::erase(std::string_view key) { return erase(hash(key)); }
bool Filter::erase(HashedKey key) {
  return change(*engine_, [&] { return engine_->erase(key.value); });
}

std::size_t Filter::insert(std::span<const std::uint64_t> keys, std::span<InsertResult> results) {
  expect_same_size(keys.size(), results.size());
  return for_each_piece(*engine_, keys, [&](const std::uint64_t* h, std::size_t i, std::size_t n) {
    return change(*engine_, [&] { return engine_->insert(h, n, results.data() + i); });
  });
}
std::size_t Filter::insert(std::span<const HashedKey> keys, std::span<InsertResult> results) {
  expect_same_size(keys.size(), results.size());
  return change(*engine_,
                [&] { return engine_->insert(values_of(keys), keys.size(), results.data()); });
}
std::size_t Filter::contains(std::span<const std::uint64_t> keys, std::span<bool> results) const {
  expect_same_size(keys.size(), results.size());
  return for_each_piece(*engine_, keys, [&](const std::uint64_t* h, std::size_t i, std::size_t n) {
    return engine_->contains(h, n, results.data() + i);
  });
}
std::size_t Filter::contains(std::span<const HashedKey> keys, std::span<bool> results) const {
  expect_same_size(keys.size(), results.size());
  return engine_->contains(values_of(keys), keys.size(), results.data());
}
std::size_t Filter::erase(std::span<const std::uint64_t> keys, std::span<bool> results) {
  expect_same_size(keys.size(), results.size());
  return for_each_piece(*engine_, keys, [&](const std::uint64_t* h, std::size_t i, std::size_t n) {
    return change(*engine_, [&] { return engine_->erase(h, n, results.data() + i); });
  });
}
std::size_t Filter::erase(std::span<const HashedKey> keys, std::span<bool> results) {
  expect_same_size(keys.size(), results.size());
  return change(*engine_,
                [&] { return engine_->erase(values_of(keys), keys.size(), results.data()); });
}

std::uint64_t Filter::size() const { return engine_->size(); }
std::uint64_t Filter::slots() const { return engine_->slots(); }
double Filter::load_factor() const {
  return static_cast<double>(size()) / static_cast<double>(slots());
}
Stats Filter::stats() const { return engine_->stats(); }
double Filter::expected_fpr() const { return engine_->expected_fpr(); }
VerifyReport Filter::verify() const { return engine_->verify(); }
const Options& Filter::options() const { return engine_->options(); }
Durability Filter::durability() const { return engine_->region().durability(); }
const RecoveryReport& Filter::recovery() const { return engine_->recovery_report; }
const PersistentRegion& Filter::region() const { return engine_->region(); }
Location Filter::locate(HashedKey key) const { return engine_->locate(key.value); }
std::span<const Word> Filter::words() const { return engine_->words(); }

void Filter::close() {
  // Every operation that returned is durable already; for a file that is only process_crash this
  // hands the pages to the disk too, so that a clean end survives what comes after.
  if (engine_->region().writable()) engine_->region().sync(engine_->region().bytes());
  engine_.reset();
}

}  // namespace weir::anifilter
