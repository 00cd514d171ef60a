// SPDX-License-Identifier: Apache-2.0
// Every operator with attributes and shapes that nobody means: 0, negative,
// near the ends of 32 and 64 bits, of nine axes and more. Inference must refuse
// them with a sentence or infer types that a tensor can have. Undefined
// behaviour on the way shows where UBSan watches.
#include <doctest/doctest.h>

#include "ir/ops/op.h"
#include "ir/program/procedure_builder.h"
#include "tests/ir/op_draw.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

struct Counts {
  int64_t drawn = 0, refused = 0, inferred = 0;
};

// What the operator means of types that may be huge: building it reads and
// computes with extents, but no element.
void BuildMeaning(const OneNode& one) {
  if (one.node->op->procedure) {
    ProcedureBuilder procedure(*one.node);
    one.node->op->procedure(one.node->attrs.get(), procedure);
  }
  if (!one.node->op->meaning) return;
  Definition definition(*one.node, one.graph.training);
  one.node->op->meaning(one.node->attrs.get(), definition);
}

void RunOnce(const Operator& op, uint32_t seed, Counts& counts) {
  Draw draw(seed, Manner::kExtreme);
  const std::vector<AttrText> attrs = DrawAttrs(op, draw);
  ++counts.drawn;
  const int count = CountInputs(op, attrs);
  if (count < 0) return;
  std::vector<TensorType> types;
  for (const Shape& shape : DrawShapes(draw, count)) {
    types.push_back({DType::kUnknown, shape});
  }
  const OneNode one = BuildOneNode(op.name, attrs, types, seed % 2 == 0);
  if (!one.error.empty()) {
    ++counts.refused;
    return;
  }
  ++counts.inferred;
  for (const Value& input : one.node->inputs) {
    CHECK_MESSAGE(!Unfit(input.type()), op.name << ", seed " << seed);
  }
  for (const TensorType& type : one.node->types) {
    CHECK_MESSAGE(type.known(), op.name << ", seed " << seed);
    CHECK_MESSAGE(!Unfit(type), op.name << ", seed " << seed);
  }
  BuildMeaning(one);
}

Counts RunAll(uint32_t first, int runs_of_each) {
  Counts counts;
  uint32_t seed = first;
  for (const Operator* op : AllOperators()) {
    if (op->internal) continue;  // rules give it what fits
    for (int i = 0; i < runs_of_each; ++i) RunOnce(*op, seed++, counts);
  }
  return counts;
}

TEST_CASE("extreme attributes and shapes are refused, or their types fit") {
  const Counts counts = RunAll(1, 100);
  CHECK(counts.refused > counts.drawn / 10);
  CHECK(counts.inferred > counts.drawn / 10);
}

// By hand, best under UBSan: ir_test --no-skip -tc="*by hand*"
TEST_CASE("extreme attributes and shapes for a long time, by hand" *
          doctest::skip()) {
  const Counts counts = RunAll(1'000'000, 20'000);
  MESSAGE(counts.drawn << " drawn, " << counts.refused << " refused, "
                       << counts.inferred << " inferred");
}

}  // namespace
}  // namespace mxc
