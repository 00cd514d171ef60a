// SPDX-License-Identifier: Apache-2.0
// _linalg_extractdiag: a diagonal of square matrices.
//   A  t[…, n, n]     output  t[…, n - |offset|]
// C1  A holds square matrices
// C2  |offset| < n
#include <cstdlib>

#include "ir/ops/op.h"
#include "ir/ops/tensor/linalg/linalg_extractdiag.h"
#include "ir/ops/tensor/linalg/linalg_makediag.h"
#include "ir/ops/tensor/linalg/triangle.h"

namespace mxc {
namespace {

void ExtractDiagTypes(const ExtractDiagAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  const Shape& a = t.In(0);
  if (!RequireDiagonal(a, attrs.offset, t)) return;
  Extents dims(a.dims().begin(), a.dims().end() - 1);
  dims.back() -= std::abs(attrs.offset);
  t.SetOut(0, Shape(dims));
}

void ExtractDiagMeaning(const ExtractDiagAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  const Expr i = index.back();
  index.back() = i + std::max<int64_t>(-attrs.offset, 0);
  index.push_back(i + std::max<int64_t>(attrs.offset, 0));
  def.Set(0, def.In(0, index));
}

}  // namespace

MXC_OP(LinalgExtractdiag) {
  return Op<ExtractDiagAttrs>("_linalg_extractdiag")
      .Alias({"linalg_extractdiag"})
      .Doc("a diagonal of square matrices")
      .Inputs({{"A", InputKind::kData}})
      .Types(ExtractDiagTypes)
      .FloatsOnly()
      .Meaning(ExtractDiagMeaning)
      .Gradient([](const ExtractDiagAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {g.Op<op::LinalgMakediag>({g.Head()}, {.offset = attrs.offset})};
      });
}

}  // namespace mxc
