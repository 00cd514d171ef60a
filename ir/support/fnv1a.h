// SPDX-License-Identifier: Apache-2.0
// Hashes texts where a hash is written down or decides what is computed, so
// that it must be the same everywhere.
#pragma once

#include <cstdint>
#include <string_view>

namespace mxc {

inline constexpr uint64_t kFnv1aOffset = 0xcbf29ce484222325;

// FNV-1a of 64 bits (isthe.com/chongo/tech/comp/fnv); goes on from the hash of
// what stands before.
constexpr uint64_t Fnv1a(std::string_view text, uint64_t hash = kFnv1aOffset) {
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

}  // namespace mxc
