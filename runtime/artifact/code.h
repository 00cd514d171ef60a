// SPDX-License-Identifier: Apache-2.0
// The machine code of an artifact, loaded.
#pragma once

#include <span>

#include "runtime/abi/abi.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/loaded_object.h"
#include "runtime/artifact/tables.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

class Code {
 public:
  // Refuses code that this processor cannot run, that belongs to other tables
  // or that would do more than lie in memory when it is loaded.
  static StatusOr<Code> Load(const Container& container, const Tables& tables);

  // By row; null for what the section DEVICE has.
  std::span<const mxc_kernel> kernels() const { return kernels_; }

 private:
  LoadedObject object_;
  std::span<const mxc_kernel> kernels_;
};

}  // namespace mxc::runtime
