// SPDX-License-Identifier: Apache-2.0
// The machine code of an artifact, loaded.
#pragma once

#include <memory>

#include "runtime/abi/abi.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/tables.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

class Code {
 public:
  // Refuses code that this processor cannot run, that belongs to other tables
  // or that would do more than lie in memory when it is loaded.
  static StatusOr<Code> Load(const Container& container, const Tables& tables);

  mxc_kernel kernel(uint32_t index) const { return kernels_[index]; }

 private:
  struct Unload {
    void operator()(void* library) const;
  };

  std::unique_ptr<void, Unload> library_;
  const mxc_kernel* kernels_ = nullptr;
};

}  // namespace mxc::runtime
