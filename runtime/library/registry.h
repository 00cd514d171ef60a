// SPDX-License-Identifier: Apache-2.0
// The functions that artifacts may import: those that the runtime knows, and
// those that the caller has registered. Any thread may ask at any time.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/base/status.h"
#include "runtime/mxc.h"

namespace mxc::runtime {

struct Function {
  mxc_function function = nullptr;
  void* user_data = nullptr;
};

// Refuses a name and version that are taken.
Status RegisterFunction(const std::string& name, uint32_t version,
                        Function function);

// kUnsupported where nobody knows the function, or where the library that has
// it cannot be loaded.
StatusOr<Function> FindFunction(const std::string& name, uint32_t version);

// What it means that a function of the runtime returned a positive number, after
// the step's name and a colon; "" where it says nothing.
const char* MeaningOfFailure(const std::string& name, uint32_t version);

}  // namespace mxc::runtime
