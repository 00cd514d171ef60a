// SPDX-License-Identifier: Apache-2.0
// Opens streams of a CUDA device, its own or the caller's.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/device/cuda/driver.h"
#include "runtime/device/device.h"

namespace mxc::runtime {

// A stream of the device, and one for what goes beside it; recordings are
// graphs. `beside` and `given` as in Device::OpenStream.
StatusOr<std::unique_ptr<Stream>> OpenCudaStream(const CudaDriver& driver,
                                                 uint32_t beside,
                                                 CudaStreamHandle given);

}  // namespace mxc::runtime
