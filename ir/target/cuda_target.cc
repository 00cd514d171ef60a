// SPDX-License-Identifier: Apache-2.0
#include "ir/target/cuda_target.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <string>

#include "ir/support/check.h"

namespace mxc {
namespace {

// Of the largest device of a generation, the A100 with 80 GB and the H100 SXM,
// by their data sheets; what is reached was seen on the latter with PyTorch, and
// is as much of the sheet on the former.
struct Generation {
  std::string_view name;  // of the target
  int sm;
  bool one_generation;  // with warpgroups, which later ones do not have
  int64_t multiprocessors;
  double bytes_per_second;  // of its memory
  double flops_per_second;  // f32
  double reached_bytes_per_second;
  double reached_product_flops_per_second;  // of bf16, by its matrix units
  int64_t l2_bytes;
};

constexpr Generation kGenerations[] = {
    {"cuda:sm_80", 80, false, 108, 2.0e12, 1.95e13, 1.8e12, 2.5e14, 40 << 20},
    {"cuda:sm_90", 90, false, 132, 3.35e12, 6.7e13, 3.0e12, 7.98e14, 50 << 20},
    {"cuda:sm_90a", 90, true, 132, 3.35e12, 6.7e13, 3.0e12, 7.98e14, 50 << 20},
};

constexpr std::string_view kDevice = "cuda", kPrefix = "cuda:";
struct Emulation {
  std::string_view name;
  const Generation& of;
};
constexpr Emulation kEmulations[] = {{"cuda:emulated", kGenerations[1]},
                                     {"cuda:emulated_sm_90a", kGenerations[2]}};
constexpr const char* kEmulatedVariable = "MXC_EMULATED_DEVICE";

bool AllowsEmulation() {
  const char* value = std::getenv(kEmulatedVariable);
  return value != nullptr && std::string_view(value) == "1";
}

// Beyond it a batch has few samples for each of them.
constexpr int kMostReplicas = 64;
constexpr int kVectorBytes = 16;  // the most that a thread loads at once
// To start a kernel of a recorded graph.
constexpr double kLaunchSeconds = 2e-6;

// What multiplies matrices of 16 bits by warps, of sixteen rows and eight
// columns, does half as many products of f32 that are rounded to tf32, three of
// which make one of f32. Warpgroups have 64 rows.
std::vector<ProductUnit> ProductsOf(const Generation& generation) {
  const double most = generation.reached_product_flops_per_second;
  constexpr DType kF32 = DType::kF32, kBF16 = DType::kBF16, kF16 = DType::kF16;
  std::vector<ProductUnit> units = {
      {"mma", kF32, kF32, kF32, 16, 8, 8, most / 2 / 3},
      {"mma_tf32", kF32, kF32, kF32, 16, 8, 8, most / 2, /*rounds=*/true},
      {"mma_bf16", kBF16, kBF16, kF32, 16, 8, 16, most},
      {"mma_f16", kF16, kF16, kF32, 16, 8, 16, most}};
  if (generation.one_generation) {
    units.push_back({"wgmma_bf16", kBF16, kBF16, kF32, 64, 8, 16, most});
    units.push_back({"wgmma_f16", kF16, kF16, kF32, 64, 8, 16, most});
  }
  return units;
}

Target ToTarget(const Generation& generation, const Target& host) {
  Target target = host;
  target.name = generation.name;
  target.backend = target.device = kDevice;
  target.text = "ptx";
  target.least_generation = generation.sm;
  if (generation.one_generation) target.last_generation = generation.sm;
  target.most_replicas = kMostReplicas;
  target.options = {
      {"architecture", std::string(generation.name.substr(kPrefix.size()))},
      {"multiprocessors", std::to_string(generation.multiprocessors)}};
  Machine& machine = target.machine;
  machine = Machine();
  machine.vector_bytes = kVectorBytes;
  machine.products = ProductsOf(generation);
  machine.l2.bytes = machine.l3.bytes = generation.l2_bytes;
  machine.shared_cache_bytes = generation.l2_bytes;
  machine.stream_bytes_per_second = generation.bytes_per_second;
  machine.write_bytes_per_second = generation.bytes_per_second;
  machine.busy_l3_bytes_per_second = generation.reached_bytes_per_second;
  machine.elements_per_second = generation.bytes_per_second / 8;
  machine.contraction_flops_per_second = generation.flops_per_second;
  machine.generic_flops_per_second = generation.flops_per_second / 20;
  machine.launch_seconds = machine.step_seconds = kLaunchSeconds;
  // Long reductions are cut until there is a block, which may be large, for
  // every fourth multiprocessor; a block has one result. Those of more results
  // share a launch with what follows from them (codegen/cuda/channel_kernel.h).
  machine.tasks = static_cast<int>(generation.multiprocessors / 4);
  machine.results_side_by_side = 1;
  return target;
}

}  // namespace

std::vector<std::string> CudaTargetNames() {
  std::vector<std::string> names;
  for (const Generation& each : kGenerations) names.emplace_back(each.name);
  if (!AllowsEmulation()) return names;
  for (const auto& each : kEmulations) names.emplace_back(each.name);
  return names;
}

std::optional<Target> CudaTarget(std::string_view name, const Target& host) {
  for (const Generation& each : kGenerations) {
    if (each.name == name) return ToTarget(each, host);
  }
  return std::nullopt;
}

std::string CudaTargetOf(std::string_view device) {
  if (device != kDevice && !device.starts_with(kPrefix)) return "";
  // Later generations run what the first one does.
  return std::string(AllowsEmulation() ? kEmulations[0].name
                                       : kGenerations[0].name);
}

bool IsEmulatedCuda(std::string_view name) {
  const auto found = std::ranges::find(kEmulations, name, &Emulation::name);
  return AllowsEmulation() && found != std::end(kEmulations);
}

Target EmulatedCudaTarget(const Target& host, std::string_view name) {
  const auto found = std::ranges::find(kEmulations, name, &Emulation::name);
  MXC_CHECK(found != std::end(kEmulations));
  Target target = ToTarget(found->of, host);
  target.name = name;
  target.options["emulated"] = "on";
  return target;
}

}  // namespace mxc
