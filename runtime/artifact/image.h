// SPDX-License-Identifier: Apache-2.0
// The code of an artifact before it is loaded: what it exports, and what its
// kernels touch. Nothing of it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/abi/abi.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/shared_object.h"
#include "runtime/artifact/tables.h"
#include "runtime/base/bytes.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

class Image {
 public:
  // Of the section CODE. Copies what it keeps, so that nobody changes it after
  // the check.
  static StatusOr<Image> Read(const SharedObject& object);

  // Whether the tables belong to this code and give each kernel the operands,
  // tasks and scratch that it was made for.
  Status Check(const Container& container, const Tables& tables) const;

  // Of mxc_kernels, from where the code is loaded.
  uint64_t kernels() const { return kernels_; }

 private:
  Status CheckEntry(const Tables& tables, const mxc_entry& entry) const;

  mxc_code_header header_{};
  uint64_t kernels_ = 0;
  std::vector<bool> filled_;  // rows of mxc_kernels that are kernels
  std::vector<mxc_kernel_limits> limits_;
  std::vector<mxc_operand_limits> operands_;
};

}  // namespace mxc::runtime
