// SPDX-License-Identifier: Apache-2.0
// Whether what a program hands to a KVStore fits its keys; a sentence if not.
#pragma once

#include "runtime/kvstore/kvstore.h"

namespace mxc::kvstore {

inline Status CheckKey(const KeyTable& keys, uint32_t key, size_t devices) {
  if (key >= keys.size()) {
    return Fail(StatusCode::kInvalidArgument, "there is no key %u", key);
  }
  if (devices > 0) return {};
  return Fail(StatusCode::kInvalidArgument, "key '%s': no array was given",
              keys[key].name.c_str());
}

// All sizes are the key's.
template <class T>
Status CheckArrays(const KeyTable& keys, uint32_t key,
                   std::span<const std::span<T>> arrays) {
  MXC_RT_RETURN_IF_ERROR(CheckKey(keys, key, arrays.size()));
  for (const auto& array : arrays) {
    if (array.size() == keys[key].elements()) continue;
    return Fail(
        StatusCode::kInvalidArgument,
        "key '%s' has %llu elements, the array %zu", keys[key].name.c_str(),
        static_cast<unsigned long long>(keys[key].elements()), array.size());
  }
  return {};
}

// A gradient of all elements.
inline Status CheckGradients(const KeyTable& keys, uint32_t key,
                             Pushed gradients) {
  MXC_RT_RETURN_IF_ERROR(CheckArrays(keys, key, gradients));
  if (!keys[key].sparse()) return {};
  return Fail(StatusCode::kInvalidArgument,
              "gradients of key '%s' are of some rows alone",
              keys[key].name.c_str());
}

// Of a sparse key, which has such rows.
template <class SomeRows>
Status CheckRows(const KeyTable& keys, uint32_t key,
                 std::span<const SomeRows> of_devices) {
  MXC_RT_RETURN_IF_ERROR(CheckKey(keys, key, of_devices.size()));
  const KeySpec& spec = keys[key];
  if (!spec.sparse()) {
    return Fail(StatusCode::kInvalidArgument,
                "gradients of key '%s' are not of some rows alone",
                spec.name.c_str());
  }
  for (const SomeRows& rows : of_devices) {
    if (rows.elements.size() != rows.numbers.size() * spec.width) {
      return Fail(StatusCode::kInvalidArgument,
                  "key '%s' has rows of %llu elements; %zu rows have %zu",
                  spec.name.c_str(),
                  static_cast<unsigned long long>(spec.width),
                  rows.numbers.size(), rows.elements.size());
    }
    for (const uint64_t number : rows.numbers) {
      if (number < spec.rows()) continue;
      return Fail(StatusCode::kInvalidArgument,
                  "key '%s' has %llu rows, and none of number %llu",
                  spec.name.c_str(),
                  static_cast<unsigned long long>(spec.rows()),
                  static_cast<unsigned long long>(number));
    }
  }
  return {};
}

}  // namespace mxc::kvstore
