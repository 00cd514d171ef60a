// SPDX-License-Identifier: Apache-2.0
// Correlation: how well patches of one image fit those near them in another.
//   data1, data2  f[N, C, H, W], padded with pad_size zeros
//   output        f[N, D², h, w]    D = 2·⌊max_displacement / stride2⌋ + 1
//                 the mean over kernel_size² cells and all channels of data1 ·
//                 data2, or |data1 − data2|, where data2 is displaced by
//                 stride2 times (k div D, k mod D) − ⌊D / 2⌋
//   tmp1, tmp2    f[N, H + 2·pad, W + 2·pad, C]: the padded images, hidden
// C1  kernel_size is odd
// C2  the images have 4 axes and one shape
// C3  the padded image holds a patch and all its displacements
// Source: MXNet 1.9.1 operator/correlation.cc.
#include <fmt/format.h>

#include "ir/ops/nn/meaning_gradient.h"
#include "ir/ops/op.h"

namespace mxc {
namespace {

struct CorrelationAttrs {
  int64_t kernel_size = 1;
  int64_t max_displacement = 1;
  int64_t stride1 = 1;
  int64_t stride2 = 1;
  int64_t pad_size = 0;
  bool is_multiply = true;

  void Describe(Fields& f) {
    constexpr double kMost = 1 << 16;
    f("kernel_size", kernel_size).Range(1, kMost).Doc("side of a patch");
    f("max_displacement", max_displacement).Range(0, kMost);
    f("stride1", stride1).Range(1, kMost).Doc("between patches");
    f("stride2", stride2).Range(1, kMost).Doc("between displacements");
    f("pad_size", pad_size).Range(0, kMost).Doc("zeros around both images");
    f("is_multiply", is_multiply)
        .Doc("whether cells are multiplied, not subtracted");
  }
  int64_t radius() const { return max_displacement / stride2; }
  int64_t side() const { return 2 * radius() + 1; }
};

std::optional<std::string> CorrelationCheck(const CorrelationAttrs& a) {
  if (a.kernel_size % 2 == 1) return std::nullopt;
  return fmt::format("C1: kernel_size is {}, expected an odd number",
                     a.kernel_size);
}

void CorrelationTypes(const CorrelationAttrs& a, TypeInference& t) {
  t.AllSameDType();
  t.SetIn(0, t.In(1));
  if (t.error()) return;
  t.SetIn(1, t.In(0));
  const Shape& data = t.In(0);
  if (!data.known()) return;
  if (!t.Require(data.rank() == 4, "C2: data1 has {} axes, expected 4",
                 data.rank())) {
    return;
  }
  Shape output = {data[0], a.side() * a.side(), 0, 0};
  Shape padded = {data[0], 0, 0, data[1]};
  for (int d = 0; d < 2; ++d) {
    padded[1 + d] = data[2 + d] + 2 * a.pad_size;
    const int64_t border = a.max_displacement + (a.kernel_size - 1) / 2;
    const int64_t room = padded[1 + d] - 2 * border;
    if (!t.Require(room > 0, "C3: {} padded cells hold no patch with border {}",
                   padded[1 + d], border)) {
      return;
    }
    output[2 + d] = (room + a.stride1 - 1) / a.stride1;
  }
  t.SetOut(0, output);
  t.SetOut(1, padded);
  t.SetOut(2, padded);
}

// A cell of the padded image, 0 in the padding.
Expr Padded(const CorrelationAttrs& a, const Definition& def, int input, Expr n,
            Expr c, Expr y, Expr x) {
  const Shape& data = def.InShape(input);
  const Expr row = y - a.pad_size, column = x - a.pad_size;
  return Select(row >= 0 && row < data[2] && column >= 0 && column < data[3],
                def.In(input, {n, c, row, column}), def.Lit(0));
}

void CorrelationMeaning(const CorrelationAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const int64_t channels = def.InShape(0)[1];
  const Expr down = (i[1] / a.side() - a.radius()) * a.stride2;
  const Expr right = (i[1] % a.side() - a.radius()) * a.stride2;
  // The kernel begins at the displacement's border, as MXNet has it.
  const Expr top = i[2] * a.stride1 + a.max_displacement;
  const Expr left = i[3] * a.stride1 + a.max_displacement;
  const Expr sum = Definition::Sum(
      {a.kernel_size, a.kernel_size, channels},
      [&](const std::vector<Expr>& r) {
        const Expr y = top + r[0], x = left + r[1];
        const Expr one = Padded(a, def, 0, i[0], r[2], y, x);
        const Expr other = Padded(a, def, 1, i[0], r[2], y + down, x + right);
        if (a.is_multiply) return one * other;
        // |one − other|, with MXNet's slope of 1 where both are equal, as the
        // zeros behind a relu often are.
        return Select(one >= other, one - other, other - one);
      });
  def.Set(0, sum / def.Lit(static_cast<double>(a.kernel_size * a.kernel_size *
                                               channels)));
  const std::vector<Expr> k = def.Indices(1);
  def.Set(1, Padded(a, def, 0, k[0], k[3], k[1], k[2]));
  def.Set(2, Padded(a, def, 1, k[0], k[3], k[1], k[2]));
}

}  // namespace

MXC_OP(Correlation) {
  return Op<CorrelationAttrs>("Correlation")
      .Doc("how well patches of one image fit those near them in another")
      .Inputs({{"data1"}, {"data2"}})
      .Outputs({"output", "tmp1", "tmp2"}, 1)
      .Check(CorrelationCheck)
      .Types(CorrelationTypes)
      .FloatsOnly()
      .Meaning(CorrelationMeaning)
      .Gradient(
          [](const auto&, GradientBuilder& g) { return MeaningGradients(g); });
}

}  // namespace mxc
