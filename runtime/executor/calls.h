// SPDX-License-Identifier: Apache-2.0
// The calls of an entry, ready to be made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "runtime/executor/addresses.h"
#include "runtime/executor/model.h"
#include "runtime/mxc.h"

namespace mxc::runtime {

class Calls {
 public:
  // All must outlive this.
  Calls(const Model& model, const mxc_entry& entry, const Addresses& addresses);

  // What the function says that step `row` calls: 0 for success.
  int Run(size_t row) const;

 private:
  struct Call {
    mxc_function function = nullptr;
    mxc_call call = {};
    bool has_workspace = false;  // the last of its data
  };

  std::vector<mxc_tensor> operands_;  // of all calls
  std::vector<Call> calls_;           // by step; empty where there are none
};

}  // namespace mxc::runtime
