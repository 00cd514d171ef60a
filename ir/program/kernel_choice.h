// SPDX-License-Identifier: Apache-2.0
// Names the kernel that computes a contraction, in words of the catalog that
// offers it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace mxc {

// How a contraction is computed, chosen by select-kernels from what the
// KernelCatalog offers. Empty `algorithm`: the generic loop nest. Only the
// catalog that offered it knows what the numbers mean (KernelCatalog::Describe).
struct KernelChoice {
  std::string algorithm;  // "direct", "depthwise", "gemm" …
  std::vector<int64_t> numbers = {};

  friend bool operator==(const KernelChoice&, const KernelChoice&) = default;
};

}  // namespace mxc
