// SPDX-License-Identifier: Apache-2.0
// Operators of one tensor, element by element.
#include "frontend/onnx/operators/few_bits.h"
#include "frontend/onnx/tensor_data.h"
#include "ir/ops/numpy/elementwise/npi_around.h"
#include "ir/ops/tensor/create/filled.h"

namespace mxc::onnx {

#define MXC_ONNX_UNARY(name, Id) \
  void Import##name(Call& c) { c.Give(0, c.Op<op::Id>({c.In(0)})); }
MXC_ONNX_UNARY(Abs, Abs)
MXC_ONNX_UNARY(Acos, Arccos)
MXC_ONNX_UNARY(Acosh, Arccosh)
MXC_ONNX_UNARY(Asin, Arcsin)
MXC_ONNX_UNARY(Asinh, Arcsinh)
MXC_ONNX_UNARY(Atan, Arctan)
MXC_ONNX_UNARY(Atanh, Arctanh)
MXC_ONNX_UNARY(Ceil, Ceil)
MXC_ONNX_UNARY(Cos, Cos)
MXC_ONNX_UNARY(Cosh, Cosh)
MXC_ONNX_UNARY(Erf, Erf)
MXC_ONNX_UNARY(Exp, Exp)
MXC_ONNX_UNARY(Floor, Floor)
MXC_ONNX_UNARY(IsNaN, NpiIsnan)
MXC_ONNX_UNARY(Log, Log)
MXC_ONNX_UNARY(Neg, Negative)
MXC_ONNX_UNARY(Not, NpiLogicalNot)
MXC_ONNX_UNARY(Reciprocal, Reciprocal)
MXC_ONNX_UNARY(Sign, Sign)
MXC_ONNX_UNARY(Sin, Sin)
MXC_ONNX_UNARY(Sinh, Sinh)
MXC_ONNX_UNARY(Sqrt, Sqrt)
MXC_ONNX_UNARY(Tan, Tan)
MXC_ONNX_UNARY(Tanh, Tanh)
MXC_ONNX_UNARY(BitwiseNot, NpiBitwiseNot)
#undef MXC_ONNX_UNARY

void ImportIdentity(Call& c) { c.Give(0, c.operand(0)); }

// Half to even.
void ImportRound(Call& c) {
  c.Give(0, c.Op<op::NpiAround>({c.In(0)}, {.decimals = 0}));
}

void ImportIsInf(Call& c) {
  const bool negative = c.Flag("detect_negative", true);
  const bool positive = c.Flag("detect_positive", true);
  const Value x = c.In(0);
  if (negative && positive) return c.Give(0, c.Op<op::NpiIsinf>({x}));
  if (negative) return c.Give(0, c.Op<op::NpiIsneginf>({x}));
  if (positive) return c.Give(0, c.Op<op::NpiIsposinf>({x}));
  c.Give(0, c.Op<op::Zeros>(
                {}, {.shape = x.shape().dims(), .dtype = DType::kBool}));
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
