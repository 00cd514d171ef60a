// SPDX-License-Identifier: Apache-2.0
// Numbers in files, for seals and seeds.
#pragma once

#include <cstddef>
#include <cstring>
#include <span>
#include <string>

namespace mxc::fuzz {

// The caller knows that the bytes are there.
template <class T>
T Load(std::span<const std::byte> file, size_t at) {
  T value;
  std::memcpy(&value, file.data() + at, sizeof value);
  return value;
}

template <class T>
void Store(std::span<std::byte> file, size_t at, T value) {
  std::memcpy(file.data() + at, &value, sizeof value);
}

// The value's bytes.
template <class T>
std::string Number(T value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace mxc::fuzz
