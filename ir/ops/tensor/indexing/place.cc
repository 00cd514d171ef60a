// SPDX-License-Identifier: Apache-2.0
// _place: zeros with a tensor laid in; our own operator, the gradient of
// slices.
//   data    t[n1 …]
//   output  t[shape]
//   output[begin + k · step] = data[k]
// C1  shape, begin and step have an entry for each axis of data
// C2  a step is not 0, and data fit into shape
#include "ir/ops/tensor/indexing/place.h"

namespace mxc {
namespace {

void PlaceTypes(const PlaceAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  const size_t rank = attrs.shape.size();
  if (!t.Require(attrs.begin.size() == rank && attrs.step.size() == rank &&
                     (!t.In(0).known_rank() ||
                      t.In(0).rank() == static_cast<int>(rank)),
                 "C1: shape {}, begin {} and step {} for data {}",
                 ToString(attrs.shape), ToString(attrs.begin),
                 ToString(attrs.step), ToString(t.In(0)))) {
    return;
  }
  t.SetOut(0, Shape(attrs.shape));
  if (!t.In(0).known()) return;
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t extent = attrs.shape[axis], begin = attrs.begin[axis],
                  step = attrs.step[axis];
    const int64_t count = t.In(0)[static_cast<int>(axis)];
    const bool inside = 0 <= begin && begin < extent && step != 0;
    const int64_t room = step > 0 ? extent - 1 - begin : begin;
    // Steps of a single element may be of any length.
    const bool fits =
        inside && (count == 1 || (std::abs(step / 2) < extent &&
                                  (count - 1) <= room / std::abs(step)));
    if (!t.Require(fits, "C2: {} elements from {} by {} in an extent of {}",
                   count, begin, step, extent)) {
      return;
    }
  }
}

void PlaceMeaning(const PlaceAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  Expr inside = Constant(1, DType::kBool);
  for (int axis = 0; axis < def.OutShape().rank(); ++axis) {
    const int64_t count = def.InShape(0)[axis], begin = attrs.begin[axis],
                  step = attrs.step[axis];
    if (count == def.OutShape()[axis] && step == 1) continue;
    const Expr way = step > 0 ? index[axis] - begin : Expr(begin) - index[axis];
    const int64_t stride = count == 1 ? 1 : std::abs(step);
    if (stride != 1) inside = inside && way % stride == 0;
    index[axis] = way / stride;
    inside = inside && way >= 0 && index[axis] < count;
  }
  def.Set(0, Select(inside, def.In(0, index), def.Lit(0)));
}

}  // namespace

Value PlaceInZeros(GradientBuilder& g, Value value, const Shape& shape,
                   const Extents& begin, const Extents& step) {
  return g.Op<op::Place>({value},
                         {.shape = shape.dims(), .begin = begin, .step = step});
}

MXC_OP(Place) {
  return Op<PlaceAttrs>("_place")
      .Internal()
      .Doc("zeros with a tensor laid in")
      .Types(PlaceTypes)
      .Meaning(PlaceMeaning);
}

}  // namespace mxc
