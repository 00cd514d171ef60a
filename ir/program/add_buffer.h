// SPDX-License-Identifier: Apache-2.0
// Adds a buffer to a program, for passes and tests that build programs.
#pragma once

#include <string>

#include "ir/program/program.h"

namespace mxc {

// Appends a row-major buffer; returns its index.
int AddBuffer(Program& program, std::string name, TensorType type,
              BufferKind kind = BufferKind::kInternal);

}  // namespace mxc
