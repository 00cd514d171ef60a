// SPDX-License-Identifier: Apache-2.0
// khatri_rao: the Kronecker product of the inputs, column by column.
//   inputs  t[r0, n], t[r1, n], …     output  t[r0 · r1 · …, n]
// C1  the inputs are matrices with one number of columns
#include "ir/ops/tensor/shape/axes.h"

namespace mxc {
namespace {

struct KhatriRaoAttrs {
  int64_t num_args = 1;

  void Describe(Fields& f) {
    f("num_args", num_args).Required().Range(1, kMaxOperands).Doc("inputs");
  }
};

void KhatriRaoTypes(const KhatriRaoAttrs&, TypeInference& t) {
  t.AllSameDType();
  int64_t rows = 1;
  for (int i = 0; i < t.inputs(); ++i) {
    if (!t.In(i).known()) return;
    if (!t.Require(t.In(i).rank() == 2 && t.In(i)[1] == t.In(0)[1],
                   "C1: input {} has shape {}, expected matrices with one "
                   "number of columns",
                   i, ToString(t.In(i)))) {
      return;
    }
    const auto product = RequireProduct(t, rows, t.In(i)[0]);
    if (!product) return;
    rows = *product;
  }
  t.SetOut(0, Shape{rows, t.In(0)[1]});
}

void KhatriRaoMeaning(const KhatriRaoAttrs&, Definition& def) {
  Extents rows;
  for (int i = 0; i < def.inputs(); ++i) rows.push_back(def.InShape(i)[0]);
  const std::vector<Expr> row = Definition::Unflatten(Var(0), Shape(rows));
  Expr product = def.Lit(1);
  for (int i = 0; i < def.inputs(); ++i) {
    product = product * def.In(i, {row[i], Var(1)});
  }
  def.Set(0, product);
}

// The head times all other factors, summed over their rows.
std::vector<Value> KhatriRaoGradient(const KhatriRaoAttrs&,
                                     GradientBuilder& g) {
  Extents all;
  for (int i = 0; i < g.inputs(); ++i) all.push_back(g.In(i).shape()[0]);
  all.push_back(g.Out().shape()[1]);
  const auto along = [&](int i) {
    Extents dims(all.size(), 1);
    dims[i] = all[i];
    dims.back() = all.back();
    return Shape(dims);
  };
  std::vector<Value> gradients = g.None();
  for (int i = 0; i < g.inputs(); ++i) {
    if (!g.Needs(i)) continue;
    Value product = g.Reshape(g.Head(), all);
    for (int k = 0; k < g.inputs(); ++k) {
      if (k != i) product = g.Mul(product, g.Reshape(g.In(k), along(k)));
    }
    gradients[i] = g.Reshape(g.SumTo(product, along(i)), g.In(i).shape());
  }
  return gradients;
}

}  // namespace

MXC_OP(KhatriRao) {
  return Op<KhatriRaoAttrs>("khatri_rao")
      .Doc("the Kronecker product, column by column")
      .Variadic()
      .InputsOf([](const KhatriRaoAttrs& a) {
        return NumberedInputs("arg", a.num_args);
      })
      .Types(KhatriRaoTypes)
      .Meaning(KhatriRaoMeaning)
      .Gradient(KhatriRaoGradient);
}

}  // namespace mxc
