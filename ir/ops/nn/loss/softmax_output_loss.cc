// SPDX-License-Identifier: Apache-2.0
// _softmax_output_loss: the mean cross entropy of SoftmaxOutput's output p.
//   output  f[N, K, d1 …]
//   label   as SoftmaxOutput's
//   loss    f32[1]  the mean over rows of −log p[label], with smooth_alpha of
//           −Σ target · log p, whose target the gradient has; or of
//           −Σ label · log p where labels are probabilities. Rows whose label
//           is no class do not count, nor, with use_ignore, those of
//           ignore_label; 0 where no row counts. A p of 0 counts as the
//           smallest normal float.
// Attributes: SoftmaxOutput's.
#include <cfloat>

#include "ir/ops/nn/loss/softmax_output.h"

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
  const auto if_counted = [&](const Expr& label, const Expr& term) {
    Expr counts = label >= 0 && label < rows.classes();
    if (a.use_ignore) {
      counts = counts && label != static_cast<int64_t>(a.ignore_label);
    }
    return Select(counts, term, def.Lit(0));
  };
  const auto label_of = [&](const Expr& row) {
    return Cast(rows.Label(row), DType::kI64);
  };
  const auto over_rows = [&](auto term) {
    return Definition::Sum({rows.rows()}, [&](const std::vector<Expr>& r) {
      const Expr label = label_of(r[0]);
      return if_counted(label, term(r[0], label));
    });
  };
  const SoftmaxTarget wanted = TargetOf(a, rows.classes());
  Expr sum = over_rows([&](const Expr& row, const Expr& label) {
    return entropy(rows.IndexOf(row, label));
  });
  if (wanted.of_others > 0) {
    const auto of_class = [&](const std::vector<Expr>& r) {
      const Expr label = label_of(r[0]);
      const Expr share = Select(r[1] == label, def.Lit(wanted.of_label),
                                def.Lit(wanted.of_others));
      return if_counted(label, share * entropy(rows.IndexOf(r[0], r[1])));
    };
    sum = Definition::Sum({rows.rows(), rows.classes()}, of_class);
  }
  const Expr count =
      over_rows([&](const Expr&, const Expr&) { return def.Lit(1); });
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
