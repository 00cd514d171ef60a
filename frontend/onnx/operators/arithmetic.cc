// SPDX-License-Identifier: Apache-2.0
// Operators of two and more tensors, element by element, with broadcasting.
#include <cstring>
#include <limits>

#include "frontend/onnx/call.h"

namespace mxc::onnx {

#define MXC_ONNX_BINARY(name, op) \
  void Import##name(Call& c) { c.Give(0, c.Op(op, {c.In(0), c.In(1)})); }
MXC_ONNX_BINARY(Add, "broadcast_add")
MXC_ONNX_BINARY(BitwiseAnd, "_npi_bitwise_and")
MXC_ONNX_BINARY(BitwiseOr, "_npi_bitwise_or")
MXC_ONNX_BINARY(BitwiseXor, "_npi_bitwise_xor")
MXC_ONNX_BINARY(Div, "broadcast_div")
MXC_ONNX_BINARY(Equal, "_npi_equal")
MXC_ONNX_BINARY(Greater, "_npi_greater")
MXC_ONNX_BINARY(GreaterOrEqual, "_npi_greater_equal")
MXC_ONNX_BINARY(Less, "_npi_less")
MXC_ONNX_BINARY(LessOrEqual, "_npi_less_equal")
MXC_ONNX_BINARY(Mul, "broadcast_mul")
MXC_ONNX_BINARY(Sub, "broadcast_sub")
MXC_ONNX_BINARY(And, "broadcast_logical_and")
MXC_ONNX_BINARY(Or, "broadcast_logical_or")
MXC_ONNX_BINARY(Xor, "broadcast_logical_xor")
#undef MXC_ONNX_BINARY

namespace {

Value Joined(Call& c, std::string_view op) {
  Value result = c.In(0);
  for (int i = 1; i < c.inputs(); ++i) result = c.Op(op, {result, c.In(i)});
  return result;
}

}  // namespace

void ImportMax(Call& c) { c.Give(0, Joined(c, "broadcast_maximum")); }
void ImportMin(Call& c) { c.Give(0, Joined(c, "broadcast_minimum")); }
void ImportSum(Call& c) { c.Give(0, Joined(c, "broadcast_add")); }
void ImportMean(Call& c) {
  const Value sum = Joined(c, "broadcast_add");
  c.Give(0, c.Mul(sum, 1.0 / c.inputs()));
}

// The result is of the base's type, whatever the exponent's is.
void ImportPow(Call& c) {
  const Value base = c.In(0);
  const DType dtype = base.type().dtype;
  const DType exponent = c.DTypeOf(1);
  if (dtype == exponent) {
    return c.Give(0, c.Op("broadcast_power", {base, c.In(1)}));
  }
  const DType wide = IsFloat(dtype)      ? dtype
                     : IsFloat(exponent) ? exponent
                                         : DType::kF64;
  const Value power =
      c.Op("broadcast_power", {c.Cast(base, wide), c.Cast(c.In(1), wide)});
  c.Give(0, c.Cast(power, dtype));
}

namespace {

Value ModWhere(Call& c, Value condition, Value x, Value y) {
  return c.Op("_npi_where", {condition, x, y});
}

// The rest, but no number where nothing is left: of infinity, or by zero.
Value RestOrNone(Call& c, Value a, Value b, Value rest) {
  const auto either = [&](Value x, Value y) {
    return c.Op("broadcast_logical_or", {x, y});
  };
  const Value undefined =
      either(either(c.Op("_npi_equal_scalar", {b}, {{"scalar", "0"}}),
                    c.Op("_npi_isinf", {a})),
             either(c.Op("_npi_isnan", {a}), c.Op("_npi_isnan", {b})));
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return ModWhere(c, undefined, c.ScalarLike(kNan, a), rest);
}

// C's fmod: the rest has the sign of a.
Value TruncatedModulo(Call& c, Value a, Value b) {
  const Value size = c.Abs(a);
  Value rest = c.Op("broadcast_mod", {size, c.Abs(b)});
  if (!IsFloat(a.type().dtype)) return c.Mul(rest, c.Sign(a));
  rest = ModWhere(c, c.Op("_npi_isinf", {b}), size, rest);
  return RestOrNone(c, a, b, c.Op("_npi_copysign", {rest, a}));
}

// a − floor(a / b) · b of floats: zeros have the sign of b, an infinite b is
// one step away from what has another sign.
Value FlooredModulo(Call& c, Value a, Value b) {
  const auto is = [&](std::string_view op, Value x) {
    return c.Op(op, {x}, {{"scalar", "0"}});
  };
  const auto where = [&](Value condition, Value x, Value y) {
    return ModWhere(c, condition, x, y);
  };
  const Value zero = c.ScalarLike(0, a);
  Value rest = c.Op("broadcast_mod", {a, b});
  const Value apart = c.Op(
      "_npi_not_equal", {is("_npi_less_scalar", a), is("_npi_less_scalar", b)});
  const Value endless = c.Op("_npi_isinf", {b});
  rest = where(endless, where(apart, b, a), rest);
  const Value nothing =
      c.Op("broadcast_logical_or",
           {is("_npi_equal_scalar", rest), is("_npi_equal_scalar", a)});
  rest = where(nothing, c.Op("_npi_copysign", {zero, b}), rest);
  return RestOrNone(c, a, b, rest);
}

}  // namespace

// fmod = 1: the sign of the dividend, as C's fmod; else that of the divisor,
// as Python's %.
void ImportMod(Call& c) {
  const Value a = c.In(0), b = c.In(1);
  if (!c.Flag("fmod")) {
    if (!IsFloat(a.type().dtype)) {
      return c.Give(0, c.Op("broadcast_mod", {a, b}));
    }
    c.Require(
        c.opset() >= 28,
        "fmod is 0 and the elements are floats, for which it has to be 1");
    return c.Give(0, FlooredModulo(c, a, b));
  }
  c.Give(0, TruncatedModulo(c, a, b));
}

void ImportWhere(Call& c) {
  c.Give(0, c.Op("_npi_where", {c.In(0), c.In(1), c.In(2)}));
}

void ImportBitShift(Call& c) {
  const int left = c.OneOf("direction", {"RIGHT", "LEFT"}, -1);
  c.Require(left >= 0, "attribute 'direction' is missing");
  c.Give(0, c.Op(left ? "_npi_bitwise_left_shift" : "_npi_bitwise_right_shift",
                 {c.In(0), c.In(1)}));
}

}  // namespace mxc::onnx
