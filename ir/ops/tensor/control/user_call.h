// SPDX-License-Identifier: Apache-2.0
// States the attributes of call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/graph/fields.h"
#include "ir/graph/tensor.h"
#include "ir/ops/operators.h"
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {

struct UserCallAttrs {
  int64_t num_args = 1, version = 1, workspace = 0, workspace_per_row = 0;
  std::string function = {}, backward = {}, attributes = {};
  std::string shapes = "like", dtypes = {};

  void Describe(Fields& f) {
    f("num_args", num_args).Range(1, kMaxOperands).Doc("number of inputs");
    f("function", function).Required().Doc("its name, as it is registered");
    f("version", version)
        .Range(1, std::numeric_limits<int32_t>::max())
        .Doc("that it is registered with");
    f("backward", backward)
        .Doc(
            "the function that computes the gradients of the inputs; without "
            "it none passes");
    f("attributes", attributes).Doc("text for the functions");
    f("shapes", shapes)
        .Doc(
            "of the outputs: 64x10,64; 0: as data0 has it on that axis; like: "
            "one output, shaped as data0");
    f("dtypes", dtypes)
        .Doc(
            "of the outputs: float32,int64; empty: all operands have one type");
    f("workspace", workspace)
        .Range(0, 1LL << 30)
        .Doc("bytes that either function needs beside its operands");
    f("workspace_per_row", workspace_per_row)
        .Range(0, 1LL << 30)
        .Doc("bytes for each sample more, of data0's first axis");
  }

  bool like() const { return shapes == "like"; }
  size_t outputs() const {
    if (like()) return 1;
    return ParseShapes(shapes).value_or(std::vector<Shape>(1)).size();
  }
  // kUnknown for a word that names none.
  std::vector<DType> output_dtypes() const {
    std::vector<DType> types;
    for (size_t at = 0; at < dtypes.size() + !dtypes.empty();) {
      const size_t end = std::min(dtypes.find(',', at), dtypes.size());
      types.push_back(DTypeFromMxnetName(dtypes.substr(at, end - at))
                          .value_or(DType::kUnknown));
      at = end + 1;
    }
    return types;
  }
};
MXC_ATTRS(UserCall, UserCallAttrs);

}  // namespace mxc
