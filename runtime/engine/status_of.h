// SPDX-License-Identifier: Apache-2.0
// What became of a function that may throw.
#pragma once

#include <exception>
#include <new>

#include "runtime/base/status.h"

namespace mxc::runtime {

template <class Function>
Status StatusOf(const char* name, const Function& function) {
  try {
    return function();
  } catch (const std::bad_alloc&) {
    return Fail(StatusCode::kOutOfMemory, "%s: out of memory", name);
  } catch (const std::exception& error) {
    return Fail(StatusCode::kFailed, "%s: %s", name, error.what());
  }
}

}  // namespace mxc::runtime
