// SPDX-License-Identifier: Apache-2.0
// Random numbers: Philox's known answers, independence of shape and run.
#include "ir/program/philox.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "ir/program/evaluator.h"
#include "tests/ir/op_run.h"

namespace mxc {
namespace {

double Only(const Expr& e) { return Evaluator({}).Evaluate(e, 1, {})[0]; }

// Variables of words, so that nothing is folded.
PhiloxBlock Block(uint32_t low, uint32_t high, uint32_t key) {
  const auto word = [](uint32_t value) { return Constant(value, DType::kU32); };
  return Philox(word(low), word(high), word(key));
}

std::vector<double> Drawn(const std::string& op, const std::string& shape,
                          int64_t stream, double seed, double counter) {
  return Evaluate(op, {{"shape", shape}, {"stream", std::to_string(stream)}},
                  {TypedTensor(DType::kI64, {2}, {seed, counter})});
}

struct Moments {
  double mean = 0, variance = 0, third = 0, fourth = 0;
};
Moments MomentsOf(const std::vector<double>& x) {
  const auto n = static_cast<double>(x.size());
  Moments m;
  for (const double v : x) m.mean += v / n;
  for (const double v : x) {
    const double d = v - m.mean;
    m.variance += d * d / n;
    m.third += d * d * d / n;
    m.fourth += d * d * d * d / n;
  }
  return m;
}

}  // namespace

TEST_CASE("Philox2x32-10 gives the known answers of Random123") {
  struct {
    uint32_t low, high, key, first, second;
  } const answers[] = {
      {0, 0, 0, 0xff1dae59, 0x6cd10df2},
      {0xffffffff, 0xffffffff, 0xffffffff, 0x2c3f628b, 0xab4fd7ad},
      {0x243f6a88, 0x85a308d3, 0x13198a2e, 0xdd7ce038, 0xf62a4c12}};
  for (const auto& answer : answers) {
    const PhiloxBlock block = Block(answer.low, answer.high, answer.key);
    CHECK(Only(block.first) == answer.first);
    CHECK(Only(block.second) == answer.second);
  }
}

TEST_CASE("uniform numbers: range, grid and moments") {
  const auto x = Drawn("_philox_uniform", "(20000,)", 7, 3, 0);
  for (const double v : x) {
    CHECK(v >= 0);
    CHECK(v < 1);
    CHECK(v * 0x1p24 == std::floor(v * 0x1p24));
  }
  const Moments m = MomentsOf(x);
  CHECK(m.mean == doctest::Approx(0.5).epsilon(0.01));
  CHECK(m.variance == doctest::Approx(1 / 12.0).epsilon(0.02));
}

TEST_CASE("normal numbers: moments") {
  const Moments m = MomentsOf(Drawn("_philox_normal", "(200, 100)", 1, 1, 1));
  CHECK(std::fabs(m.mean) < 0.03);
  CHECK(m.variance == doctest::Approx(1).epsilon(0.03));
  CHECK(std::fabs(m.third) < 0.08);
  CHECK(m.fourth == doctest::Approx(3).epsilon(0.06));
}

TEST_CASE("an element depends on its position, the stream and the state only") {
  const auto wide = Drawn("_philox_uniform", "(4, 6)", 5, 9, 2);
  const auto narrow = Drawn("_philox_uniform", "(8,)", 5, 9, 2);
  for (size_t i = 0; i < narrow.size(); ++i) CHECK(wide[i] == narrow[i]);
  std::set<double> first;
  const int64_t far = int64_t{1} << 40;
  for (const double v :
       {wide[0], wide[1], Drawn("_philox_uniform", "(1,)", 6, 9, 2)[0],
        Drawn("_philox_uniform", "(1,)", 5 + far, 9, 2)[0],
        Drawn("_philox_uniform", "(1,)", 5, 8, 2)[0],
        Drawn("_philox_uniform", "(1,)", 5, 9, 3)[0]}) {
    first.insert(v);
  }
  CHECK(first.size() == 6);
}

TEST_CASE("integers of every type wrap around and shift as their bits do") {
  const auto value = [](BinaryOp op, DType dtype, double a, double b) {
    const Expr x = Load(0, dtype, {0}), y = Load(1, dtype, {0});
    const std::vector<Element> left = {a}, right = {b};
    return Evaluator({{left, {1}}, {right, {1}}})
        .Evaluate(Binary(op, x, y), 1, {})[0];
  };
  CHECK(value(BinaryOp::kMul, DType::kU32, 0xffffffff, 0xffffffff) == 1);
  CHECK(value(BinaryOp::kMulHigh, DType::kU32, 0xffffffff, 0xffffffff) ==
        0xfffffffe);
  CHECK(value(BinaryOp::kAdd, DType::kI8, 127, 1) == -128);
  CHECK(value(BinaryOp::kSub, DType::kU16, 0, 1) == 65535);
  CHECK(value(BinaryOp::kShiftRight, DType::kI32, -1, 28) == 15);
  CHECK(value(BinaryOp::kShiftRight, DType::kI32, -1, 32) == 0);
  CHECK(value(BinaryOp::kShiftRight, DType::kI64, 0x1p40, 8) == 0x1p32);
  CHECK(value(BinaryOp::kBitAnd, DType::kI64, -1, 0xff) == 255);
  CHECK(value(BinaryOp::kBitXor, DType::kI16, -1, 1) == -2);
}

}  // namespace mxc
