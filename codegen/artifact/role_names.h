// SPDX-License-Identifier: Apache-2.0
// Roles of tensors by their names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "runtime/abi/abi.h"

namespace mxc {

class RoleNames {
 public:
  struct Role {
    uint8_t role = MXC_TENSOR_OTHER;
    uint32_t index = 0;
  };

  explicit RoleNames(const TensorRoles& roles);

  Role OfInput(const std::string& name) const { return Find(inputs_, name); }
  Role OfOutput(const std::string& name) const { return Find(outputs_, name); }
  // What an optimizer keeps for a parameter is named "parameter/what".
  Role OfState(const std::string& name) const;

 private:
  using Map = std::map<std::string, Role>;

  static void AddAll(Map& map, const std::vector<std::string>& names,
                     mxc_tensor_role role);
  static Role Find(const Map& map, const std::string& name);

  Map inputs_, outputs_, states_;
};

}  // namespace mxc
