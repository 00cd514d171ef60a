// SPDX-License-Identifier: Apache-2.0
// com.microsoft: what ONNX Runtime's optimizer makes of networks of integers.
// Source: ONNX Runtime 1.32, docs/ContribOperators.md, and what it computes.
#include <algorithm>

#include "frontend/onnx/operators/exact_products.h"
#include "frontend/onnx/operators/quantization.h"
#include "frontend/onnx/operators/windows.h"
#include "frontend/onnx/tensor_data.h"
#include "ir/ops/nn/activation/leaky_relu.h"
#include "ir/ops/nn/convolution/fully_connected.h"

namespace mxc::onnx {
namespace {

// Input `i`, as the numbers that its levels stand for.
Value RealInput(Call& c, int i, int scale, int zero) {
  const int32_t type = c.DataTypeOf(i);
  c.Require(IntegerRangeOf(type).has_value(),
            "input {} has elements of {}, expected integers of few bits", i,
            DataTypeName(type));
  return Dequantized(c, c.In(i), ScaleOf(c, scale), ScalarZeroPoint(c, zero));
}

void GiveLevels(Call& c, Value real, int scale, int zero, int32_t type) {
  c.Give(0, Quantized(c, c.Div(real, ScaleOf(c, scale)),
                      ScalarZeroPoint(c, zero), type));
  c.SetDataType(0, type);
}

void NotLast(Call& c) {
  c.Require(!c.Flag("channels_last"), "channels_last is not supported");
}

}  // namespace

// Add and Mul add the zero point before they round, other than QuantizeLinear.
void ImportQLinearAdd(Call& c) {
  const Value out = ScaleOf(c, 6);
  const auto share = [&](int scale) { return c.Div(ScaleOf(c, scale), out); };
  const Value share_a = share(1), share_b = share(4);
  // What does not depend on the levels, first.
  Value fixed = ScalarZeroPoint(c, 7);
  if (!fixed) fixed = c.ScalarLike(0, share_a);
  if (const Value zero = ScalarZeroPoint(c, 2))
    fixed = c.Sub(fixed, c.Mul(share_a, zero));
  if (const Value zero = ScalarZeroPoint(c, 5))
    fixed = c.Sub(fixed, c.Mul(share_b, zero));
  const Value a = c.Mul(c.Cast(c.In(0), DType::kF32), share_a);
  const Value b = c.Mul(c.Cast(c.In(3), DType::kF32), share_b);
  const int32_t type = c.DataTypeOf(0);
  c.Give(0, Quantized(c, c.Add(c.Add(a, fixed), b), {}, type));
  c.SetDataType(0, type);
}

void ImportQLinearMul(Call& c) {
  const auto level = [&](int i, int zero) {
    const Value x = c.Cast(c.In(i), DType::kF32);
    const Value offset = ScalarZeroPoint(c, zero);
    return offset ? c.Sub(x, offset) : x;
  };
  const Value scale = c.Div(c.Mul(ScaleOf(c, 1), ScaleOf(c, 4)), ScaleOf(c, 6));
  Value y = c.Mul(c.Mul(level(0, 2), level(3, 5)), scale);
  if (const Value zero = ScalarZeroPoint(c, 7)) y = c.Add(y, zero);
  const int32_t type = c.DataTypeOf(0);
  c.Give(0, Quantized(c, y, {}, type));
  c.SetDataType(0, type);
}

void ImportQLinearSigmoid(Call& c) {
  const Value y = c.Op<op::Sigmoid>({RealInput(c, 0, 1, 2)});
  GiveLevels(c, y, 3, 4, c.DataTypeOf(0));
}

void ImportQLinearLeakyRelu(Call& c) {
  const Value y = c.Op<op::LeakyReLU>(
      {RealInput(c, 0, 1, 2)},
      {.act_type = LeakyType::kLeaky, .slope = c.Float("alpha", 0.01)});
  GiveLevels(c, y, 3, 4, c.DataTypeOf(0));
}

void ImportQLinearAveragePool(Call& c) {
  NotLast(c);
  GiveLevels(c, AveragePooled(c, RealInput(c, 0, 1, 2)), 3, 4, c.DataTypeOf(0));
}

void ImportQLinearGlobalAveragePool(Call& c) {
  NotLast(c);
  const Value x = RealInput(c, 0, 1, 2);
  const Extents axes = AxesFrom(2, x.shape().rank());
  c.Require(!axes.empty(), "its data have the shape {}", ToString(x.shape()));
  GiveLevels(c, c.Mean(x, axes), 3, 4, c.DataTypeOf(0));
}

// Inputs are a scale and a zero point, and then three for each part.
void ImportQLinearConcat(Call& c) {
  c.Require(c.inputs() >= 5 && c.inputs() % 3 == 2, "it has {} inputs",
            c.inputs());
  const int rank = c.RankOf(2);
  const int axis = c.Axis(c.Int("axis"), rank);
  std::vector<Value> parts;
  for (int i = 2; i < c.inputs(); i += 3) {
    c.Require(c.RankOf(i) == rank, "its parts have {} and {} axes", rank,
              c.RankOf(i));
    parts.push_back(RealInput(c, i, i + 1, i + 2));
  }
  GiveLevels(c, c.Concat(parts, axis), 0, 1, c.DataTypeOf(2));
}

// --- products ---------------------------------------------------------------

void ImportMatMulIntegerToFloat(Call& c) {
  const int rank_a = c.RankOf(0), rank_b = c.RankOf(1);
  const WholeNumbers a = WholeNumbersOf(c, 0, 4, AlongRows(c, 4, rank_a));
  const WholeNumbers b = WholeNumbersOf(c, 1, 5, AlongColumns(c, 5, rank_b));
  const Value scale = c.Mul(ScaleOf(c, 2, AlongRows(c, 2, rank_a)),
                            ScaleOf(c, 3, AlongColumns(c, 3, rank_b)));
  Value y = c.Mul(c.Cast(ExactMatMul(c, a, b), DType::kF32), scale);
  if (c.Has(6)) y = c.Add(y, c.Cast(c.In(6), DType::kF32));
  c.Give(0, c.Cast(y, c.DTypeOf(2)));
}

void ImportDynamicQuantizeMatMul(Call& c) {
  const DynamicLevels levels = DynamicallyQuantized(c, c.In(0));
  const WholeNumbers a = {c.Sub(levels.level, levels.zero), 255};
  const int rank = c.RankOf(1);
  const WholeNumbers b = WholeNumbersOf(c, 1, 3, AlongColumns(c, 3, rank));
  const Value scale =
      c.Mul(ScaleOf(c, 2, AlongColumns(c, 2, rank)), levels.scale);
  Value y = c.Mul(c.Cast(ExactMatMul(c, a, b), DType::kF32), scale);
  if (c.Has(4)) y = c.Add(y, c.In(4));
  c.Give(0, y);
}

namespace {

WholeNumbers Turned(Call& c, WholeNumbers x, bool turns) {
  if (turns) x.value = c.Transpose(x.value, {1, 0});
  return x;
}

}  // namespace

void ImportQGemm(Call& c) {
  const double alpha = c.Float("alpha", 1);
  const bool turn_a = c.Flag("transA"), turn_b = c.Flag("transB");
  c.Require(c.RankOf(0) == 2 && c.RankOf(3) == 2,
            "its operands are no "
            "matrices");
  const Shape& b_shape = c.ShapeOf(3);
  const int64_t columns = b_shape[turn_b ? 0 : 1];
  const Extents along = turn_b ? Extents{columns, 1} : Extents{1, columns};
  const WholeNumbers a = WholeNumbersOf(c, 0, 2, {});
  const WholeNumbers b = WholeNumbersOf(
      c, 3, 5, c.Has(5) && c.ShapeOf(5).elements() > 1 ? along : Extents());
  Value sum = ExactMatMul(c, Turned(c, a, turn_a), Turned(c, b, turn_b));
  if (c.Has(6)) {
    const Shape of = sum.shape();
    sum = c.Add(sum, c.Cast(c.In(6), DType::kI32));
    c.Require(sum.shape() == of, "C has the shape {}, the product {}",
              ToString(c.ShapeOf(6)), ToString(of));
  }
  Value scale = c.Mul(ScaleOf(c, 1), ScaleOf(c, 4, {1, columns}));
  if (alpha != 1) scale = c.Mul(scale, alpha);
  const Value real = c.Cast(sum, DType::kF32);
  if (!c.Has(7)) return c.Give(0, c.Mul(real, scale));
  scale = c.Div(scale, ScaleOf(c, 7));
  const int32_t type = c.Has(8) ? c.DataTypeOf(8) : c.DataTypeOf(0);
  const Value zero = ScalarZeroPoint(c, 8);
  c.Give(0, Quantized(c, c.Mul(real, scale), zero, type));
  c.SetDataType(0, type);
}

// --- weights of few bits ----------------------------------------------------

namespace {

// Bytes [rows, n] as the 8 / bits numbers that each holds, the lowest first.
Value Unpacked(Call& c, Value bytes, int64_t bits) {
  const int64_t rows = bytes.shape()[0], count = bytes.shape()[1];
  Value rest = c.Cast(bytes, DType::kF32);
  if (bits == 8) return rest;
  const double base = static_cast<double>(int64_t{1} << bits);
  std::vector<Value> parts;
  for (int64_t i = 0; i < 8 / bits; ++i) {
    const Value higher = c.Op<op::Floor>({c.Mul(rest, 1 / base)});
    parts.push_back(
        c.Reshape(c.Sub(rest, c.Mul(higher, base)), Shape{rows, count, 1}));
    rest = higher;
  }
  return c.Reshape(c.Concat(parts, 2), Shape{rows, count * 8 / bits});
}

}  // namespace

void ImportMatMulNBits(Call& c) {
  c.Ignore("accuracy_level");
  const int64_t inner = c.Int("K"), columns = c.Int("N");
  const int64_t bits = c.Int("bits", 4), block = c.Int("block_size");
  c.Require(bits == 2 || bits == 4 || bits == 8, "its weights have {} bits",
            bits);
  c.Require(!c.Flag("weight_prepacked") && !c.Has(4),
            "weights in another order are not supported");
  c.Require(inner > 0 && columns > 0 && block > 0 && block <= (1 << 20) &&
                block * bits % 8 == 0 && inner < (int64_t{1} << 40),
            "its weights are {} by {} in blocks of {}", columns, inner, block);
  const int64_t blocks = (inner - 1) / block + 1;
  const int64_t bytes = block * bits / 8;
  c.Require(c.DTypeOf(1) == DType::kU8 &&
                c.ShapeOf(1) == Shape({columns, blocks, bytes}),
            "its weights are {}, expected bytes of shape {}",
            ToString(c.TypeOf(1)), TupleText({columns, blocks, bytes}));
  c.Require(c.ShapeOf(2).elements() == columns * blocks,
            "its scales have the shape {}", ToString(c.ShapeOf(2)));
  const Value levels = c.Reshape(
      Unpacked(c, c.Reshape(c.In(1), Shape{columns, blocks * bytes}), bits),
      Shape{columns, blocks, block});
  const Shape each{columns, blocks, 1};
  const Value scale = c.Reshape(c.Cast(c.In(2), DType::kF32), each);
  Value offset;
  if (!c.Has(3)) {
    offset = c.Sub(levels, static_cast<double>(int64_t{1} << (bits - 1)));
  } else if (c.DTypeOf(3) == DType::kU8) {
    const int64_t packed = (blocks * bits + 7) / 8;
    c.Require(c.ShapeOf(3).elements() == columns * packed,
              "its zero points have the shape {}", ToString(c.ShapeOf(3)));
    const Value zeros =
        Unpacked(c, c.Reshape(c.In(3), Shape{columns, packed}), bits);
    offset = c.Sub(levels, c.Reshape(zeros.shape()[1] == blocks
                                         ? zeros
                                         : c.SliceAxis(zeros, 1, 0, blocks),
                                     each));
  } else {
    c.Require(c.ShapeOf(3).elements() == columns * blocks,
              "its zero points have the shape {}", ToString(c.ShapeOf(3)));
    offset = c.Sub(levels, c.Reshape(c.Cast(c.In(3), DType::kF32), each));
  }
  Value weight =
      c.Reshape(c.Mul(offset, scale), Shape{columns, blocks * block});
  if (blocks * block != inner) weight = c.SliceAxis(weight, 1, 0, inner);
  const Value x = c.In(0);
  const DType dtype = x.type().dtype, wide = AccumulateType(dtype);
  std::vector<Value> inputs = {c.Cast(x, wide), c.Cast(weight, wide)};
  if (c.Has(5)) inputs.push_back(c.Cast(c.In(5), wide));
  const Value y = c.Op<op::FullyConnected>(
      inputs, {.num_hidden = columns, .no_bias = !c.Has(5), .flatten = false});
  c.Give(0, c.Cast(y, dtype));
}

}  // namespace mxc::onnx
