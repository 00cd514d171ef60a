// SPDX-License-Identifier: Apache-2.0
// _pad_gradient: the gradient of Pad whose border repeats data; our own
// operator.
//   head      t[before + d + after, …]
//   gradient  t[d, …], Σ of head over all places that show an element
// edge: of the first and the last element the border is one. reflect: of an
// element itself, its image before the first and its image behind the last one.
// C1  pad_width holds a pair for each axis
// C2  data remain; reflect: more of them than of the border
#include <algorithm>

#include "ir/ops/op.h"
#include "ir/ops/tensor/shape/pad_gradient.h"

namespace mxc {
namespace {

void PadGradientTypes(const PadGradientAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  Shape out = t.In(0);
  if (!t.Require(2 * out.rank() == static_cast<int>(attrs.pad_width.size()),
                 "C1: pad_width {} for a head of rank {}",
                 ToString(attrs.pad_width), out.rank())) {
    return;
  }
  for (int axis = 0; axis < out.rank(); ++axis) {
    const int64_t border = std::max(attrs.Before(axis), attrs.After(axis));
    out[axis] -= attrs.Before(axis) + attrs.After(axis);
    const int64_t least =
        attrs.mode == PadBorderMode::kReflect ? border + 1 : 1;
    if (!t.Require(out[axis] >= least, "C2: axis {} keeps {} elements", axis,
                   out[axis])) {
      return;
    }
  }
  t.SetOut(0, out);
}

void EdgeGradientMeaning(const PadGradientAttrs& attrs, Definition& def) {
  std::vector<Expr> begin, end;
  for (int axis = 0; axis < def.OutShape().rank(); ++axis) {
    const Expr i = Var(axis), place = i + attrs.Before(axis);
    const int64_t last = def.OutShape()[axis] - 1;
    begin.push_back(attrs.Before(axis) == 0 ? place : Select(i == 0, 0, place));
    end.push_back(attrs.After(axis) == 0
                      ? place + 1
                      : Select(i == last, def.InShape(0)[axis], place + 1));
  }
  def.Set(0, Definition::ReduceOver(
                 ReduceOp::kSum, begin, end,
                 [&](const std::vector<Expr>& r) { return def.In(0, r); }));
}

void ReflectGradientMeaning(const PadGradientAttrs& attrs, Definition& def) {
  std::vector<Expr> images;
  for (int axis = 0; axis < def.OutShape().rank(); ++axis) {
    images.push_back(attrs.Before(axis) + attrs.After(axis) == 0 ? 1 : 3);
  }
  def.Set(0, Definition::Sum(images, [&](const std::vector<Expr>& r) {
            std::vector<Expr> index;
            Expr shown = Constant(1, DType::kBool);
            for (int axis = 0; axis < def.OutShape().rank(); ++axis) {
              const Expr i = Var(axis), place = i + attrs.Before(axis);
              index.push_back(place);
              if (IsConst(images[axis], 1)) continue;
              const int64_t extent = def.OutShape()[axis];
              const Expr first = attrs.Before(axis) - i;
              const Expr second = attrs.Before(axis) + 2 * (extent - 1) - i;
              index.back() = Select(r[axis] == 0, place,
                                    Select(r[axis] == 1, first, second));
              shown = shown &&
                      (r[axis] == 0 || (r[axis] == 1 && i >= 1 && first >= 0) ||
                       (r[axis] == 2 && i < extent - 1 &&
                        second < def.InShape(0)[axis]));
            }
            return Select(shown, def.In(0, index), def.Lit(0));
          }));
}

}  // namespace

MXC_OP(PadGradient) {
  return Op<PadGradientAttrs>("_pad_gradient")
      .Internal()
      .Doc("the gradient of a border that repeats data")
      .Inputs({{"head", InputKind::kData}})
      .Outputs({"gradient"})
      .Types(PadGradientTypes)
      .Meaning([](const PadGradientAttrs& attrs, Definition& def) {
        if (attrs.mode == PadBorderMode::kEdge) {
          EdgeGradientMeaning(attrs, def);
        } else {
          ReflectGradientMeaning(attrs, def);
        }
      });
}

}  // namespace mxc
