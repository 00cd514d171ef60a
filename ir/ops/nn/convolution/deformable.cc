// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "ir/ops/nn/convolution/deformable_convolution.h"
#include "ir/ops/nn/spatial/bilinear.h"

namespace mxc {

void DeformableAttrs::Describe(Fields& f) {
  DescribeWindow(f);
  DescribeChannels(f);
  f("num_deformable_group", num_deformable_group)
      .Range(1, 1 << 24)
      .Doc("groups of channels that share offsets");
  f("workspace", workspace).Hint();
  f("no_bias", no_bias).Doc("whether there is no input bias");
  f("layout", layout).OneOf({"None", "NCW", "NCHW", "NCDHW"}).Hint();
}

std::optional<std::string> DeformableCheck(const DeformableAttrs& a) {
  if (auto error = CheckWindow(a.kernel, a.stride, a.dilate, a.pad)) {
    return error;
  }
  if (a.kernel.size() != 2) {
    return fmt::format("C1: kernel {} has {} entries, expected 2",
                       ToString(a.kernel), a.kernel.size());
  }
  return CheckGroups(a);
}

std::vector<InputSpec> DeformableInputs(const DeformableAttrs& a,
                                        bool modulated) {
  std::vector<InputSpec> inputs = {{"data"}, {"offset"}};
  if (modulated) inputs.push_back({"mask"});
  inputs.push_back({"weight", InputKind::kParameter});
  if (!a.no_bias) inputs.push_back({"bias", InputKind::kParameter});
  return inputs;
}

void DeformableTypes(const DeformableAttrs& a, bool modulated,
                     TypeInference& t) {
  t.AllSameDType();
  const Shape& data = t.In(0);
  if (!data.known()) return;
  if (!t.Require(data.rank() == 4, "C3: data has {} axes, expected 4",
                 data.rank()) ||
      !t.Require(
          data[1] % a.num_group == 0 && data[1] % a.num_deformable_group == 0,
          "C5: groups {} and {} do not divide the {} channels of data",
          a.num_group, a.num_deformable_group, data[1])) {
    return;
  }
  Shape output = {data[0], a.num_filter, 0, 0};
  for (int d = 0; d < 2; ++d) {
    const auto positions = RequirePositions(a, d, data[2 + d], t);
    if (!positions) return;
    output[2 + d] = *positions;
  }
  const int64_t cells = a.num_deformable_group * a.kernel[0] * a.kernel[1];
  int next = 1;
  t.SetIn(next++, {data[0], 2 * cells, output[2], output[3]});
  if (modulated) t.SetIn(next++, {data[0], cells, output[2], output[3]});
  t.SetIn(next++,
          {a.num_filter, data[1] / a.num_group, a.kernel[0], a.kernel[1]});
  if (!a.no_bias) t.SetIn(next, {a.num_filter});
  t.SetOut(0, output);
}

namespace {

// MXNet's two operators differ at the border: the modulated one lets the image
// fade out over one cell, the other ends it sharply.
Expr Sample(bool modulated, Expr y, Expr x, const Shape& data,
            const CellOf& cell) {
  if (modulated) return BilinearWithZeros(y, x, data[2], data[3], cell);
  const auto within = [](const Expr& at, int64_t extent) {
    return at >= Lit(0, at) && at < Lit(static_cast<double>(extent), at);
  };
  const Expr value = BilinearWithBorder(y, x, data[2], data[3], cell);
  return Select(within(y, data[2]) && within(x, data[3]), value, Lit(0, value));
}

}  // namespace

void DeformableMeaning(const DeformableAttrs& a, bool modulated,
                       Definition& def) {
  const Extents stride = a.strides(), dilate = a.dilates(), pad = a.pads();
  const Shape& data = def.InShape(0);
  const std::vector<Expr> i = def.Indices();
  const int64_t depth = data[1] / a.num_group;
  const int64_t shared = data[1] / a.num_deformable_group;
  const int weight = modulated ? 3 : 2;
  const Expr group = i[1] / a.group_filters();
  Expr sum = Definition::Sum(
      {depth, a.kernel[0], a.kernel[1]}, [&](const std::vector<Expr>& r) {
        const Expr channel = group * depth + r[0];
        const Expr cell =
            (channel / shared * a.kernel[0] + r[1]) * a.kernel[1] + r[2];
        const auto position = [&](int d) {
          const Expr regular =
              i[2 + d] * stride[d] + r[1 + d] * dilate[d] - pad[d];
          return Cast(regular, def.OutDType()) +
                 def.In(1, {i[0], cell * 2 + d, i[2], i[3]});
        };
        Expr value = Sample(
            modulated, position(0), position(1), data,
            [&](Expr y, Expr x) { return def.In(0, {i[0], channel, y, x}); });
        if (modulated) value = value * def.In(2, {i[0], cell, i[2], i[3]});
        return value * def.In(weight, {i[1], r[0], r[1], r[2]});
      });
  if (!a.no_bias) sum = sum + def.In(weight + 1, {i[1]});
  def.Set(0, sum);
}

}  // namespace mxc
