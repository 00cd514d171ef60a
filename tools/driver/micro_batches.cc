// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/micro_batches.h"

#include <fmt/format.h>

#include "frontend/variables.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

Status RequirePart(const Node& input, int parts) {
  const Shape& shape = input.types[0].shape;
  if (shape.rank() > 0 && shape[0] % parts == 0 &&
      BatchAxis(input, shape.rank()) == 0) {
    return Done{};
  }
  return Error(input.loc,
               "'{}' of shape {} cannot be cut into {} micro-batches: they are "
               "equal parts along the first axis, which is the batch's",
               input.name, ToString(shape), parts);
}

}  // namespace

Status CutIntoMicroBatches(const CompileRequest& request, Graph& graph) {
  const int parts = request.training.micro_batches;
  if (parts == 1) return Done{};
  if (request.precision == DType::kF16) {
    return Error({},
                 "--micro-batches is not for --precision float16, whose "
                 "loss is scaled by what one part of a batch finds");
  }
  Diagnostics errors;
  Done cut;
  for (const auto& node : graph.nodes()) {
    if (node->kind == Node::Kind::kOperator) {
      for (TensorType& type : node->types) type = TensorType();
    }
    if (!node->is_declared_input()) continue;
    TakeOrAdd(RequirePart(*node, parts), cut, errors);
    Extents dims = node->types[0].shape.dims();
    if (!dims.empty()) dims[0] /= parts;
    node->types[0].shape = Shape(dims);
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace mxc
