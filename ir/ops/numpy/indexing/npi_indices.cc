// SPDX-License-Identifier: Apache-2.0
// _npi_indices: for each axis of a grid, the index along it.
//   output  t[number of axes, dimensions…]
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct IndicesAttrs {
  Extents dimensions;
  DType dtype = DType::kI32;
  std::string ctx;

  void Describe(Fields& f) {
    f("dimensions", dimensions).Required().Min(1).Doc("extents of the grid");
    f("dtype", dtype).Doc("element type");
    f("ctx", ctx).Doc("device").Hint();
  }
};

void IndicesMeaning(const IndicesAttrs& a, Definition& def) {
  Extents begin(a.dimensions.size() + 1, 0), extent = a.dimensions;
  extent.insert(extent.begin(), 1);
  for (size_t axis = 0; axis < a.dimensions.size(); ++axis) {
    begin[0] = static_cast<int64_t>(axis);
    def.SetBox(0, begin, extent,
               Cast(Var(static_cast<int>(axis) + 1), def.OutDType()));
  }
}

}  // namespace

MXC_OP(NpiIndices) {
  return Op<IndicesAttrs>("_npi_indices")
      .Doc("numpy.indices")
      .Inputs({})
      .Types([](const IndicesAttrs& a, TypeInference& t) {
        t.SetOutDType(0, a.dtype);
        Extents dims = a.dimensions;
        dims.insert(dims.begin(), static_cast<int64_t>(dims.size()));
        t.SetOut(0, Shape(dims));
      })
      .Meaning(IndicesMeaning);
}

}  // namespace mxc
