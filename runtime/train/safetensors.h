// SPDX-License-Identifier: Apache-2.0
// Reads safetensors (github.com/huggingface/safetensors): u64 length of a JSON
// header, the header, the arrays' elements, little-endian and row-major.
//
//   {"fc_weight": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]},
//    "__metadata__": {"any": "text"}}
#pragma once

#include <vector>

#include "runtime/base/bytes.h"
#include "runtime/base/status.h"
#include "runtime/formats/array.h"

namespace mxc::train {

// In the order of the header; the metadata are passed over. Refuses arrays that
// overlap, so that they take no more memory than the file, and element types of
// less than a byte or with eight bits.
runtime::StatusOr<std::vector<runtime::NamedArray>> ParseSafetensors(
    runtime::Bytes file);

}  // namespace mxc::train
