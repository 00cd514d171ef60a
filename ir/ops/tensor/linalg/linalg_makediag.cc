// SPDX-License-Identifier: Apache-2.0
// _linalg_makediag: square matrices that are zero but for one diagonal.
//   A  t[…, n]     output  t[…, n + |offset|, n + |offset|]
// C1  A has at least one axis
#include <cstdlib>

#include "ir/ops/op.h"
#include "ir/ops/tensor/linalg/linalg_extractdiag.h"
#include "ir/ops/tensor/linalg/linalg_makediag.h"

namespace mxc {
namespace {

void MakeDiagTypes(const MakeDiagAttrs& attrs, TypeInference& t) {
  t.AllSameDType();
  if (!t.In(0).known()) return;
  Extents dims = t.In(0).dims();
  if (!t.Require(!dims.empty(), "C1: A has no axis")) return;
  dims.back() += std::abs(attrs.offset);
  dims.push_back(dims.back());
  t.SetOut(0, Shape(dims));
}

void MakeDiagMeaning(const MakeDiagAttrs& attrs, Definition& def) {
  std::vector<Expr> index = def.Indices();
  const Expr column = index.back();
  index.pop_back();
  const Expr on_diagonal = column - index.back() == Expr(attrs.offset);
  index.back() = index.back() - std::max<int64_t>(-attrs.offset, 0);
  def.Set(0, Select(on_diagonal, def.In(0, index), def.Lit(0)));
}

}  // namespace

MXC_OP(LinalgMakediag) {
  return Op<MakeDiagAttrs>("_linalg_makediag")
      .Alias({"linalg_makediag"})
      .Doc("square matrices with a given diagonal")
      .Inputs({{"A", InputKind::kData}})
      .Types(MakeDiagTypes)
      .FloatsOnly()
      .Meaning(MakeDiagMeaning)
      .Gradient([](const MakeDiagAttrs& attrs,
                   GradientBuilder& g) -> std::vector<Value> {
        return {
            g.Op<op::LinalgExtractdiag>({g.Head()}, {.offset = attrs.offset})};
      });
}

}  // namespace mxc
