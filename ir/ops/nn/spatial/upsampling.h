// SPDX-License-Identifier: Apache-2.0
// States the attributes of UpSampling.
#pragma once

#include <cstdint>

#include "ir/graph/fields.h"
#include "ir/ops/operators.h"

namespace mxc {

enum class UpSampleType : int { kNearest, kBilinear };

enum class MultiInputMode : int { kConcat, kSum };

struct UpSamplingAttrs {
  int64_t scale = 1;
  int64_t num_filter = 0;
  UpSampleType sample_type = UpSampleType::kNearest;
  MultiInputMode multi_input_mode = MultiInputMode::kConcat;
  int64_t num_args = 1;
  int64_t workspace = 512;

  void Describe(Fields& f) {
    f("scale", scale).Required().Range(1, 1000).Doc("the factor");
    f("num_filter", num_filter).Min(0).Hint();
    f("sample_type", sample_type)
        .OneOf({"nearest", "bilinear"})
        .Required()
        .Doc("how cells in between are filled");
    f("multi_input_mode", multi_input_mode)
        .OneOf({"concat", "sum"})
        .Doc("how several inputs are joined");
    f("num_args", num_args)
        .Required()
        .Range(1, 1 << 16)
        .Doc("number of inputs");
    f("workspace", workspace).Hint();
  }
  bool bilinear() const { return sample_type == UpSampleType::kBilinear; }
};
MXC_ATTRS(UpSampling, UpSamplingAttrs);

}  // namespace mxc
