// SPDX-License-Identifier: Apache-2.0
#include "ir/target/target.h"

#include <cstdlib>
#include <optional>

#include "ir/target/cuda_target.h"
#include "runtime/base/cpu.h"

namespace mxc {
namespace {

struct Level {
  std::string_view name, triple, cpu, features;
  int vector_bytes, vector_registers;
  int64_t l1_bytes, l2_bytes, l3_bytes;  // of one core
  double pair_products = 0;              // Machine::pair_products
  int tile_rows = 0;                     // of a matrix unit

  // Whether it has more than the one before for bf16 alone.
  bool for_brains() const { return pair_products > 0 || tile_rows > 0; }
};

// Of a matrix unit: a tile's products of 16 x 16 x 32 in 16 cycles.
constexpr double kTileFlopsPerCycle = 1024;

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

constexpr std::string_view kFeaturesBrain =
    "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+fma,+bmi,"
    "+bmi2,+f16c,+lzcnt,+movbe,+xsave,+evex512,+avx512f,+avx512bw,+avx512cd,"
    "+avx512dq,+avx512vl,+avx512bf16";

constexpr std::string_view kFeaturesAmx =
    "+cx16,+sahf,+popcnt,+sse3,+ssse3,+sse4.1,+sse4.2,+avx,+avx2,+fma,+bmi,"
    "+bmi2,+f16c,+lzcnt,+movbe,+xsave,+evex512,+avx512f,+avx512bw,+avx512cd,"
    "+avx512dq,+avx512vl,+avx512bf16,+amx-tile,+amx-bf16";

constexpr Level kLevels[] = {
    {"x86-64-v2", kLinux, "x86-64-v2", kFeaturesV2, 16, 16, 32 << 10, 256 << 10,
     2 << 20},
    {"x86-64-v3", kLinux, "znver3", kFeaturesV3, 32, 16, 32 << 10, 512 << 10,
     4 << 20},
    {"x86-64-v4", kLinux, "sapphirerapids", kFeaturesV4, 64, 32, 48 << 10,
     1 << 20, 4 << 20},
    // For processors that issue vdpbf16ps as often as a multiply-add. Sapphire
    // Rapids does a quarter as often: it takes the level behind, for its AMX.
    {"x86-64-v4-bf16", kLinux, "sapphirerapids", kFeaturesBrain, 64, 32,
     32 << 10, 1 << 20, 4 << 20, 2},
    {"x86-64-v4-amx", kLinux, "sapphirerapids", kFeaturesAmx, 64, 32, 48 << 10,
     2 << 20, 4 << 20, 0, 16},
};

uint64_t Required(const Level& level) {
  return runtime::CpuLevelFeatures(level.name).value_or(0);
}

Machine MachineOf(const Level& level) {
  Machine machine;
  machine.vector_bytes = level.vector_bytes;
  machine.vector_registers = level.vector_registers;
  machine.l1.bytes = level.l1_bytes;
  machine.l2.bytes = level.l2_bytes;
  machine.l3.bytes = level.l3_bytes;
  machine.pair_products = level.pair_products;
  machine.tile_rows = level.tile_rows;
  machine.tile_flops_per_second =
      level.tile_rows > 0 ? kTileFlopsPerCycle * machine.clock : 0;
  if (level.vector_registers > 16) {  // AVX-512
    machine.multiplies_by_memory = true;
    machine.most_tile_vectors = 4;
    machine.most_tile_pixels = 28;
    machine.per_channel_pixels = machine.by_lane_pixels = 14;
    machine.panel_share = 1;
  }
  return machine;
}

Target ToTarget(const Level& level) {
  Target target;
  target.name = level.name;
  target.triple = level.triple;
  target.cpu = level.cpu;
  target.features = level.features;
  target.required_features = Required(level);
  target.machine = MachineOf(level);
  return target;
}

// What is there for bf16 counts where there is something for it to do: others'
// files shall run without.
std::optional<Level> NativeLevel(DType storage) {
  const uint64_t features = runtime::CpuFeatures();
  std::optional<Level> best;
  for (const Level& level : kLevels) {
    if (level.for_brains() && storage != DType::kBF16) continue;
    if ((Required(level) & ~features) == 0) best = level;
  }
  return best;
}

std::string LevelNames() {
  std::string names;
  for (const Level& level : kLevels) {
    names += (names.empty() ? "" : ", ") + std::string(level.name);
  }
  for (const std::string& name : CudaTargetNames()) names += ", " + name;
  return "one of " + names;
}

// Targets that only tests compile for.
constexpr const char* kTestTargetsVariable = "MXC_TEST_TARGETS";

bool AllowsTestTargets() {
  const char* value = std::getenv(kTestTargetsVariable);
  return value != nullptr && std::string_view(value) == "1";
}

}  // namespace

std::vector<std::string> TargetNames() {
  std::vector<std::string> names = {"native"};
  for (const Level& level : kLevels) names.emplace_back(level.name);
  for (const std::string& name : CudaTargetNames()) names.push_back(name);
  if (AllowsTestTargets()) names.emplace_back("null");
  return names;
}

Result<Target> ResolveTarget(std::string_view name, DType storage) {
  if (name == "null" && AllowsTestTargets()) {
    MXC_ASSIGN(Target target, ResolveTarget("native", storage));
    target.name = target.backend = target.device = name;
    return target;
  }
  if (name == "native") {
    if (const auto level = NativeLevel(storage)) return ToTarget(*level);
    const char* held = std::getenv(runtime::kMaxCpuVariable);
    if (held != nullptr && *held != '\0' && !runtime::CpuLevelFeatures(held)) {
      return Error({}, "{} is '{}', expected {}", runtime::kMaxCpuVariable,
                   held, LevelNames());
    }
    return Error({},
                 "this machine's processor is below x86-64-v2; name a "
                 "target to compile for another machine");
  }
  for (const Level& level : kLevels) {
    if (level.name == name) return ToTarget(level);
  }
  if (IsEmulatedCuda(name)) {
    // Kernels run on this machine.
    MXC_ASSIGN(const Target host, ResolveTarget("native", storage));
    return EmulatedCudaTarget(host, name);
  }
  if (auto target = CudaTarget(name, ToTarget(kLevels[0]))) return *target;
  return Error({}, "target '{}' is unknown, expected native or {}", name,
               LevelNames());
}

}  // namespace mxc
