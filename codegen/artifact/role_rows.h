// SPDX-License-Identifier: Apache-2.0
// What tensors are for, as the tables say it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "ir/program/buffer.h"
#include "runtime/abi/abi.h"

namespace mxc {

class RoleRows {
 public:
  // mxc_buffer.role and .index, mxc_state.role and .index.
  struct Role {
    uint8_t role = MXC_TENSOR_OTHER;
    uint32_t index = 0;
  };

  explicit RoleRows(const TensorRoles& roles);

  // An input, an output or a state; others have none.
  Role Of(const Buffer& buffer) const;
  // What is trained: the number of its gradient. Whatever is no parameter has
  // the one behind those.
  uint32_t TrainedIndex(const std::string& name) const;

 private:
  using Map = std::map<std::string, Role>;

  static void AddAll(Map& map, const std::vector<std::string>& names,
                     mxc_tensor_role role);
  static Role Find(const Map& map, const std::string& name);

  Map inputs_, outputs_, states_;
  uint32_t parameter_count_;
};

}  // namespace mxc
