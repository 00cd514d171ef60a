// SPDX-License-Identifier: Apache-2.0
#include "ir/ops/numpy/elementwise/np_shift.h"

#include <cmath>

#include "ir/program/integers.h"

namespace mxc::np {
namespace {

int BitsOf(const Expr& x) { return static_cast<int>(8 * SizeOf(x->dtype)); }

bool HasSign(const Expr& x) { return LeastInteger(x->dtype) < 0; }

// True where a shift by so much leaves any of the bits.
Expr IsWithin(const Expr& by) {
  return by >= Lit(0, by) && by < Lit(BitsOf(by), by);
}

}  // namespace

// A product with a power of two, which is the highest bit moved down.
Expr ShiftedLeft(Expr x, Expr by) {
  const int last = BitsOf(x) - 1;
  const Element top = std::ldexp(Element{1}, last);
  const Expr high = Constant(HasSign(x) ? -top : top, x->dtype);
  const Expr power = ShiftRight(high, Lit(last, by) - by);
  return Select(IsWithin(by), x * power, Lit(0, x));
}

// Zeros enter where the bits of what is negative are turned around.
Expr ShiftedRight(Expr x, Expr by) {
  const Expr zero = Lit(0, x);
  if (!HasSign(x)) {
    return Select(IsWithin(by), ShiftRight(x, by), zero);
  }
  const Expr turn = Select(x < zero, Constant(-1, x->dtype), zero);
  const Expr shifted =
      Select(IsWithin(by), ShiftRight(BitXor(x, turn), by), zero);
  return BitXor(shifted, turn);
}

}  // namespace mxc::np
