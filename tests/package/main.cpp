// SPDX-License-Identifier: Apache-2.0
// What a user's first program looks like to the build: one public call, checked.
#include <cstdio>
#include <span>
#include <string_view>

#include <weir/config.hpp>
#include <weir/runtime/hash.hpp>

int main() {
  constexpr std::string_view kText = "abc";
  const bool right = weir::hash_bytes(std::as_bytes(std::span(kText))) == 0x44BC2CF5AD770999u;
  std::printf("weir %s: %s\n", WEIR_VERSION, right ? "works" : "gives a wrong hash");
  return right ? 0 : 1;
}
