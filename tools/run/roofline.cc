// SPDX-License-Identifier: Apache-2.0
#include "tools/run/roofline.h"

#include <algorithm>
#include <barrier>
#include <functional>
#include <thread>

#include "runtime/base/clock.h"

namespace mxc::run {
namespace {

using runtime::Nanoseconds;

volatile float sink;  // what is computed is used

// Independent sums hide the latency of a multiply-add: four cycles, two at once
// and more are in flight.
constexpr int kSums = 12;
constexpr int64_t kRounds = 300'000;

template <class Vector>
[[gnu::always_inline]] inline double MultiplyAdds() {
  Vector sums[kSums];
  const Vector factor = Vector{} + 0.9999f, addend = Vector{} + 1e-6f;
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) sums[i] = addend * static_cast<float>(i);
  for (int64_t round = 0; round < kRounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < kSums; ++i) sums[i] = sums[i] * factor + addend;
  }
  Vector total = {};
#pragma GCC unroll 12
  for (int i = 0; i < kSums; ++i) total += sums[i];
  sink = total[0];
  constexpr double kLanes = sizeof(Vector) / sizeof(float);
  return 2.0 * kLanes * kSums * kRounds;
}

using Float4 = float __attribute__((vector_size(16), may_alias));
using Float8 = float __attribute__((vector_size(32)));
using Float16 = float __attribute__((vector_size(64)));

double BaselineMultiplyAdds() { return MultiplyAdds<Float4>(); }

// Operations done, by the widest vectors that the processor has.
std::function<double()> WidestMultiplyAdds();

#if defined(__x86_64__)
[[gnu::target("avx2,fma")]] double Avx2MultiplyAdds() {
  return MultiplyAdds<Float8>();
}
[[gnu::target("avx512f")]] double Avx512MultiplyAdds() {
  return MultiplyAdds<Float16>();
}

std::function<double()> WidestMultiplyAdds() {
  if (__builtin_cpu_supports("avx512f")) return Avx512MultiplyAdds;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return Avx2MultiplyAdds;
  }
  return BaselineMultiplyAdds;
}
#else
std::function<double()> WidestMultiplyAdds() { return BaselineMultiplyAdds; }
#endif

// Bytes read: the array, as often as makes a time that can be measured.
double ReadAll(const std::vector<float>& array) {
  constexpr size_t kBytes = 64 << 20;
  const size_t bytes = array.size() * sizeof(float);
  const size_t rounds = std::max<size_t>(1, kBytes / bytes);
  constexpr size_t kStride = 16 * 4;
  Float4 sums[16] = {};
  for (size_t round = 0; round < rounds; ++round) {
    for (size_t i = 0; i + kStride <= array.size(); i += kStride) {
#pragma GCC unroll 16
      for (size_t k = 0; k < 16; ++k) {
        sums[k] += *reinterpret_cast<const Float4*>(&array[i + 4 * k]);
      }
    }
    asm volatile("" ::: "memory");  // each round reads again
  }
  Float4 total = {};
  for (const Float4& sum : sums) total += sum;
  sink = total[0];
  return static_cast<double>(rounds * bytes);
}

// What `threads` threads, each doing `work`, do in a nanosecond together; the
// best of some turns.
double RateOf(int threads, const std::function<double(int)>& work) {
  constexpr int kTurns = 5;
  std::barrier<> together(threads);
  std::vector<double> rates(static_cast<size_t>(threads));
  const auto member = [&](int thread) {
    for (int turn = 0; turn < kTurns; ++turn) {
      together.arrive_and_wait();
      const int64_t begin = Nanoseconds();
      const double done = work(thread);
      const auto time = static_cast<double>(Nanoseconds() - begin);
      double& rate = rates[static_cast<size_t>(thread)];
      rate = std::max(rate, done / std::max(1.0, time));
    }
  };
  {
    std::vector<std::jthread> others;
    for (int t = 1; t < threads; ++t) others.emplace_back(member, t);
    member(0);
  }
  double sum = 0;
  for (const double rate : rates) sum += rate;
  return sum;
}

}  // namespace

double Roofline::MemoryNanoseconds(double bytes) const {
  const auto level = std::ranges::find_if(levels, [&](const Level& l) {
    return bytes <= static_cast<double>(l.bytes);
  });
  const Level& at = level == levels.end() ? levels.back() : *level;
  return bytes / at.gbytes_per_second;
}

Roofline MeasureRoofline(int threads) {
  Roofline roofline;
  const std::function<double()> multiply_adds = WidestMultiplyAdds();
  roofline.gflops = RateOf(threads, [&](int) { return multiply_adds(); });
  for (const size_t bytes : {256u << 10, 4u << 20, 128u << 20}) {
    std::vector<std::vector<float>> arrays(
        static_cast<size_t>(threads),
        std::vector<float>(bytes / sizeof(float), 1.0f));
    const double rate = RateOf(threads, [&](int thread) {
      return ReadAll(arrays[static_cast<size_t>(thread)]);
    });
    roofline.levels.push_back({static_cast<uint64_t>(threads) * bytes, rate});
  }
  return roofline;
}

}  // namespace mxc::run
