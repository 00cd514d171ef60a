// SPDX-License-Identifier: Apache-2.0
// The emitted functions against libm in higher precision, over dense samples
// and at the special values.
#include "codegen/llvm/math.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "tests/codegen/map_case.h"
#include "tests/codegen/native_kernel.h"

namespace mxc::test {
namespace {

using Reference = long double (*)(long double);

struct Function {
  const char* name;
  UnaryOp op;
  Reference exact;
  double low, high;  // where it is sampled
  double f32_ulps;   // bound
  double f64_error;  // bound, relative (absolute below 1e-3)
};

// By bisection; on erfc where erf has lost its digits.
long double ErfInverse(long double y) {
  const long double a = std::fabs(y);
  if (!(a <= 1)) return NAN;
  if (a == 1) return std::copysign(INFINITY, y);
  constexpr long double kHalfSqrtPi = 0.886226925452758013649L;
  long double low = 0, high = 7;
  for (int i = 0; i < 120; ++i) {
    const long double x = (low + high) / 2;
    const bool less = a < 0.5L ? erfl(x) < a : erfcl(x) > 1 - a;
    (less ? low : high) = x;
  }
  const long double x = a < 1e-10L ? a * kHalfSqrtPi : (low + high) / 2;
  return std::copysign(x, y);
}

// By the recurrence far out, where four terms of the series are exact.
long double Digamma(long double x) {
  if (std::isnan(x)) return NAN;
  if (x <= 0 && x == std::floor(x)) return INFINITY;  // as MXNet has it
  if (std::isinf(x)) return x;
  constexpr long double kPi = 3.141592653589793238463L;
  if (x < 0 && x > -1e-10L) return -1 / x;  // the reflection cancels here
  if (x < 0) return Digamma(1 - x) - kPi / std::tan(kPi * (x - std::floor(x)));
  long double lift = 0;
  for (; x < 300; ++x) lift += 1 / x;
  const long double w = 1 / (x * x);
  const long double series =
      w * (1.0L / 12 - w * (1.0L / 120 - w * (1.0L / 252 - w / 240)));
  return std::log(x) - 0.5L / x - series - lift;
}

const Function kFunctions[] = {
    {"exp", UnaryOp::kExp, expl, -103, 88.7, 1.1, 1e-15},
    {"log", UnaryOp::kLog, logl, 1e-45, 3e38, 1, 1e-15},
    {"tanh", UnaryOp::kTanh, tanhl, -12, 12, 2.5, 1e-15},
    {"erf", UnaryOp::kErf, erfl, -6, 6, 2.5, 1e-14},
    {"expm1", UnaryOp::kExpm1, expm1l, -30, 88, 0.6, 1e-14},
    {"log1p", UnaryOp::kLog1p, log1pl, -0.9999, 1e6, 0.6, 1e-14},
    {"log2", UnaryOp::kLog2, log2l, 1e-45, 3e38, 0.6, 1e-14},
    {"log10", UnaryOp::kLog10, log10l, 1e-45, 3e38, 0.6, 1e-14},
    {"cbrt", UnaryOp::kCbrt, cbrtl, -1e30, 1e30, 0.6, 1e-15},
    {"sqrt", UnaryOp::kSqrt, sqrtl, 0, 1e30, 0.51, 1e-15},
    {"sin", UnaryOp::kSin, sinl, -1e5, 1e5, 0.6, 1e-12},
    {"cos", UnaryOp::kCos, cosl, -1e5, 1e5, 0.6, 1e-12},
    {"tan", UnaryOp::kTan, tanl, -100, 100, 0.6, 1e-11},
    {"asin", UnaryOp::kAsin, asinl, -1, 1, 0.6, 1e-14},
    {"acos", UnaryOp::kAcos, acosl, -1, 1, 0.6, 1e-14},
    {"atan", UnaryOp::kAtan, atanl, -1e6, 1e6, 0.6, 1e-14},
    {"sinh", UnaryOp::kSinh, sinhl, -88, 88, 0.6, 1e-13},
    {"cosh", UnaryOp::kCosh, coshl, -88, 88, 0.6, 1e-13},
    {"asinh", UnaryOp::kAsinh, asinhl, -1e10, 1e10, 0.6, 1e-14},
    {"acosh", UnaryOp::kAcosh, acoshl, 1, 1e10, 0.6, 1e-13},
    {"atanh", UnaryOp::kAtanh, atanhl, -0.9999, 0.9999, 0.6, 1e-13},
    {"erfinv", UnaryOp::kErfinv, ErfInverse, -0.999999, 0.999999, 0.6, 1e-11},
    {"gamma", UnaryOp::kGamma, tgammal, -20.7, 35, 0.6, 1e-11},
    {"log gamma", UnaryOp::kLogGamma, lgammal, 0.01, 1e6, 0.6, 1e-11},
    {"round to even", UnaryOp::kRoundEven, nearbyintl, -100, 100, 0, 0},
    {"round", UnaryOp::kRound, roundl, -100, 100, 0, 0},
    {"digamma", UnaryOp::kDigamma, Digamma, -20.7, 1e6, 0.6, 1e-11},
};

// y[i] = op(x[i]) for begin ≤ i < end, `lanes` at a time.
template <class T>
std::vector<T> Compiled(UnaryOp op, const std::vector<T>& x, int lanes,
                        const Target& target) {
  const NativeKernel native(target, 2, [&](KernelFunction& kernel) {
    auto& b = kernel.b();
    llvm::Type* type = kernel.VectorOf(
        sizeof(T) == 4 ? b.getFloatTy() : b.getDoubleTy(), lanes);
    kernel.Loop(kernel.begin(), kernel.end(), lanes, [&](llvm::Value* i) {
      const auto at = [&](int operand) {
        return kernel.ElementAddress(kernel.operand(operand), i, sizeof(T));
      };
      llvm::Value* in = b.CreateAlignedLoad(type, at(0), llvm::Align(4));
      b.CreateAlignedStore(EmitMath(b, op, in), at(1), llvm::Align(4));
    });
  });
  KernelVector<T> in(x.begin(), x.end()), out(x.size());
  native.Run({in.data(), out.data()}, 0, static_cast<int64_t>(x.size()));
  return {out.begin(), out.end()};
}

// Evenly in value and evenly in exponent.
template <class T>
std::vector<T> Samples(double low, double high) {
  std::vector<T> x;
  const auto add = [&](double value) {
    const T rounded = static_cast<T>(value);
    if (rounded >= low && rounded <= high) x.push_back(rounded);
  };
  for (int i = 0; i <= 20000; ++i) add(low + (high - low) * i / 20000.0);
  for (int i = -1490; i < 1280; ++i) {
    for (const double m : {1.0, 1.13, 1.37, 1.77}) {
      add(m * std::exp2(i / 10.0));
      add(-m * std::exp2(i / 10.0));
    }
  }
  while (x.size() % 16 != 0) x.push_back(x.back());
  return x;
}

double UlpOf(long double value) {
  int exponent = 0;
  std::frexp(static_cast<double>(value), &exponent);
  return std::ldexp(1.0, std::max(exponent - 24, -149));
}

bool SameSpecial(double got, double want) {
  if (std::isnan(want)) return std::isnan(got);
  return got == want && std::signbit(got) == std::signbit(want);
}

}  // namespace

TEST_CASE("every function in f32, within its bound, at every width") {
  for (const Target& target : RunnableTargets()) {
    for (const Function& f : kFunctions) {
      const auto x = Samples<float>(f.low, f.high);
      for (const int lanes : {1, 8, 16}) {
        const auto y = Compiled(f.op, x, lanes, target);
        double worst = 0;
        float where = 0;
        for (size_t i = 0; i < x.size(); ++i) {
          const long double want = f.exact(x[i]);
          if (std::fabs(want) > 3.4e38) continue;
          const double error =
              std::fabs(static_cast<double>(y[i] - want)) / UlpOf(want);
          if (!(error <= worst)) worst = error, where = x[i];
        }
        INFO(fmt::format("{} {} lanes {}: {} ulp at {}", target.name, f.name,
                         lanes, worst, where));
        // Without a fused multiply-add the polynomials round once more.
        CHECK(worst <=
              f.f32_ulps + (target.machine.vector_bytes == 16 ? 1 : 0));
      }
    }
  }
}

TEST_CASE("every function in f64") {
  for (const Target& target : RunnableTargets()) {
    for (const Function& f : kFunctions) {
      const auto x = Samples<double>(f.low, f.high);
      const auto y = Compiled(f.op, x, 8, target);
      double worst = 0, where = 0;
      for (size_t i = 0; i < x.size(); ++i) {
        const long double want = f.exact(x[i]);
        const double scale =
            std::max(std::fabs(static_cast<double>(want)), 1e-3);
        const double error =
            std::fabs(static_cast<double>(y[i] - want)) / scale;
        if (!(error <= worst)) worst = error, where = x[i];
      }
      INFO(fmt::format("{} {}: {} at {}", target.name, f.name, worst, where));
      CHECK(worst <= f.f64_error);
    }
  }
}

TEST_CASE("special values") {
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float least = std::numeric_limits<float>::denorm_min();
  std::vector<float> x = {-infinity, infinity, nan,     0.0f, -0.0f, -1.0f,
                          least,     200.0f,   -200,    1.0f, 2.0f,  -2.0f,
                          -least,    1e-20f,   -1e-20f, 0.5f};
  for (const Target& target : RunnableTargets()) {
    for (const Function& f : kFunctions) {
      const auto y = Compiled(f.op, x, 16, target);
      for (size_t i = 0; i < x.size(); ++i) {
        const auto want = static_cast<float>(f.exact(x[i]));
        const bool close =
            std::fabs(y[i] - want) <= f.f32_ulps * UlpOf(want) * 1.5;
        CAPTURE(std::string(f.name));
        CAPTURE(x[i]);
        CAPTURE(y[i]);
        CAPTURE(want);
        CHECK((SameSpecial(y[i], want) || (close && want != 0)));
      }
    }
  }
}

TEST_CASE("powers") {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> values = {
      0,   -0.0, 1,   -1,   2,   -2,   0.5, -0.5, 3,        -3,
      2.5, -2.5, 1e5, 1e-5, nan, 7.25, -11, 30,   infinity, -infinity};
  const auto count = static_cast<int64_t>(values.size());
  MapCase c;
  const TensorType type{DType::kF32, Shape{count * count}};
  const int x = c.In(type, Layout::RowMajor(type.shape), [&](int64_t i) {
    return values[static_cast<size_t>(i / count)];
  });
  const int y = c.In(type, Layout::RowMajor(type.shape), [&](int64_t i) {
    return values[static_cast<size_t>(i % count)];
  });
  c.Out(type, Layout::RowMajor(type.shape));
  c.Set(Pow(c.At(x), c.At(y)));
  CHECK(c.CheckAll() == "");
}

TEST_CASE("remainders take the divisor's sign") {
  MapCase c;
  const TensorType type{DType::kF32, Shape{24 * 24}};
  const auto value = [](int64_t k) -> double {
    return static_cast<float>((k % 2 ? -1 : 1) * (k == 0 ? 0 : 0.75) *
                              std::pow(3.0, (k - 12) / 3));
  };
  const int x = c.In(type, Layout::RowMajor(type.shape),
                     [&](int64_t i) { return value(i / 24); });
  const int y = c.In(type, Layout::RowMajor(type.shape),
                     [&](int64_t i) { return value(i % 24); });
  c.Out(type, Layout::RowMajor(type.shape));
  c.Set(c.At(x) % c.At(y));
  CHECK(c.CheckAll() == "");
}

}  // namespace mxc::test
