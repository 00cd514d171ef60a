// SPDX-License-Identifier: Apache-2.0
#include "ir/target/target.h"

#include <algorithm>
#include <array>
#include <optional>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace mxc {
namespace {

// Bits of runtime/abi/abi.h, mxc_cpu_feature.
enum : uint64_t { kSse42 = 1, kAvx2 = 2, kAvx512 = 4 };

struct Level {
  std::string_view name, triple, cpu, features;
  uint64_t required;
  int vector_bytes, vector_registers;
  int64_t l1_bytes, l2_bytes, l3_bytes;
};

constexpr std::string_view kLinux = "x86_64-unknown-linux-gnu";

// `cpu` is only tuned for: what may be used is `features`. The model matters:
// rocketlake's schedule spills in kernels where sapphirerapids' does not.
constexpr std::string_view kFeaturesV2 =
    "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2";
constexpr std::string_view kFeaturesV3 =
    "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+fma,+bmi,"
    "+bmi2,+f16c,+lzcnt,+movbe,+xsave";
constexpr std::string_view kFeaturesV4 =
    "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+fma,+bmi,"
    "+bmi2,+f16c,+lzcnt,+movbe,+xsave,+evex512,+avx512f,+avx512bw,+avx512cd,"
    "+avx512dq,+avx512vl";

constexpr Level kLevels[] = {
    {"x86-64-v2", kLinux, "x86-64-v2", kFeaturesV2, kSse42, 16, 16, 32 << 10,
     256 << 10, 2 << 20},
    {"x86-64-v3", kLinux, "znver3", kFeaturesV3, kSse42 | kAvx2, 32, 16,
     32 << 10, 512 << 10, 4 << 20},
    {"x86-64-v4", kLinux, "sapphirerapids", kFeaturesV4,
     kSse42 | kAvx2 | kAvx512, 64, 32, 48 << 10, 1 << 20,
     4 << 20},
};

Target ToTarget(const Level& level) {
  Target target;
  target.name = level.name;
  target.triple = level.triple;
  target.cpu = level.cpu;
  target.features = level.features;
  target.required_features = level.required;
  target.vector_bytes = level.vector_bytes;
  target.vector_registers = level.vector_registers;
  target.l1_bytes = level.l1_bytes;
  target.l2_bytes = level.l2_bytes;
  target.l3_bytes = level.l3_bytes;
  return target;
}

#if defined(__x86_64__)
// Which of the bits above this machine has, registers saved by the system
// included.
uint64_t HostFeatures() {
  __builtin_cpu_init();
  const auto all = [](std::initializer_list<bool> features) {
    return std::ranges::all_of(features, [](bool has) { return has; });
  };
  uint64_t features = 0;
  if (all({__builtin_cpu_supports("sse4.2") > 0,
           __builtin_cpu_supports("popcnt") > 0})) {
    features |= kSse42;
  }
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool f16c = __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
  const bool movbe = c & bit_MOVBE;
  const bool lzcnt = __get_cpuid(0x80000001, &a, &b, &c, &d) && (c & bit_LZCNT);
  if (all({features != 0, f16c, movbe, lzcnt,
           __builtin_cpu_supports("avx2") > 0,
           __builtin_cpu_supports("fma") > 0, __builtin_cpu_supports("bmi") > 0,
           __builtin_cpu_supports("bmi2") > 0})) {
    features |= kAvx2;
  }
  if (all({(features & kAvx2) != 0, __builtin_cpu_supports("avx512f") > 0,
           __builtin_cpu_supports("avx512bw") > 0,
           __builtin_cpu_supports("avx512cd") > 0,
           __builtin_cpu_supports("avx512dq") > 0,
           __builtin_cpu_supports("avx512vl") > 0})) {
    features |= kAvx512;
  }
  return features;
}
#else
uint64_t HostFeatures() { return 0; }
#endif

std::optional<Level> NativeLevel() {
  const uint64_t features = HostFeatures();
  std::optional<Level> best;
  for (const Level& level : kLevels) {
    if ((level.required & ~features) == 0) best = level;
  }
  return best;
}

}  // namespace

std::vector<std::string> TargetNames() {
  std::vector<std::string> names = {"native"};
  for (const Level& level : kLevels) names.emplace_back(level.name);
  return names;
}

Result<Target> ResolveTarget(std::string_view name) {
  if (name == "native") {
    if (const auto level = NativeLevel()) return ToTarget(*level);
    return Error({},
                 "this machine's processor is below x86-64-v2; name a "
                 "target to compile for another machine");
  }
  for (const Level& level : kLevels) {
    if (level.name == name) return ToTarget(level);
  }
  std::string known;
  for (const std::string& each : TargetNames()) {
    known += (known.empty() ? "" : ", ") + each;
  }
  return Error({}, "target '{}' is unknown, expected one of {}", name, known);
}

}  // namespace mxc
