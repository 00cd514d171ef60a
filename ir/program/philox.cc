// SPDX-License-Identifier: Apache-2.0
#include "ir/program/philox.h"

#include <numbers>

namespace mxc {
namespace {

constexpr int kRounds = 10;
constexpr uint32_t kMultiplier = 0xD256D193;
constexpr uint32_t kWeyl = 0x9E3779B9;  // the key's step from round to round

Expr Word(uint32_t value) { return Constant(value, DType::kU32); }

// The lower half of an i64.
Expr Low(const Expr& x) { return Cast(x, DType::kU32); }
Expr High(const Expr& x) { return Low(ShiftRight(x, 32)); }

}  // namespace

PhiloxBlock Philox(Expr counter_low, Expr counter_high, Expr key) {
  const Expr multiplier = Word(kMultiplier);
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) key = key + Word(kWeyl);
    const Expr high = MulHigh(counter_low, multiplier);
    const Expr low = counter_low * multiplier;
    counter_low = BitXor(BitXor(counter_high, key), high);
    counter_high = low;
  }
  return {counter_low, counter_high};
}

Expr UnitInterval(const Expr& bits) {
  // As a signed number, which every processor converts.
  const Expr number = Cast(ShiftRight(bits, Word(8)), DType::kI32);
  return Cast(number, DType::kF32) * Constant(0x1p-24);
}

Expr NormalOf(const PhiloxBlock& block) {
  const Expr positive = UnitInterval(block.first) + Constant(0x1p-24);
  const Expr radius = Sqrt(Constant(-2) * Log(positive));
  const Expr angle =
      UnitInterval(block.second) * Constant(2 * std::numbers::pi);
  return radius * Unary(UnaryOp::kCos, angle);
}

PhiloxBlock BlockOf(const PhiloxState& state, const Expr& position,
                    const Expr& attempt) {
  const auto tag = static_cast<uint64_t>(state.stream);
  const Expr key = BitXor(Low(state.seed), Word(static_cast<uint32_t>(tag)));
  const Expr run = BitXor(BitXor(Low(state.counter), High(state.seed)),
                          Word(static_cast<uint32_t>(tag >> 32)));
  // Attempts count from the top, runs from the bottom.
  const Expr high = IsConst(attempt, 0)
                        ? run
                        : BitXor(run, Low(attempt) * Word(uint32_t{1} << 24));
  return Philox(Low(position), high, key);
}

}  // namespace mxc
