// SPDX-License-Identifier: Apache-2.0
// _contrib_AdaptiveAvgPooling2D: averages over windows that divide the image.
//   data    f[N, C, H, W]
//   output  f[N, C, h, w]   window o of h covers ⌊o·H / h⌋ … ⌈(o + 1)·H / h⌉
// C1  output_size is empty (1 × 1), n (n × n) or (h, w), positive
// C2  data has 4 axes
// Source: MXNet 1.9.1 operator/contrib/adaptive_avg_pooling.cc.
#include <fmt/format.h>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct AdaptiveAvgPoolingAttrs {
  Extents output_size;

  void Describe(Fields& f) {
    f("output_size", output_size).Doc("(h, w), or n for both");
  }
  int64_t extent(int d) const {
    if (output_size.empty()) return 1;
    return output_size.size() == 1 ? output_size[0] : output_size[d];
  }
};

std::optional<std::string> AdaptiveAvgPoolingCheck(
    const AdaptiveAvgPoolingAttrs& a) {
  if (a.output_size.size() <= 2 && a.extent(0) > 0 && a.extent(1) > 0) {
    return std::nullopt;
  }
  return fmt::format(
      "C1: output_size is {}, expected one or two positive "
      "numbers",
      ToString(a.output_size));
}

void AdaptiveAvgPoolingTypes(const AdaptiveAvgPoolingAttrs& a,
                             TypeInference& t) {
  t.AllSameDType();
  const Shape& data = t.In(0);
  if (!data.known_rank()) return;
  if (!t.Require(data.rank() == 4, "C2: data has {} axes, expected 4",
                 data.rank())) {
    return;
  }
  t.SetOut(0, {data[0], data[1], a.extent(0), a.extent(1)});
}

void AdaptiveAvgPoolingMeaning(const AdaptiveAvgPoolingAttrs&,
                               Definition& def) {
  const std::vector<Expr> i = def.Indices();
  std::vector<Expr> begin, end;
  Expr cells = 1;
  for (int d = 2; d < 4; ++d) {
    const int64_t in = def.InShape(0)[d], out = def.OutShape()[d];
    begin.push_back(i[d] * in / out);
    end.push_back(((i[d] + 1) * in + (out - 1)) / out);
    cells = cells * (end.back() - begin.back());
  }
  const Expr sum = Definition::ReduceOver(
      ReduceOp::kSum, begin, end, [&](const std::vector<Expr>& at) {
        return def.In(0, {i[0], i[1], at[0], at[1]});
      });
  def.Set(0, sum / Cast(cells, def.OutDType()));
}

}  // namespace

MXC_OP(AdaptiveAvgPooling2D) {
  return Op<AdaptiveAvgPoolingAttrs>("_contrib_AdaptiveAvgPooling2D")
      .Doc("averages over windows that divide the image")
      .Check(AdaptiveAvgPoolingCheck)
      .Types(AdaptiveAvgPoolingTypes)
      .FloatsOnly()
      .Meaning(AdaptiveAvgPoolingMeaning)
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
