// SPDX-License-Identifier: Apache-2.0
// What is kept between layers, and of weights, by the names that users give.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "tools/driver/request.h"

namespace mxc {

inline constexpr std::string_view kPrecisions = "f32, tf32, bf16 or f16";

// False, and nothing changes, where `name` is none of kPrecisions.
inline bool SetPrecision(std::string_view name, CompileRequest& request) {
  const bool f32 = name == "f32" || name == "tf32";
  if (!f32 && name != "bf16" && name != "f16") return false;
  request.precision = f32              ? DType::kF32
                      : name == "bf16" ? DType::kBF16
                                       : DType::kF16;
  request.tf32 = name == "tf32";
  return true;
}

inline constexpr std::string_view kWeightKinds =
    "f32, bf16, int8, int4 or int4:GROUP";

inline constexpr std::pair<std::string_view, WeightKind> kWeightNames[] = {
    {"f32", WeightKind::kF32},
    {"bf16", WeightKind::kBF16},
    {"int8", WeightKind::kInt8},
    {"int4", WeightKind::kInt4}};

// Likewise. int4:64 has a scale for each 64 inputs of an output; any even number
// up to 4096 will do.
inline bool SetWeights(std::string_view name, WeightStorage& weights) {
  constexpr int64_t kLargestGroup = 4096;
  constexpr std::string_view kGrouped = "int4:";
  if (name.starts_with(kGrouped)) {
    const std::string_view digits = name.substr(kGrouped.size());
    int64_t group = 0;
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), group);
    const bool right = error == std::errc() &&
                       end == digits.data() + digits.size() && group >= 2 &&
                       group <= kLargestGroup && group % 2 == 0;
    if (!right) return false;
    weights.kind = WeightKind::kInt4;
    weights.group = group;
    return true;
  }
  for (const auto& [known, kind] : kWeightNames) {
    if (name != known) continue;
    weights.kind = kind;
    return true;
  }
  return false;
}

// By which SetWeights gives the same.
inline std::string WeightsName(const WeightStorage& weights) {
  for (const auto& [name, kind] : kWeightNames) {
    if (kind != weights.kind) continue;
    if (kind != WeightKind::kInt4) return std::string(name);
    return std::string(name) + ":" + std::to_string(weights.group);
  }
  return "";
}

}  // namespace mxc
