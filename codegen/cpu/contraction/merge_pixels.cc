// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/contraction/merge_pixels.h"

#include <vector>

#include "codegen/cpu/contraction/operand.h"

namespace mxc::contraction {
namespace {

bool Mergeable(const PixelAxis& outer, const PixelAxis& inner) {
  return outer.data_stride == inner.extent * inner.data_stride &&
         outer.output_stride == inner.extent * inner.output_stride;
}

// Returns whether the epilogue reads its operands on `outer` and `inner` as if
// they were one axis with inner's stride.
bool ReadsEvenly(const Program& program, const Step& step, const Expr& e,
                 const PixelAxis& outer, const PixelAxis& inner) {
  bool even = true;
  VisitLoads(e, [&](const ExprNode& load) {
    const Buffer& buffer = program.buffers[step.inputs[load.index]];
    const std::vector<Role> none(buffer.type.shape.rank());
    const Operand operand(buffer.layout, none);
    int64_t outer_stride = 0, inner_stride = 0;
    for (size_t axis = 0; axis < load.args.size(); ++axis) {
      const Expr& index = load.args[axis];
      const bool plain = index->kind == ExprKind::kVar &&
                         buffer.layout.block(static_cast<int>(axis)) == 1;
      for (const PixelAxis* pixel : {&outer, &inner}) {
        if (pixel->var < 0 || !UsesVar(index, pixel->var)) continue;
        if (!plain) even = false;
        (pixel == &outer ? outer_stride : inner_stride) +=
            operand.Stride(static_cast<int>(axis));
      }
    }
    if (outer_stride != inner.extent * inner_stride) even = false;
  });
  if (!even) return false;
  // Uses outside of Loads (a position as a value) cannot be merged.
  const Expr without = Rewrite(e, [](const Expr& node) -> Expr {
    return node->kind == ExprKind::kLoad ? Constant(0, node->dtype) : Expr();
  });
  return (outer.var < 0 || !UsesVar(without, outer.var)) &&
         (inner.var < 0 || !UsesVar(without, inner.var));
}

}  // namespace

bool BecomeOne(const Program& program, const Step& step, const PixelAxis& outer,
               const PixelAxis& inner) {
  return Mergeable(outer, inner) &&
         ReadsEvenly(program, step, step.contraction()->epilogue, outer, inner);
}

void MergeRows(const Program& program, const Step& step, Nest& nest) {
  if (!BecomeOne(program, step, nest.rows, nest.columns)) return;
  nest.columns.extent *= nest.rows.extent;
  nest.rows = {};
}

}  // namespace mxc::contraction
