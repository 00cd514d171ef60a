// SPDX-License-Identifier: Apache-2.0
// _contrib_arange_like: start, start + step, … in the shape of data, or along
// one axis of it; each number `repeat` times in a row, the last one perhaps less.
// C1  axis is in range
#include "ir/ops/tensor/create/progression.h"
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct ArangeLikeAttrs {
  double start = 0, step = 1;
  int64_t repeat = 1;
  std::string ctx;
  std::optional<int64_t> axis;

  void Describe(Fields& f) {
    f("start", start).Doc("the first number");
    f("step", step).Doc("difference of two numbers");
    f("repeat", repeat).Min(1).Doc("how often each number stands");
    f("ctx", ctx).Doc("device").Hint();
    f("axis", axis).Doc("the axis that is counted; None: all elements");
  }
};

void ArangeLikeTypes(const ArangeLikeAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  Shape out = t.In(0);
  if (attrs.axis) {
    const auto axis = RequireAxis(t, "C1", "axis", *attrs.axis, out.rank());
    if (!axis) return;
    out = Shape{out[*axis]};
  }
  t.SetOut(0, out);
}

void ArangeLikeMeaning(const ArangeLikeAttrs& attrs, Definition& def) {
  const Expr position = Definition::Flatten(def.Indices(), def.OutShape());
  def.Set(0, Counting(position / attrs.repeat, attrs.start, attrs.step,
                      def.OutDType()));
}

}  // namespace

MXC_OP(ArangeLike) {
  return Op<ArangeLikeAttrs>("_contrib_arange_like")
      .Alias({"_npx_arange_like"})
      .Doc("numbers at equal distances in the shape of data")
      .Types(ArangeLikeTypes)
      .Meaning(ArangeLikeMeaning)
      .ZeroGradient();
}

}  // namespace mxc
