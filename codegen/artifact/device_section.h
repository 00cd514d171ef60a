// SPDX-License-Identifier: Apache-2.0
// Writes what a device runs, PTX or cubin for each architecture, into an
// artifact.
#pragma once

#include <span>
#include <string>

#include "codegen/llvm/session.h"

namespace mxc {

// The section DEVICE of an artifact (runtime/abi). Each form is aligned to 64.
std::string DeviceSection(std::span<const DeviceForm> forms);

}  // namespace mxc
