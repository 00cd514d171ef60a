// SPDX-License-Identifier: Apache-2.0
#include "ir/target/target.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "ir/target/cuda_target.h"
#include "runtime/abi/abi.h"
#include "runtime/base/cpu.h"

namespace mxc {
namespace {

struct Level {
  std::string_view name;
  uint64_t features;  // runtime/abi bits
  std::string_view isa, triple, model, llvm_features;
  int vector_bytes;
  int64_t l1_bytes, l2_bytes, l3_bytes;
  std::vector<ProductUnit> products;

  // Of the units that take such data, the fastest; 0: there is none.
  double flops_per_second(DType data) const {
    double most = 0;
    for (const ProductUnit& unit : products) {
      if (unit.data == data) most = std::max(most, unit.flops_per_second);
    }
    return most;
  }
};

const std::vector<Level>& Levels() {
  static const std::vector<Level> levels = {
#define MXC_LEVEL(name, bits, isa, triple, model, features, vector, l1, l2, \
                  l3, ...)                                                  \
  {name, bits, isa, triple, model, features, vector, l1, l2, l3, {__VA_ARGS__}},
#include "runtime/abi/levels.def"
#undef MXC_LEVEL
  };
  return levels;
}

struct Core {
  std::string_view level, name;
  double clock, multiply_adds;
  int latency, loads;
  int64_t l1_bytes, l2_bytes, l3_bytes;
  double memory_bytes_per_second;

  std::string target() const { return fmt::format("{}:{}", level, name); }
};

constexpr Core kCores[] = {
#define MXC_CORE(level, name, clock, multiply_adds, latency, loads, l1, l2, \
                 l3, memory)                                                \
  {level, name, clock, multiply_adds, latency, loads, l1, l2, l3, memory},
#include "ir/target/cores.def"
#undef MXC_CORE
};

// Rates that a row does not have follow its clock, loads and memory.
void Tune(const Core& core, Target& target) {
  Machine& machine = target.machine;
  const double slower = core.clock / machine.clock;
  machine.clock = core.clock;
  machine.multiply_adds = core.multiply_adds;
  machine.multiply_add_latency = core.latency;
  machine.loads = core.loads;
  const double loaded = core.loads * machine.vector_bytes * core.clock;
  machine.l1 = {core.l1_bytes, loaded};
  machine.l2 = {core.l2_bytes, loaded / 2};
  machine.l3 = {core.l3_bytes, loaded / 4};
  machine.busy_l3_bytes_per_second = loaded / 8;
  machine.busy_memory_bytes_per_second = core.memory_bytes_per_second / 2;
  machine.stream_bytes_per_second = core.memory_bytes_per_second;
  machine.write_bytes_per_second = 2 * core.memory_bytes_per_second;
  const double peak = 2 * core.multiply_adds * machine.lanes(DType::kF32);
  machine.contraction_flops_per_second = 0.8 * peak * core.clock;
  machine.generic_flops_per_second *= slower;
  machine.elements_per_second *= slower;
  machine.statements_per_second *= slower;
  machine.transpose_seconds /= slower;
  machine.launch_seconds /= slower;
  machine.call_seconds /= slower;
  target.name = core.target();
  target.core = target.cpu = core.name;
}

// x86-64-v2 and WebAssembly multiply and add by two instructions.
bool Fuses(std::string_view isa) { return isa != "sse4.2" && isa != "simd128"; }

Target ToTarget(const Level& level) {
  Target target;
  target.name = level.name;
  target.triple = level.triple;
  target.isa = level.isa;
  target.cpu = level.model;
  target.features = level.llvm_features;
  target.required_features = level.features;
  target.register_bytes = level.vector_bytes;
  target.order = {target.isa, target.triple, target.features, Fuses(level.isa)};
  target.machine.vector_bytes = level.vector_bytes;
  target.machine.l1.bytes = level.l1_bytes;
  target.machine.l2.bytes = level.l2_bytes;
  target.machine.l3.bytes = level.l3_bytes;
  target.machine.products = level.products;
  return target;
}

// Others' files shall run without what has nothing to do.
const Level* NativeLevel(DType storage) {
  const uint64_t features = runtime::CpuFeatures();
  const Level* best = nullptr;
  for (const Level& level : Levels()) {
    if ((level.features & ~features) != 0) continue;
    const bool more_units = best != nullptr && best->isa == level.isa;
    if (more_units &&
        level.flops_per_second(storage) <= best->flops_per_second(storage)) {
      continue;
    }
    best = &level;
  }
  return best;
}

std::string LevelNames() {
  std::string names;
  for (const Level& level : Levels()) {
    names += (names.empty() ? "" : ", ") + std::string(level.name);
  }
  for (const Core& core : kCores) names += ", " + core.target();
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
  for (const Level& level : Levels()) names.emplace_back(level.name);
  for (const Core& core : kCores) names.push_back(core.target());
  for (const std::string& name : CudaTargetNames()) names.push_back(name);
  if (AllowsTestTargets()) names.emplace_back("null");
  return names;
}

namespace {

const Level* FindLevel(std::string_view name) {
  const auto level = std::ranges::find(Levels(), name, &Level::name);
  return level == Levels().end() ? nullptr : &*level;
}

// Units that add several products at once round as no other processor does, and
// so are left out on both.
Result<Target> InOrderOf(Target target, std::string_view name) {
  const Level* level = FindLevel(name);
  if (level == nullptr) {
    return Error({},
                 "'{}' behind '{}' is no level of instructions, expected {}",
                 name, kOrderMark, LevelNames());
  }
  if (!target.runs_on_host()) {
    return Error({},
                 "the kernels of '{}' add in an order of their own, "
                 "expected a processor before '{}{}'",
                 target.name, kOrderMark, name);
  }
  const Target other = ToTarget(*level);
  for (const Target* each : {&std::as_const(target), &other}) {
    if ((each->required_features & MXC_CPU_RELAXED_SIMD) == 0) continue;
    return Error({}, "'{}' rounds as each machine does, expected 'wasm32'",
                 each->name);
  }
  if (other.order.fuses && !target.order.fuses) {
    return Error({},
                 "'{}' rounds products before it adds them, where '{}' "
                 "rounds once; expected 'x86-64-v2' or 'wasm32' behind '{}'",
                 target.name, name, kOrderMark);
  }
  target.name = fmt::format("{}{}{}", target.name, kOrderMark, name);
  target.core.clear();
  target.order = other.order;
  target.machine = other.machine;
  target.machine.products.clear();
  return target;
}

}  // namespace

Result<Target> ResolveTarget(std::string_view name, DType storage) {
  if (const size_t mark = name.find(kOrderMark); mark != name.npos) {
    MXC_ASSIGN(Target target, ResolveTarget(name.substr(0, mark), storage));
    return InOrderOf(std::move(target), name.substr(mark + 1));
  }
  if (name == "null" && AllowsTestTargets()) {
    MXC_ASSIGN(Target target, ResolveTarget("native", storage));
    target.name = target.backend = target.device = name;
    return target;
  }
  if (name == "native") {
    if (const Level* level = NativeLevel(storage)) return ToTarget(*level);
    const char* held = std::getenv(runtime::kMaxCpuVariable);
    if (held != nullptr && *held != '\0' && !runtime::CpuLevelFeatures(held)) {
      return Error({}, "{} is '{}', expected {}", runtime::kMaxCpuVariable,
                   held, LevelNames());
    }
    return Error({},
                 "this machine's processor is below x86-64-v2; name a "
                 "target to compile for another machine");
  }
  if (const Level* level = FindLevel(name)) return ToTarget(*level);
  for (const Core& core : kCores) {
    if (core.target() != name) continue;
    MXC_ASSIGN(Target target, ResolveTarget(core.level));
    Tune(core, target);
    return target;
  }
  if (IsEmulatedCuda(name)) {
    // Kernels run on this machine.
    MXC_ASSIGN(const Target host, ResolveTarget("native", storage));
    return EmulatedCudaTarget(host, name);
  }
  if (auto target = CudaTarget(name, ToTarget(Levels().front()))) {
    return *target;
  }
  return Error({}, "target '{}' is unknown, expected native or {}", name,
               LevelNames());
}

std::string TargetOfDevice(std::string_view device) {
  return CudaTargetOf(device);
}

}  // namespace mxc
