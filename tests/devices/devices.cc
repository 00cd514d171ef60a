// SPDX-License-Identifier: Apache-2.0
// Whether every entry of a network computes the same bytes, outputs and states,
// compiled for the CPU and for the null device:
//   devices CPU.mxa NULL.mxa
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/mxc.hpp"

namespace {

namespace api = mxc::api;
using Values = std::vector<std::vector<std::byte>>;

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

// What the runs of all entries leave, entry by entry, in shared states.
Values Run(const api::Model& model) {
  Values values;
  std::optional<api::Executor> first;
  for (size_t entry = 0; entry < model.entry_count(); ++entry) {
    const mxc_entry_summary summary = model.entry(entry);
    mxc_bind_options options = MXC_BIND_OPTIONS;
    options.entry = summary.name;
    options.batch = summary.batch;
    options.share = first ? first->handle() : nullptr;
    api::Executor executor(model, options);
    Fill(model, executor);
    for (int run = 0; run < kRuns; ++run) {
      executor.Run();
      for (size_t k = 0; k < summary.output_count; ++k) {
        const auto output = executor.Output(k);
        values.emplace_back(output.begin(), output.end());
      }
    }
    if (!first) first.emplace(std::move(executor));
  }
  for (const mxc_tensor& state : model.states()) {
    values.emplace_back(state.bytes);
    first->ReadState(state.name, std::span(values.back()));
  }
  return values;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  try {
    const api::Model model(argv[1]), on_device(argv[2]);
    const Values cpu = Run(model), null = Run(on_device);
    size_t bytes = 0;
    for (const auto& value : cpu) bytes += value.size();
    std::printf("%s: %zu entries, %zu tensors, %zu bytes: %s\n", argv[1],
                model.entry_count(), cpu.size(), bytes,
                cpu == null ? "the same" : "DIFFERENT");
    return cpu == null ? 0 : 1;
  } catch (const api::Error& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}
