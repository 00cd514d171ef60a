// SPDX-License-Identifier: Apache-2.0
#include "codegen/cuda/gpu_machine.h"

#include <charconv>
#include <limits>
#include <string_view>

#include "ir/support/check.h"

namespace mxc {
namespace {

constexpr int64_t kThreadsOfMultiprocessor = 2048;

int64_t NumberOf(const Target& target, std::string_view option) {
  const std::string_view text = OptionOf(target.options, option);
  int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  MXC_CHECK(number > 0, "{} of '{}' is '{}'", option, target.name, text);
  return number;
}

}  // namespace

int64_t GpuMachine::busy_threads() const {
  return multiprocessors * kThreadsOfMultiprocessor;
}

double GpuMachine::multiprocessor_bytes_per_second() const {
  // 128 lanes multiply and add in a clock.
  constexpr double kBytesOfFlop = 32.0 / 256;
  return kBytesOfFlop * contraction_flops_per_second /
         static_cast<double>(multiprocessors);
}

GpuMachine GpuMachineOf(const Target& target) {
  GpuMachine machine(target.machine);
  machine.architecture = OptionOf(target.options, "architecture");
  machine.one_generation =
      target.last_generation != std::numeric_limits<int>::max();
  machine.emulated = !OptionOf(target.options, "emulated").empty();
  machine.multiprocessors = NumberOf(target, "multiprocessors");
  return machine;
}

}  // namespace mxc
