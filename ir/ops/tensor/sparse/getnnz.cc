// SPDX-License-Identifier: Apache-2.0
// _contrib_getnnz: how many elements of a matrix are not 0, in all or in each row.
//   data    [R, C]
//   output  i64[1]; i64[R] with axis 1
// MXNet has it for sparse matrices alone, of which it counts what is stored.
// C1  data has two axes
// C2  axis is None or 1, as in MXNet
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct GetnnzAttrs {
  std::optional<int64_t> axis;

  void Describe(Fields& f) { f("axis", axis).Doc("1: of each row"); }
};

void GetnnzTypes(const GetnnzAttrs& a, TypeInference& t) {
  t.SetOutDType(0, DType::kI64);
  if (!t.In(0).known_rank()) return;
  const Shape& data = t.In(0);
  if (!t.Require(data.rank() == 2, "C1: data has shape {}", ToString(data))) {
    return;
  }
  t.SetOut(0, Shape{a.axis ? data[0] : 1});
}

void GetnnzMeaning(const GetnnzAttrs& a, Definition& def) {
  const Shape& data = def.InShape(0);
  const int64_t rows = a.axis ? 1 : data[0];
  def.Set(0, Definition::Sum({rows, data[1]}, [&](const std::vector<Expr>& r) {
            const Expr x = def.In(0, {Var(0) + r[0], r[1]});
            return Select(x == Lit(0, x), Expr(0), Expr(1));
          }));
}

}  // namespace

MXC_OP(Getnnz) {
  return Op<GetnnzAttrs>("_contrib_getnnz")
      .Doc("how many elements are not 0")
      .Check([](const GetnnzAttrs& a) -> std::optional<std::string> {
        if (a.axis.value_or(1) == 1) return std::nullopt;
        return fmt::format("C2: axis {}, expected None or 1", *a.axis);
      })
      .Types(GetnnzTypes)
      .Meaning(GetnnzMeaning)
      .ZeroGradient();
}

}  // namespace mxc
