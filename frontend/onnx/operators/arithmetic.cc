// SPDX-License-Identifier: Apache-2.0
// Operators of two and more tensors, element by element, with broadcasting.
#include <cstring>
#include <limits>

#include "frontend/onnx/call.h"
#include "ir/ops/tensor/elementwise/scalar.h"

namespace mxc::onnx {

#define MXC_ONNX_BINARY(name, Id) \
  void Import##name(Call& c) { c.Give(0, c.Op<op::Id>({c.In(0), c.In(1)})); }
MXC_ONNX_BINARY(Add, BroadcastAdd)
MXC_ONNX_BINARY(BitwiseAnd, NpiBitwiseAnd)
MXC_ONNX_BINARY(BitwiseOr, NpiBitwiseOr)
MXC_ONNX_BINARY(BitwiseXor, NpiBitwiseXor)
MXC_ONNX_BINARY(Div, BroadcastDiv)
MXC_ONNX_BINARY(Equal, NpiEqual)
MXC_ONNX_BINARY(Greater, NpiGreater)
MXC_ONNX_BINARY(GreaterOrEqual, NpiGreaterEqual)
MXC_ONNX_BINARY(Less, NpiLess)
MXC_ONNX_BINARY(LessOrEqual, NpiLessEqual)
MXC_ONNX_BINARY(Mul, BroadcastMul)
MXC_ONNX_BINARY(Sub, BroadcastSub)
MXC_ONNX_BINARY(And, BroadcastLogicalAnd)
MXC_ONNX_BINARY(Or, BroadcastLogicalOr)
MXC_ONNX_BINARY(Xor, BroadcastLogicalXor)
#undef MXC_ONNX_BINARY

namespace {

template <class Id>
Value Joined(Call& c) {
  Value result = c.In(0);
  for (int i = 1; i < c.inputs(); ++i) result = c.Op<Id>({result, c.In(i)});
  return result;
}

}  // namespace

void ImportMax(Call& c) { c.Give(0, Joined<op::BroadcastMaximum>(c)); }
void ImportMin(Call& c) { c.Give(0, Joined<op::BroadcastMinimum>(c)); }
void ImportSum(Call& c) { c.Give(0, Joined<op::BroadcastAdd>(c)); }
void ImportMean(Call& c) {
  const Value sum = Joined<op::BroadcastAdd>(c);
  c.Give(0, c.Mul(sum, 1.0 / c.inputs()));
}

// The result is of the base's type, whatever the exponent's is.
void ImportPow(Call& c) {
  const Value base = c.In(0);
  const DType dtype = base.type().dtype;
  const DType exponent = c.DTypeOf(1);
  if (dtype == exponent) {
    return c.Give(0, c.Op<op::BroadcastPower>({base, c.In(1)}));
  }
  const DType wide = IsFloat(dtype)      ? dtype
                     : IsFloat(exponent) ? exponent
                                         : DType::kF64;
  const Value power =
      c.Op<op::BroadcastPower>({c.Cast(base, wide), c.Cast(c.In(1), wide)});
  c.Give(0, c.Cast(power, dtype));
}

namespace {

Value ModWhere(Call& c, Value condition, Value x, Value y) {
  return c.Op<op::NpiWhere>({condition, x, y});
}

// The rest, but no number where nothing is left: of infinity, or by zero.
Value RestOrNone(Call& c, Value a, Value b, Value rest) {
  const auto either = [&](Value x, Value y) {
    return c.Op<op::BroadcastLogicalOr>({x, y});
  };
  const Value undefined =
      either(either(c.Op<op::NpiEqualScalar>({b}, {.scalar = 0}),
                    c.Op<op::NpiIsinf>({a})),
             either(c.Op<op::NpiIsnan>({a}), c.Op<op::NpiIsnan>({b})));
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return ModWhere(c, undefined, c.ScalarLike(kNan, a), rest);
}

// C's fmod: the rest has the sign of a.
Value TruncatedModulo(Call& c, Value a, Value b) {
  const Value size = c.Abs(a);
  Value rest = c.Op<op::BroadcastMod>({size, c.Abs(b)});
  if (!IsFloat(a.type().dtype)) return c.Mul(rest, c.Sign(a));
  rest = ModWhere(c, c.Op<op::NpiIsinf>({b}), size, rest);
  return RestOrNone(c, a, b, c.Op<op::NpiCopysign>({rest, a}));
}

// a − floor(a / b) · b of floats: zeros have the sign of b, an infinite b is
// one step away from what has another sign.
Value FlooredModulo(Call& c, Value a, Value b) {
  const auto negative = [&](Value x) {
    return c.Op<op::NpiLessScalar>({x}, {.scalar = 0});
  };
  const auto zero_at = [&](Value x) {
    return c.Op<op::NpiEqualScalar>({x}, {.scalar = 0});
  };
  const auto where = [&](Value condition, Value x, Value y) {
    return ModWhere(c, condition, x, y);
  };
  const Value zero = c.ScalarLike(0, a);
  Value rest = c.Op<op::BroadcastMod>({a, b});
  const Value apart = c.Op<op::NpiNotEqual>({negative(a), negative(b)});
  const Value endless = c.Op<op::NpiIsinf>({b});
  rest = where(endless, where(apart, b, a), rest);
  const Value nothing =
      c.Op<op::BroadcastLogicalOr>({zero_at(rest), zero_at(a)});
  rest = where(nothing, c.Op<op::NpiCopysign>({zero, b}), rest);
  return RestOrNone(c, a, b, rest);
}

}  // namespace

// fmod = 1: the sign of the dividend, as C's fmod; else that of the divisor,
// as Python's %.
void ImportMod(Call& c) {
  const Value a = c.In(0), b = c.In(1);
  if (!c.Flag("fmod")) {
    if (!IsFloat(a.type().dtype)) {
      return c.Give(0, c.Op<op::BroadcastMod>({a, b}));
    }
    c.Require(
        c.opset() >= 28,
        "fmod is 0 and the elements are floats, for which it has to be 1");
    return c.Give(0, FlooredModulo(c, a, b));
  }
  c.Give(0, TruncatedModulo(c, a, b));
}

void ImportWhere(Call& c) {
  c.Give(0, c.Op<op::NpiWhere>({c.In(0), c.In(1), c.In(2)}));
}

void ImportBitShift(Call& c) {
  const int left = c.OneOf("direction", {"RIGHT", "LEFT"}, -1);
  c.Require(left >= 0, "attribute 'direction' is missing");
  const std::vector<Value> operands = {c.In(0), c.In(1)};
  c.Give(0, left ? c.Op<op::NpiBitwiseLeftShift>(operands)
                 : c.Op<op::NpiBitwiseRightShift>(operands));
}

}  // namespace mxc::onnx
