// SPDX-License-Identifier: Apache-2.0
// What one of NVIDIA's libraries does in a kernel's place.
#pragma once

#include <span>

#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"

namespace mxc::runtime {

class CudaLibraryStep : public LibraryStep {
 public:
  // Puts it into the stream. The sentence of a failure: "cannot multiply
  // matrices: …". One thread at a time.
  virtual Status Run(std::span<void* const> operands, CudaAddress workspace,
                     CudaStreamHandle stream) = 0;
};

}  // namespace mxc::runtime
