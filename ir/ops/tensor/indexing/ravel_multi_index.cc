// SPDX-License-Identifier: Apache-2.0
// _ravel_multi_index: columns of indices as row-major positions in a shape.
//   data [M, I…], shape of rank M → [I…]
// C1  data has one row for each axis of shape
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct RavelAttrs {
  Extents shape;

  void Describe(Fields& f) {
    f("shape", shape)
        .Required()
        .Doc("the shape in which positions are counted");
  }
};

void RavelTypes(const RavelAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  const auto rank = static_cast<int64_t>(attrs.shape.size());
  if (!t.Require(data.rank() >= 1 && (!data.known(0) || data[0] == rank),
                 "C1: data has shape {}, expected {} rows", ToString(data),
                 rank)) {
    return;
  }
  Extents dims(data.dims().begin() + 1, data.dims().end());
  if (dims.empty()) dims.push_back(1);
  t.SetOut(0, Shape(dims));
}

void RavelMeaning(const RavelAttrs& attrs, Definition& def) {
  Expr position = 0;
  for (size_t m = 0; m < attrs.shape.size(); ++m) {
    std::vector<Expr> at = def.Indices();
    at.resize(def.InShape(0).rank() - 1);
    at.insert(at.begin(), static_cast<int64_t>(m));
    position = position * attrs.shape[m] + Cast(def.In(0, at), DType::kI64);
  }
  def.Set(0, position);
}

}  // namespace

MXC_OP(RavelMultiIndex) {
  return Op<RavelAttrs>("_ravel_multi_index")
      .Alias({"ravel_multi_index"})
      .Doc("indices as row-major positions")
      .Types(RavelTypes)
      .Meaning(RavelMeaning)
      .ZeroGradient();
}

}  // namespace mxc
