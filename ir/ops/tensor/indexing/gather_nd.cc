// SPDX-License-Identifier: Apache-2.0
// gather_nd: the parts of data that columns of indices name.
//   data [d0 … dM-1, R…], indices [M, I…] → [I…, R…]
//   output[i…, r…] = data[indices[0, i…], …, indices[M - 1, i…], r…]
// Indices count from the end if negative; out of range they wrap.
// C1  indices has at least one axis, and names at most the axes of data
#include "ir/ops/tensor/indexing/gather_positions.h"
#include "ir/ops/tensor/indexing/gathering.h"

namespace mxc {
namespace {

void GatherNdTypes(const NoAttrs&, TypeInference& t) {
  t.SetOutDType(0, t.InDType(0));
  t.SetInDType(0, t.OutDType(0));
  const Shape &data = t.In(0), &indices = t.In(1);
  if (!data.known_rank() || !indices.known()) return;
  if (!t.Require(indices.rank() >= 1 && indices[0] <= data.rank(),
                 "C1: indices of shape {} name axes of data {}",
                 ToString(indices), ToString(data))) {
    return;
  }
  Extents dims(indices.dims().begin() + 1, indices.dims().end());
  dims.insert(dims.end(), data.dims().begin() + indices[0], data.dims().end());
  if (dims.empty()) dims.push_back(1);
  t.SetOut(0, Shape(dims));
}

void GatherNdMeaning(const NoAttrs&, Definition& def) {
  const Shape& data = def.InShape(0);
  const int named = static_cast<int>(def.InShape(1)[0]);
  const int columns = def.InShape(1).rank() - 1;
  const std::vector<Expr> i = def.Indices();
  std::vector<Expr> index;
  for (int m = 0; m < named; ++m) {
    std::vector<Expr> at(i.begin(), i.begin() + columns);
    at.insert(at.begin(), m);
    index.push_back(LegalIndex(def.In(1, at), data[m], IndexMode::kWrap));
  }
  for (int axis = named; axis < data.rank(); ++axis) {
    index.push_back(i[columns + axis - named]);
  }
  def.Set(0, def.In(0, index));
}

std::vector<Value> GatherNdGradient(const NoAttrs&, GradientBuilder& g) {
  const Shape& data = g.In(0).shape();
  const auto named = data.dims().begin() + g.In(1).shape()[0];
  const Extents axes(data.dims().begin(), named);
  const Value positions = g.Op<op::GatherPositions>({g.In(1)}, {.shape = axes});
  const int64_t rows = *CheckedProduct(axes);
  const Shape parts = {positions.shape()[0], data.elements() / rows};
  const Value sum = ScatterAdd(g, g.Reshape(g.Head(), parts), positions,
                               Shape{rows, parts[1]}, 0, IndexMode::kClip);
  return {g.Reshape(sum, data), {}};
}

}  // namespace

MXC_OP(GatherNd) {
  return Op<>("gather_nd")
      .Alias({"_npi_gather_nd", "_npx_gather_nd"})
      .Doc("the parts of data that indices name")
      .Inputs({{"data", InputKind::kData}, {"indices", InputKind::kData}})
      .Types(GatherNdTypes)
      .Meaning(GatherNdMeaning)
      .Gradient(GatherNdGradient);
}

}  // namespace mxc
