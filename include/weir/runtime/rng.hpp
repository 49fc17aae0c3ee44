// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <limits>

namespace weir {

/// One step of splitmix64 (Steele, Lea, Flood, OOPSLA'14): turns a counter into a random word.
constexpr std::uint64_t splitmix64(std::uint64_t counter) {
  std::uint64_t z = counter + 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

/// xoshiro256** (Blackman, Vigna 2018). The only source of randomness in Weir's logic: always
/// passed in with a seed, never global. Same seed, same sequence on every machine. Not thread-safe.
/// Meets UniformRandomBitGenerator, so the std distributions take it.
class Rng {
 public:
  using result_type = std::uint64_t;
  explicit Rng(std::uint64_t seed) {
    for (auto& word : state_) word = splitmix64(seed += 0x9E3779B97F4A7C15u);
  }

  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }

  result_type operator()() {
    const std::uint64_t result = rotate_left(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate_left(state_[3], 45);
    return result;
  }

  /// Uniform in [0, bound); bound 0 gives 0. Lemire's multiply-shift; its bias is below bound/2^64.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;  // quiet under -Wpedantic
    return static_cast<std::uint64_t>((static_cast<Wide>((*this)()) * bound) >> 64);
  }

  /// Uniform in [0, 1) with 53 random bits.
  double uniform() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

 private:
  static constexpr std::uint64_t rotate_left(std::uint64_t x, int k) {
    return (x << k) | (x >> (64 - k));
  }
  std::uint64_t state_[4];
};

}  // namespace weir
