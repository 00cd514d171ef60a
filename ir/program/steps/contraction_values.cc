// SPDX-License-Identifier: Apache-2.0
// What a contraction computes.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>
#include <utility>

#include "ir/program/box_values.h"
#include "ir/program/contraction_columns.h"
#include "ir/program/contraction_indices.h"
#include "ir/program/int4_blocks.h"
#include "ir/program/integers.h"
#include "ir/program/program.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/window_maxima.h"
#include "ir/support/threads.h"

namespace mxc {
namespace {

// The sum of one output element.
template <class Sum>
Sum Accumulate(const Contraction& c, const std::array<Spatial, 3>& sp,
               const Sum* data, const RoleStrides& ds, const Sum* weight,
               const RoleStrides& ws, const std::array<int64_t, 3>& o) {
  Sum sum = 0;
  for (int64_t w0 = 0; w0 < sp[0].kernel; ++w0) {
    const int64_t i0 = sp[0].DataAt(o[0], w0);
    if (i0 < 0) continue;
    for (int64_t w1 = 0; w1 < sp[1].kernel; ++w1) {
      const int64_t i1 = sp[1].DataAt(o[1], w1);
      if (i1 < 0) continue;
      for (int64_t w2 = 0; w2 < sp[2].kernel; ++w2) {
        const int64_t i2 = sp[2].DataAt(o[2], w2);
        if (i2 < 0) continue;
        const Sum* d =
            data + i0 * ds.spatial[0] + i1 * ds.spatial[1] + i2 * ds.spatial[2];
        const Sum* w = weight + w0 * ws.spatial[0] + w1 * ws.spatial[1] +
                       w2 * ws.spatial[2];
        for (int64_t k = 0; k < c.in; ++k) sum += d[k * ds.in] * w[k * ws.in];
      }
    }
  }
  return sum;
}

// to[i] += from[i * by] * factor
template <class Sum>
void AddScaled(Sum* to, int64_t count, const Sum* from, int64_t by,
               Sum factor) {
  if (by == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] += from[i] * factor;
    return;
  }
  for (int64_t i = 0; i < count; ++i) to[i] += from[i * by] * factor;
}

// Calls f(first output, outputs, first element of data, elements from one to the
// next) for the outputs of an axis that meet data at kernel position w.
template <class F>
void ForMeeting(const Spatial& axis, int64_t w, F f) {
  if (axis.data_dilate != 1) {
    for (int64_t o = 0; o < axis.output; ++o) {
      const int64_t at = axis.DataAt(o, w);
      if (at >= 0) f(o, 1, at, 0);
    }
    return;
  }
  const int64_t before =
      axis.pad - (axis.flip ? axis.kernel - 1 - w : w) * axis.dilate;
  const auto reached = [&](int64_t at) {  // outputs that begin before `at`
    return at + before <= 0 ? 0 : (at + before - 1) / axis.stride + 1;
  };
  const int64_t first = reached(0);
  const int64_t count = std::min(axis.output, reached(axis.input)) - first;
  if (count > 0) f(first, count, first * axis.stride - before, axis.stride);
}

// The sums of the outputs along one spatial axis, each in the order of
// Accumulate and so the same to the last bit. Along a row the processor adds
// vectors, where a single sum waits for each of its additions.
template <class Sum>
void AccumulateRow(const Contraction& c, const std::array<Spatial, 3>& sp,
                   size_t along, const Sum* data, const RoleStrides& ds,
                   const Sum* weight, const RoleStrides& ws,
                   const std::array<int64_t, 3>& o, std::vector<Sum>& row) {
  std::ranges::fill(row, Sum{0});
  std::array<int64_t, 3> w = {0, 0, 0};
  for (w[0] = 0; w[0] < sp[0].kernel; ++w[0]) {
    for (w[1] = 0; w[1] < sp[1].kernel; ++w[1]) {
      for (w[2] = 0; w[2] < sp[2].kernel; ++w[2]) {
        const Sum* d = data;
        const Sum* factor = weight;
        bool inside = true;
        for (size_t i = 0; i < sp.size(); ++i) {
          factor += w[i] * ws.spatial[i];
          if (i == along) continue;
          const int64_t at = sp[i].DataAt(o[i], w[i]);
          inside = inside && at >= 0;
          if (inside) d += at * ds.spatial[i];
        }
        if (!inside) continue;
        ForMeeting(sp[along], w[along],
                   [&](int64_t first, int64_t count, int64_t at, int64_t step) {
                     const Sum* from = d + at * ds.spatial[along];
                     const int64_t by = step * ds.spatial[along];
                     Sum* to = row.data() + first;
                     for (int64_t k = 0; k < c.in; ++k) {
                       AddScaled(to, count, from + k * ds.in, by,
                                 factor[k * ws.in]);
                     }
                   });
      }
    }
  }
}

// Elements as what is multiplied and added: floats as double, integers modulo
// 2^64, of which every type keeps its own bits.
template <class Sum>
std::vector<Sum> Factors(const OperandView& operand) {
  std::vector<Sum> factors;
  for (const Element value : operand.values) {
    if constexpr (std::is_integral_v<Sum>) {
      factors.push_back(value < 0
                            ? static_cast<Sum>(static_cast<int64_t>(value))
                            : static_cast<Sum>(value));
    } else {
      factors.push_back(static_cast<Sum>(value));
    }
  }
  return factors;
}

template <class Sum>
bool AllFinite(const std::vector<Sum>& factors) {
  return std::ranges::all_of(factors, [](Sum factor) {
    return std::isfinite(static_cast<double>(factor));
  });
}

// Acc for every output element, in the output's row-major order.
template <class Sum>
std::vector<Element> Contract(const Contraction& c, const OperandView& data,
                              const OperandView& weight, const Extents& out) {
  const std::vector<Sum> d = Factors<Sum>(data), w = Factors<Sum>(weight);
  const auto ds = RowMajorStridesOf(c.data_axes, data.dims, c);
  const auto ws = RowMajorStridesOf(c.weight_axes, weight.dims, c);
  const auto os = RowMajorStridesOf(c.output_axes, out, c);
  const auto sp = SpatialOf(c);
  std::vector<Element> acc(Shape(out).elements());
  if (WorthColumns(c) && AllFinite<Sum>(w)) {
    ContractionColumns<Sum>(c, d, ds, w, ws).Write(os, acc);
    return acc;
  }
  // The last axis with several outputs.
  size_t along = sp.size() - 1;
  while (along > 0 && sp[along].output == 1) --along;
  std::array<int64_t, 3> rows = {sp[0].output, sp[1].output, sp[2].output};
  const bool by_rows = ds.in != 1 && rows[along] > 1;
  const int64_t row_size = by_rows ? rows[along] : 1;
  if (by_rows) rows[along] = 1;
  const int64_t of_channel = rows[0] * rows[1] * rows[2];
  const auto compute = [&](int64_t at, std::vector<Sum>& row) {
    const std::array<int64_t, 3> o = {at / (rows[1] * rows[2]) % rows[0],
                                      at / rows[2] % rows[1], at % rows[2]};
    const int64_t channel = at / of_channel;
    const int64_t n = channel / (c.groups * c.out);
    const int64_t g = channel / c.out % c.groups, m = channel % c.out;
    const Sum* of_data = d.data() + n * ds.batch + g * ds.group;
    const Sum* of_weight = w.data() + g * ws.group + m * ws.out;
    if (by_rows) {
      AccumulateRow(c, sp, along, of_data, ds, of_weight, ws, o, row);
    } else {
      row[0] = Accumulate(c, sp, of_data, ds, of_weight, ws, o);
    }
    const int64_t first = n * os.batch + g * os.group + m * os.out +
                          o[0] * os.spatial[0] + o[1] * os.spatial[1] +
                          o[2] * os.spatial[2];
    for (size_t i = 0; i < row.size(); ++i) {
      acc[first + static_cast<int64_t>(i) * os.spatial[along]] = row[i];
    }
  };
  const auto products = static_cast<double>(row_size * c.in * sp[0].kernel *
                                            sp[1].kernel * sp[2].kernel);
  ForParts(c.batch * c.groups * c.out * of_channel, products,
           [&](int64_t begin, int64_t end) {
             std::vector<Sum> row(static_cast<size_t>(row_size));
             for (int64_t at = begin; at < end; ++at) compute(at, row);
           });
  return acc;
}

// The squares of the products of each sum, added up.
std::vector<Element> SumsOfSquares(const Contraction& c,
                                   const OperandView& data,
                                   const OperandView& weight,
                                   const Extents& out) {
  const auto squared = [](std::span<const Element> values) {
    std::vector<Element> squares(values.begin(), values.end());
    for (Element& value : squares) value *= value;
    return squares;
  };
  const std::vector<Element> d = squared(data.values),
                             w = squared(weight.values);
  return Contract<double>(c, {d, data.dims}, {w, weight.dims}, out);
}

}  // namespace

void ContractionStep::Interpret(StepValues& values) const {
  const auto dims_of = [&](int b) -> const Extents& {
    return values.program.buffers[b].type.shape.dims();
  };
  const Shape& stored =
      values.program.buffers[values.step.outputs[0]].type.shape;
  const Extents dims = maxima.empty() ? stored.dims() : OutputDims(contraction);
  std::vector<Element> levels;
  if (contraction.int4_group > 0) {
    levels = Int4Levels(contraction, *values.inputs[1]);
  }
  const auto operand = [&](size_t i) {
    if (i == 1 && !levels.empty()) {
      return OperandView{levels, {contraction.out, contraction.in}};
    }
    return OperandView{*values.inputs[i], dims_of(values.step.inputs[i])};
  };
  const DType dtype = contraction.types.sum;
  std::vector<Element> sums =
      IsFloat(dtype)
          ? Contract<double>(contraction, operand(0), operand(1), dims)
          : Contract<uint64_t>(contraction, operand(0), operand(1), dims);
  if (!IsFloat(dtype)) {
    for (Element& sum : sums) sum = Wrapped(sum, dtype);
  } else if (RoundingNoise* noise = values.arithmetic.noise) {
    const auto squares =
        SumsOfSquares(contraction, operand(0), operand(1), dims);
    auto terms = static_cast<double>(contraction.in);
    for (const int64_t k : contraction.kernel) terms *= static_cast<double>(k);
    for (size_t i = 0; i < sums.size(); ++i) {
      sums[i] = noise->OfSum(static_cast<double>(sums[i]), terms,
                             static_cast<double>(squares[i]), dtype);
    }
  }
  std::vector<Element> results(sums.size());
  BoxValues(values).Compute({0, Extents(dims.size(), 0), dims, epilogue}, dims,
                            results, sums);
  values.outputs[0] = maxima.empty() ? std::move(results)
                                     : WindowMaxima(*this, results, stored);
}

}  // namespace mxc
