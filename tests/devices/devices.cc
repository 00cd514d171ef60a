// SPDX-License-Identifier: Apache-2.0
// Whether every entry of a network computes the same outputs and states,
// compiled for the CPU and for another device: the same bytes, or values no
// further apart than TOLERANCE times the largest one of their tensor.
//   devices CPU.mxa DEVICE.mxa [TOLERANCE [DEVICE]]
// DEVICE, such as cuda:1: where the second one runs. Its last run of an entry
// reads and writes tensors in memory of the device.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/mxc.hpp"

namespace {

namespace api = mxc::api;

struct Tensor {
  mxc_dtype dtype;
  std::vector<std::byte> bytes;
};
using Values = std::vector<Tensor>;

constexpr int kRuns = 2;

// Numbers from 0 to 1, or small integers.
void Fill(const api::Model& model, api::Executor& executor) {
  for (const mxc_tensor& input : model.inputs(executor.entry())) {
    const auto memory = executor.MapInput(input.name);
    const size_t size = mxc_dtype_size(input.dtype);
    for (size_t i = 0; i < memory.size() / size; ++i) {
      const double value = static_cast<double>(i * 37 % 101) / 101;
      const auto f32 = static_cast<float>(value);
      const auto integer = static_cast<int64_t>(i % 2);
      const void* from = &integer;  // little-endian
      if (input.dtype == MXC_F32) from = &f32;
      if (input.dtype == MXC_F64) from = &value;
      std::memcpy(memory.data() + i * size, from, size);
    }
  }
}

// All tensors, the inputs with the values that they have.
std::vector<api::Memory> MoveToDevice(const api::Model& model,
                                      api::Executor& executor) {
  std::vector<api::Memory> there;
  for (const mxc_tensor& input : model.inputs(executor.entry())) {
    api::Memory& memory = there.emplace_back(executor, input.bytes);
    memory.Write(executor.MapInput(input.name).span());
    executor.BindInput(input.name, memory);
  }
  const auto outputs = model.outputs(executor.entry());
  for (size_t k = 0; k < outputs.size(); ++k) {
    executor.BindOutput(k, there.emplace_back(executor, outputs[k].bytes));
  }
  return there;
}

// What the runs of all entries leave, entry by entry, in shared states.
Values Run(const api::Model& model, const char* device) {
  Values values;
  std::optional<api::Executor> first;
  for (size_t entry = 0; entry < model.entry_count(); ++entry) {
    const mxc_entry_summary summary = model.entry(entry);
    mxc_bind_options options = MXC_BIND_OPTIONS;
    options.entry = summary.name;
    options.batch = summary.batch;
    options.device = device;
    options.share = first ? first->handle() : nullptr;
    api::Executor executor(model, options);
    Fill(model, executor);
    std::vector<api::Memory> there;
    for (int run = 0; run < kRuns; ++run) {
      if (run == kRuns - 1) there = MoveToDevice(model, executor);
      executor.Run();
      for (size_t k = 0; k < summary.output_count; ++k) {
        const mxc_tensor output = model.outputs(entry)[k];
        values.push_back({static_cast<mxc_dtype>(output.dtype),
                          std::vector<std::byte>(output.bytes)});
        std::vector<std::byte>& bytes = values.back().bytes;
        executor.ReadOutput(k, std::span(bytes));
      }
    }
    if (!first) first.emplace(std::move(executor));
  }
  for (const mxc_tensor& state : model.states()) {
    values.push_back({static_cast<mxc_dtype>(state.dtype),
                      std::vector<std::byte>(state.bytes)});
    first->ReadState(state.name, std::span(values.back().bytes));
  }
  return values;
}

// How far apart two tensors are, measured by the largest value; infinity where
// values of other types differ.
double Difference(const Tensor& expected, const Tensor& got) {
  if (expected.bytes == got.bytes) return 0;
  if (expected.dtype != MXC_F32 || expected.bytes.size() != got.bytes.size()) {
    return INFINITY;
  }
  double largest = 1e-30, difference = 0;
  for (size_t at = 0; at < expected.bytes.size(); at += sizeof(float)) {
    float x, y;
    std::memcpy(&x, &expected.bytes[at], sizeof x);
    std::memcpy(&y, &got.bytes[at], sizeof y);
    const double apart = std::fabs(double{x} - double{y});
    if (std::isnan(x) != std::isnan(y)) return INFINITY;
    if (!std::isnan(x)) difference = std::max(difference, apart);
    if (!std::isnan(x)) largest = std::max(largest, std::fabs(double{x}));
  }
  return difference / largest;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const double tolerance = argc > 3 ? std::atof(argv[3]) : 0;
  try {
    const api::Model model(argv[1]), on_device(argv[2]);
    const Values cpu = Run(model, nullptr);
    const Values device = Run(on_device, argc > 4 ? argv[4] : nullptr);
    double worst = cpu.size() == device.size() ? 0 : INFINITY;
    size_t bytes = 0;
    for (size_t i = 0; i < std::min(cpu.size(), device.size()); ++i) {
      bytes += cpu[i].bytes.size();
      worst = std::max(worst, Difference(cpu[i], device[i]));
    }
    std::printf("%s: %zu entries, %zu tensors, %zu bytes: ", argv[1],
                model.entry_count(), cpu.size(), bytes);
    std::printf(worst == 0 ? "the same\n" : "apart by %.1e\n", worst);
    return worst <= tolerance ? 0 : 1;
  } catch (const api::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
