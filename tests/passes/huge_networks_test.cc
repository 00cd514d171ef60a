// SPDX-License-Identifier: Apache-2.0
// Operators whose tensors are as large as a tensor may be, or whose numbers are
// as nobody means them, one at a time through all passes: a plan or a sentence,
// never an abort. Sums and products that overflow show where UBSan watches.
#include <doctest/doctest.h>

#include "ir/graph/supported.h"
#include "ir/ops/op.h"
#include "tests/ir/op_draw.h"
#include "tests/ir/op_run.h"
#include "tests/passes/network.h"

namespace mxc {
namespace {

struct PlanCounts {
  int planned = 0, refused = 0;
};

// Only what other nodes could read.
void KeepVisibleOutputs(OneNode& one) {
  const Operator& op = *one.node->op;
  const int visible = op.visible_outputs
                          ? op.visible_outputs(one.node->attrs.get())
                          : static_cast<int>(one.node->types.size());
  one.graph.outputs.clear();
  for (int i = 0; i < visible; ++i) {
    one.graph.outputs.push_back(one.node->out(i));
    one.graph.output_names.push_back("out" + std::to_string(i));
  }
}

void PlanOnce(const Operator& op, uint32_t seed, const Target& target,
              PlanCounts& counts) {
  Draw draw(seed, Manner::kExtreme);
  const std::vector<AttrText> attrs = DrawAttrs(op, draw);
  const int count = CountInputs(op, attrs);
  if (count < 0) return;
  std::vector<TensorType> types;
  for (const Shape& shape : DrawShapes(draw, count)) {
    types.push_back({DType::kUnknown, shape});
  }
  OneNode one = BuildOneNode(op.name, attrs, types, false);
  if (!one.error.empty() || !CanBeCompiled(op)) return;
  KeepVisibleOutputs(one);
  const auto program =
      RunPipeline(std::move(one.graph), {&target, nullptr}, {});
  ++(program.ok() ? counts.planned : counts.refused);
  if (program.ok()) {
    CHECK_MESSAGE(program->planned(), op.name << ", seed " << seed);
    CHECK_MESSAGE(program->naive_bytes >= program->arena_bytes(),
                  op.name << ", seed " << seed);
  } else {
    CHECK_FALSE(program.errors()[0].message.empty());
  }
}

PlanCounts PlanAll(uint32_t first, int runs_of_each) {
  const Target target = *ResolveTarget("x86-64-v3");
  PlanCounts counts;
  uint32_t seed = first;
  for (const Operator* op : AllOperators()) {
    if (op->internal) continue;
    for (int i = 0; i < runs_of_each; ++i)
      PlanOnce(*op, seed++, target, counts);
  }
  return counts;
}

TEST_CASE("huge tensors are planned or refused") {
  CHECK(PlanAll(1, 5).planned > 100);
}

TEST_CASE("huge tensors for a long time, by hand" * doctest::skip()) {
  const PlanCounts counts = PlanAll(1'000'000, 300);
  MESSAGE(counts.planned << " planned, " << counts.refused << " refused");
}

}  // namespace
}  // namespace mxc
