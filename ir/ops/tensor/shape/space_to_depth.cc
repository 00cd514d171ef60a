// SPDX-License-Identifier: Apache-2.0
// space_to_depth: blocks of b × b pixels become channels.
//   data    t[N, C, H·b, W·b]
//   output  t[N, C·b², H, W]
//   output[n, (dy·b + dx)·C + c, y, x] = data[n, c, y·b + dy, x·b + dx]
// C1  data has rank 4
// C2  b divides both spatial extents
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/blocks.h"

namespace mxc {
namespace {

void SpaceToDepthTypes(const BlockAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& in = t.In(0);
  const int64_t b = attrs.block_size;
  if (!t.Require(in.rank() == 4, "C1: data has rank {}, expected 4",
                 in.rank()) ||
      !t.Require(in[2] % b == 0 && in[3] % b == 0,
                 "C2: blocks of {} x {} do not divide {} x {} pixels", b, b,
                 in[2], in[3])) {
    return;
  }
  const auto channels = RequireProduct(t, in[1], b * b);
  if (channels) t.SetOut(0, {in[0], *channels, in[2] / b, in[3] / b});
}

void SpaceToDepthMeaning(const BlockAttrs& attrs, Definition& def) {
  const Expr b = attrs.block_size, n = Var(0), channel = Var(1), y = Var(2),
             x = Var(3);
  const Expr channels = def.InShape(0)[1];
  const Expr block = channel / channels;
  def.Set(0, def.In(0, {n, channel % channels, y * b + block / b,
                        x * b + block % b}));
}

}  // namespace

MXC_OP(SpaceToDepth) {
  return Op<BlockAttrs>("space_to_depth")
      .Doc("blocks of pixels become channels")
      .Types(SpaceToDepthTypes)
      .Meaning(SpaceToDepthMeaning)
      .Gradient([](const BlockAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.Op<op::DepthToSpace>({g.Head()}, attrs)};
      });
}

}  // namespace mxc
