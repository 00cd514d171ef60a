// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/tensor/image/image.h"

#include <utility>

#include "ir/ops/tensor/shape/reverse.h"

namespace mxc {

bool RequireImage(TypeInference& t) {
  const Shape& in = t.In(0);
  return in.known_rank() &&
         t.Require(in.rank() == 3 || in.rank() == 4,
                   "C1: data has rank {}, expected 3 or 4", in.rank());
}

void ImageTypes(TypeInference& t, int64_t rows, int64_t columns) {
  t.AllSameDType();
  if (!RequireImage(t)) return;
  Shape out = t.In(0);
  out[out.rank() - 3] = rows;
  out[out.rank() - 2] = columns;
  t.SetOut(0, out);
}

void MoveCells(Definition& def,
               const std::function<void(Expr& y, Expr& x)>& from) {
  std::vector<Expr> index = def.Indices();
  const size_t rank = index.size();
  from(index[rank - 3], index[rank - 2]);
  def.Set(0, def.In(0, index));
}

Operator ImageFlipOperator(const std::string& name, std::string doc,
                           int axis_from_end) {
  return Op<>("_image_" + name)
      .Alias({"_npx__image_" + name})
      .Doc(std::move(doc))
      .Types([](const NoAttrs&, TypeInference& t) {
        t.AllSameDType();
        t.AllSameShape();
        RequireImage(t);
      })
      .Decompose([axis_from_end](const NoAttrs&, const Node& node,
                                 GraphBuilder& b) -> std::vector<Value> {
        const int axis = node.types[0].shape.rank() - axis_from_end;
        return {b.Op<op::Reverse>(node.inputs, {.axis = {axis}})};
      });
}

}  // namespace mxc
