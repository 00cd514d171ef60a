// SPDX-License-Identifier: Apache-2.0
// Every operator with random attributes, shapes and values: it may refuse them,
// but neither its type function nor its meaning may break, and the interpreter
// aborts where a meaning reads outside an input.
#include <doctest/doctest.h>

#include "ir/graph/supported.h"
#include "ir/ops/op.h"
#include "tests/ir/op_draw.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

constexpr int kRunsOfEach = 150;
constexpr int64_t kMostElements = 400;

bool Small(const OpRun& run) {
  for (const auto& list : {run.inputs, run.outputs}) {
    for (const TensorType& type : list) {
      if (!type.known() || type.dtype == DType::kUnknown) return false;
      const auto count = CheckedProduct(type.shape.dims());
      if (!count || *count > kMostElements || *count < 1) return false;
    }
  }
  return true;
}

void RunOnce(const Operator& op, Draw& draw, int& evaluated) {
  const std::vector<AttrText> attrs = DrawAttrs(op, draw);
  const int count = CountInputs(op, attrs);
  if (count < 0) return;
  const OpRun run = InferOp(op.name, attrs, DrawShapes(draw, count));
  if (!run.error.empty() || !Small(run)) return;
  if (!CanBeCompiled(op)) return;
  std::vector<Tensor> inputs;
  for (const TensorType& type : run.inputs) {
    if (type.dtype != DType::kF32) return;
    inputs.push_back(draw.Values(type.shape));
  }
  EvaluateOp(op.name, attrs, inputs);
  ++evaluated;
}

TEST_CASE("no operator breaks on random attributes, shapes and values") {
  int evaluated = 0;
  uint32_t seed = 1;
  for (const Operator* op : AllOperators()) {
    // Rules give it what fits; what it computes is not ours.
    if (op->internal || op->call) continue;
    CAPTURE(op->name);
    for (int i = 0; i < kRunsOfEach; ++i) {
      Draw draw(seed++);
      RunOnce(*op, draw, evaluated);
    }
  }
  CHECK(evaluated > 1000);
}

}  // namespace
}  // namespace mxc
