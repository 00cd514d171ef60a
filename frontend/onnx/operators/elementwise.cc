// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor, element by element.
#include "frontend/onnx/operators/few_bits.h"
#include "frontend/onnx/tensor_data.h"

namespace mxc::onnx {

#define MXC_ONNX_UNARY(name, op) \
  void Import##name(Call& c) { c.Give(0, c.Op(op, {c.In(0)})); }
MXC_ONNX_UNARY(Abs, "abs")
MXC_ONNX_UNARY(Acos, "arccos")
MXC_ONNX_UNARY(Acosh, "arccosh")
MXC_ONNX_UNARY(Asin, "arcsin")
MXC_ONNX_UNARY(Asinh, "arcsinh")
MXC_ONNX_UNARY(Atan, "arctan")
MXC_ONNX_UNARY(Atanh, "arctanh")
MXC_ONNX_UNARY(Ceil, "ceil")
MXC_ONNX_UNARY(Cos, "cos")
MXC_ONNX_UNARY(Cosh, "cosh")
MXC_ONNX_UNARY(Erf, "erf")
MXC_ONNX_UNARY(Exp, "exp")
MXC_ONNX_UNARY(Floor, "floor")
MXC_ONNX_UNARY(IsNaN, "_npi_isnan")
MXC_ONNX_UNARY(Log, "log")
MXC_ONNX_UNARY(Neg, "negative")
MXC_ONNX_UNARY(Not, "_npi_logical_not")
MXC_ONNX_UNARY(Reciprocal, "reciprocal")
MXC_ONNX_UNARY(Sign, "sign")
MXC_ONNX_UNARY(Sin, "sin")
MXC_ONNX_UNARY(Sinh, "sinh")
MXC_ONNX_UNARY(Sqrt, "sqrt")
MXC_ONNX_UNARY(Tan, "tan")
MXC_ONNX_UNARY(Tanh, "tanh")
MXC_ONNX_UNARY(BitwiseNot, "_npi_bitwise_not")
#undef MXC_ONNX_UNARY

void ImportIdentity(Call& c) { c.Give(0, c.operand(0)); }

// Half to even.
void ImportRound(Call& c) {
  c.Give(0, c.Op("_npi_around", {c.In(0)}, {{"decimals", "0"}}));
}

void ImportIsInf(Call& c) {
  const bool negative = c.Flag("detect_negative", true);
  const bool positive = c.Flag("detect_positive", true);
  const Value x = c.In(0);
  if (negative && positive) return c.Give(0, c.Op("_npi_isinf", {x}));
  if (negative) return c.Give(0, c.Op("_npi_isneginf", {x}));
  if (positive) return c.Give(0, c.Op("_npi_isposinf", {x}));
  c.Give(0, c.Op("_zeros", {},
                 {{"shape", TupleText(x.shape().dims())}, {"dtype", "bool"}}));
}

namespace {

void CastTo(Call& c, int32_t to) {
  const bool saturate = c.Flag("saturate", true);
  c.Ignore("round_mode");  // of FLOAT8E8M0 alone
  if (c.DataTypeOf(0) == to) return c.Give(0, c.operand(0));
  if (NarrowType(to) == 0) {
    c.Give(0, c.Cast(c.In(0), *DTypeOf(to)));
  } else {
    c.Give(0, CastToNarrow(c, c.In(0), to, saturate));
  }
  c.SetDataType(0, to);
}

}  // namespace

// Out of range: undefined by the standard; ours is what the processor gives.
void ImportCast(Call& c) { CastTo(c, c.DataType("to")); }

void ImportCastLike(Call& c) { CastTo(c, c.DataTypeOf(1)); }

// Known values alone: bits of a float are no value of our expressions.
void ImportBitCast(Call& c) {
  const int32_t to = c.DataType("to");
  const DType dtype = *DTypeOf(to);
  const Tensor x = c.Need(0, "data");
  c.Require(NarrowType(to) == 0 && c.operand(0).narrow == 0 &&
                SizeOf(dtype) == SizeOf(x.type().dtype),
            "{} becomes {}, expected types of one size, from 8 bits",
            DataTypeName(c.DataTypeOf(0)), DataTypeName(to));
  c.Give(0, Tensor({dtype, x.shape()}, std::make_shared<const Tensor>(x),
                   x.bytes()));
}

}  // namespace mxc::onnx
