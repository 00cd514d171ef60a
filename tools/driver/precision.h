// SPDX-License-Identifier: Apache-2.0
// What is kept between layers, by the name that users give it.
#pragma once

#include <string_view>

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

}  // namespace mxc
