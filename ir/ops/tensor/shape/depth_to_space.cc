// SPDX-License-Identifier: Apache-2.0
// depth_to_space: channels become blocks of b × b pixels.
//   data    t[N, C·b², H, W]
//   output  t[N, C, H·b, W·b]
//   output[n, c, y, x] = data[n, ((y mod b)·b + x mod b)·C + c, y/b, x/b]
// C1  data has rank 4
// C2  b² divides the channels
#include "ir/ops/tensor/shape/axes.h"
#include "ir/ops/tensor/shape/blocks.h"

namespace mxc {
namespace {

void DepthToSpaceTypes(const BlockAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& in = t.In(0);
  const int64_t b = attrs.block_size;
  if (!t.Require(in.rank() == 4, "C1: data has rank {}, expected 4",
                 in.rank()) ||
      !t.Require(in[1] % (b * b) == 0,
                 "C2: blocks of {} x {} do not divide {} channels", b, b,
                 in[1])) {
    return;
  }
  const auto height = RequireProduct(t, in[2], b);
  const auto width = RequireProduct(t, in[3], b);
  if (height && width) t.SetOut(0, {in[0], in[1] / (b * b), *height, *width});
}

void DepthToSpaceMeaning(const BlockAttrs& attrs, Definition& def) {
  const Expr b = attrs.block_size, n = Var(0), c = Var(1), y = Var(2),
             x = Var(3);
  const Expr block = (y % b) * b + x % b;
  def.Set(0, def.In(0, {n, block * def.OutShape()[1] + c, y / b, x / b}));
}

}  // namespace

MXC_OP(DepthToSpace) {
  return Op<BlockAttrs>("depth_to_space")
      .Doc("channels become blocks of pixels")
      .Types(DepthToSpaceTypes)
      .Meaning(DepthToSpaceMeaning)
      .Gradient([](const BlockAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.Op<op::SpaceToDepth>({g.Head()}, attrs)};
      });
}

}  // namespace mxc
