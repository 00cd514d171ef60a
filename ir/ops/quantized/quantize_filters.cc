// SPDX-License-Identifier: Apache-2.0
// _quantize_filters: the filters of a layer as 8-bit integers.
//   weight f32[C, …], slope f32[C], greatest_scale f32[C]
//   levels     i8[C, …]    weight · slope · scale, rounded
//   scale      f32[C]      127.5 / magnitude, no more than greatest_scale
//   magnitude  f32[C]      the greatest |weight · slope| of a filter
// `alike`: magnitude and scale are those that fit all filters.
// Source: MXNet 1.9.1 operator/subgraph/mkldnn/mkldnn_common.h, GetWeightScales.
#include <algorithm>
#include <bit>
#include <cmath>

#include "ir/ops/quantized/quantization.h"
#include "ir/ops/quantized/quantize_filters.h"

namespace mxc {
namespace {

constexpr float kLeastMagnitude = 1e-30F;  // of zeros any scale will do

void QuantizeFiltersTypes(const QuantizeFiltersAttrs&, TypeInference& t) {
  for (const int i : {0, 1, 2}) t.SetInDType(i, DType::kF32);
  for (const int i : {1, 2}) t.SetOutDType(i, DType::kF32);
  t.SetOutDType(0, DType::kI8);
  t.SetOut(0, t.In(0));
  t.SetIn(0, t.Out(0));
  if (!t.In(0).known_rank()) return;
  const Shape filters{t.In(0)[0]};
  for (const int i : {1, 2}) {
    t.SetIn(i, filters);
    t.SetOut(i, filters);
  }
}

Expr MagnitudeOf(bool alike, const Expr& filter, const Definition& def) {
  const Extents& dims = def.InShape(0).dims();
  std::vector<Expr> extents(dims.begin() + (alike ? 0 : 1), dims.end());
  const Expr greatest = Definition::MaxOf(extents, [&](std::vector<Expr> r) {
    if (!alike) r.insert(r.begin(), filter);
    return Abs(def.In(0, r) * def.In(1, {r[0]}));
  });
  return Max(greatest, Lit(kLeastMagnitude, greatest));
}

Expr ScaleOf(bool alike, const Expr& filter, const Definition& def) {
  const Expr magnitude = MagnitudeOf(alike, filter, def);
  const Expr least =
      alike ? Definition::MinOf({def.InShape(2)[0]},
                                [&](const auto& r) { return def.In(2, r); })
            : def.In(2, {filter});
  return Min(Lit(kWideLevels.int8, magnitude) / magnitude, least);
}

void QuantizeFiltersMeaning(const QuantizeFiltersAttrs& a, Definition& def) {
  const std::vector<Expr> i = def.Indices();
  const Expr weight = def.In(0, i) * def.In(1, {i[0]});
  const Expr level =
      RoundToLevels(weight * ScaleOf(a.alike, i[0], def), DType::kI8);
  def.Set(0, Cast(level, DType::kI8));
  def.Set(1, ScaleOf(a.alike, def.Indices(1)[0], def));
  def.Set(2, MagnitudeOf(a.alike, def.Indices(2)[0], def));
}

int8_t Level(float x) {
  return static_cast<int8_t>(x < 127 ? std::nearbyint(std::max(x, -128.0F))
                                     : 127);
}

std::vector<Tensor> QuantizedFilters(const QuantizeFiltersAttrs& a,
                                     std::span<const Tensor> inputs) {
  const auto weight = inputs[0].floats(), slope = inputs[1].floats(),
             limit = inputs[2].floats();
  const size_t filters = slope.size(), length = weight.size() / filters;
  std::vector<float> scale(filters), magnitude(filters);
  std::byte* levels = nullptr;
  const Tensor quantized =
      Tensor::Allocate({DType::kI8, inputs[0].shape()}, &levels);
  for (size_t f = 0; f < filters; ++f) {
    magnitude[f] = kLeastMagnitude;
    for (size_t i = f * length; i < (f + 1) * length; ++i) {
      magnitude[f] = std::max(magnitude[f], std::abs(weight[i] * slope[f]));
    }
  }
  std::vector<float> greatest(limit.begin(), limit.end());
  if (a.alike) {
    std::ranges::fill(magnitude, std::ranges::max(magnitude));
    std::ranges::fill(greatest, std::ranges::min(greatest));
  }
  for (size_t f = 0; f < filters; ++f) {
    const auto wide = static_cast<float>(kWideLevels.int8);
    scale[f] = std::min(wide / magnitude[f], greatest[f]);
    for (size_t i = f * length; i < (f + 1) * length; ++i) {
      levels[i] =
          std::bit_cast<std::byte>(Level(weight[i] * slope[f] * scale[f]));
    }
  }
  return {quantized, Tensor::FromFloats(inputs[1].shape(), scale),
          Tensor::FromFloats(inputs[1].shape(), magnitude)};
}

}  // namespace

MXC_OP(QuantizeFilters) {
  return Op<QuantizeFiltersAttrs>("_quantize_filters")
      .Doc("the filters of a layer as 8-bit integers")
      .Internal()
      .Inputs({{"weight", InputKind::kParameter},
               {"slope", InputKind::kData},
               {"greatest_scale", InputKind::kData}})
      .Outputs({"levels", "scale", "magnitude"})
      .Types(QuantizeFiltersTypes)
      .Meaning(QuantizeFiltersMeaning)
      .Compute(QuantizedFilters)
      .ZeroGradient();
}

}  // namespace mxc
