// SPDX-License-Identifier: Apache-2.0
// _image_normalize: (x − mean) / std, with a number for each channel or one for
// all.
//   data f[(N,) C, H, W]
// C1  data has rank 3 or 4
// C2  mean and std have one entry, or one for each channel
#include "ir/ops/tensor/elementwise/unary.h"

namespace mxc {
namespace {

struct ImageNormalizeAttrs {
  std::vector<double> mean = {0, 0, 0, 0};
  std::vector<double> std = {1, 1, 1, 1};

  void Describe(Fields& f) {
    f("mean", mean).Doc("what is subtracted");
    f("std", std).Doc("what is divided by");
  }
};

void ImageNormalizeTypes(const ImageNormalizeAttrs& attrs, TypeInference& t) {
  SameTypes(t);
  const Shape& in = t.In(0);
  if (!in.known_rank()) return;
  const int rank = in.rank();
  if (!t.Require(rank == 3 || rank == 4,
                 "C1: data has rank {}, expected 3 or 4", rank) ||
      !in.known(rank - 3)) {
    return;
  }
  const int64_t channels = in[rank - 3];
  for (const auto* list : {&attrs.mean, &attrs.std}) {
    const auto count = static_cast<int64_t>(list->size());
    t.Require(count == 1 || (count >= channels && channels <= 4),
              "C2: mean or std has {} entries for {} channels", count,
              channels);
  }
}

// Entry `channel` of a list; its only one if there is one.
Expr OfChannel(const std::vector<double>& list, const Expr& channel,
               int64_t channels, DType dtype) {
  Expr value = Constant(list[0], dtype);
  for (int64_t c = 1; c < channels && list.size() > 1; ++c) {
    value = Select(channel == Expr(c), Constant(list[c], dtype), value);
  }
  return value;
}

void ImageNormalizeMeaning(const ImageNormalizeAttrs& attrs, Definition& def) {
  const int axis = def.OutShape().rank() - 3;
  const int64_t channels = def.OutShape()[axis];
  const auto normalize = [&](Expr x) {
    return (x - OfChannel(attrs.mean, Var(axis), channels, x->dtype)) /
           OfChannel(attrs.std, Var(axis), channels, x->dtype);
  };
  def.Set(0, InFloat(def.In(0, def.Indices()), normalize));
}

}  // namespace

MXC_OP(ImageNormalize) {
  return Op<ImageNormalizeAttrs>("_image_normalize")
      .Alias({"_npx__image_normalize"})
      .Doc("pictures with mean and deviation of each channel taken out")
      .Types(ImageNormalizeTypes)
      .Meaning(ImageNormalizeMeaning)
      .ElementwiseGradient();
}

}  // namespace mxc
