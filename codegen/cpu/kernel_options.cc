// SPDX-License-Identifier: Apache-2.0
#include "codegen/cpu/kernel_options.h"

#include <charconv>

namespace mxc {
namespace {

constexpr std::string_view kWinograd = "winograd", kStrassen = "strassen";

}  // namespace

KernelOptions KernelOptionsOf(const CatalogOptions& options) {
  KernelOptions kernels;
  if (options.constant_weights) {
    kernels = {.winograd_tile = 6, .strassen = true};
  }
  const std::string_view strassen = OptionOf(options.options, kStrassen);
  if (!strassen.empty()) kernels.strassen = strassen == "on";
  const std::string_view tile = OptionOf(options.options, kWinograd);
  std::from_chars(tile.data(), tile.data() + tile.size(),
                  kernels.winograd_tile);
  return kernels;
}

bool IsKernelOption(std::string_view option) {
  return option == kWinograd || option == kStrassen;
}

}  // namespace mxc
