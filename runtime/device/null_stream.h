// SPDX-License-Identifier: Apache-2.0
// The stream of the null device: a thread that does one thing after the other,
// and a second one for what runs beside it.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/device/device.h"

namespace mxc::runtime {

// Between addresses of the null device and those of the host.
std::byte* ToNull(std::byte* host);
void* FromNull(const void* device);

StatusOr<std::unique_ptr<Stream>> OpenNullStream(uint32_t beside);

}  // namespace mxc::runtime
