// SPDX-License-Identifier: Apache-2.0
// _softmax_output_loss: the mean cross entropy of SoftmaxOutput's output p.
//   output  f[N, K, d1 …]
//   label   as SoftmaxOutput's
//   loss    f32[1]  the mean over rows of −log p[label], or of −Σ label · log p
//           where labels are probabilities. Rows whose label is no class do
//           not count, nor, with use_ignore, those of ignore_label; 0 where no
//           row counts. A p of 0 counts as the smallest normal float.
// Attributes: SoftmaxOutput's.
#include <cfloat>

#include "ir/ops/nn/softmax_output.h"

namespace mxc {
namespace {

void SoftmaxOutputLossTypes(const SoftmaxOutputAttrs&, TypeInference& t) {
  t.SetOut(0, {1});
  t.SetOutDType(0, DType::kF32);
}

void SoftmaxOutputLossMeaning(const SoftmaxOutputAttrs& a, Definition& def) {
  const SoftmaxOutputRows rows(a, def);
  const auto entropy = [&](const std::vector<Expr>& index) {
    return -Log(Max(Cast(def.In(0, index), DType::kF32), def.Lit(FLT_MIN)));
  };
  if (rows.probabilities()) {
    std::vector<Expr> extents;
    for (const int64_t extent : def.InShape(0).dims()) {
      extents.push_back(extent);
    }
    const Expr sum = Definition::Sum(extents, [&](const std::vector<Expr>& r) {
      return Cast(def.In(1, r), DType::kF32) * entropy(r);
    });
    return def.Set(0, sum / def.Lit(static_cast<double>(rows.rows())));
  }
  const auto over_counted = [&](auto term) {
    return Definition::Sum({rows.rows()}, [&](const std::vector<Expr>& r) {
      const Expr label = Cast(rows.Label(r[0]), DType::kI64);
      Expr counts = label >= 0 && label < rows.classes();
      if (a.use_ignore) {
        counts = counts && label != static_cast<int64_t>(a.ignore_label);
      }
      return Select(counts, term(r[0], label), def.Lit(0));
    });
  };
  const Expr sum = over_counted([&](const Expr& row, const Expr& label) {
    return entropy(rows.IndexOf(row, label));
  });
  const Expr count =
      over_counted([&](const Expr&, const Expr&) { return def.Lit(1); });
  def.Set(0, sum / Max(count, def.Lit(1)));
}

}  // namespace

MXC_OP(SoftmaxOutputLoss) {
  return Op<SoftmaxOutputAttrs>("_softmax_output_loss")
      .Internal()
      .Doc("the mean cross entropy of SoftmaxOutput")
      .Inputs({{"output"}, {"label", InputKind::kLabel}})
      .Outputs({"loss"})
      .Types(SoftmaxOutputLossTypes)
      .Meaning(SoftmaxOutputLossMeaning);
}

}  // namespace mxc
