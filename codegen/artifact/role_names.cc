// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/role_names.h"

namespace mxc {

RoleNames::RoleNames(const TensorRoles& roles) {
  AddAll(inputs_, roles.data, MXC_TENSOR_DATA);
  AddAll(inputs_, roles.labels, MXC_TENSOR_LABEL);
  AddAll(states_, roles.parameters, MXC_TENSOR_PARAMETER);
  AddAll(states_, roles.auxiliaries, MXC_TENSOR_AUXILIARY);
  std::vector<std::string> gradients, rows, norms;
  for (const std::string& name : roles.parameters) {
    gradients.push_back("grad:" + name);
    rows.push_back("rows:" + name);
    norms.push_back("norm:" + name);
  }
  if (!roles.loss_scale.empty()) {
    gradients.push_back("grad:" + roles.loss_scale);
  }
  AddAll(outputs_, rows, MXC_TENSOR_ROWS);
  AddAll(outputs_, norms, MXC_TENSOR_METRIC);
  AddAll(inputs_, gradients, MXC_TENSOR_GRADIENT);
  AddAll(outputs_, gradients, MXC_TENSOR_GRADIENT);
  for (const auto& [output, input] : roles.carries) {
    AddAll(outputs_, {output}, MXC_TENSOR_CARRY);
    AddAll(inputs_, {input}, MXC_TENSOR_CARRY);
  }
  if (!roles.rate.empty()) AddAll(inputs_, {roles.rate}, MXC_TENSOR_RATE);
  if (!roles.loss.empty()) AddAll(outputs_, {roles.loss}, MXC_TENSOR_LOSS);
}

RoleNames::Role RoleNames::OfState(const std::string& name) const {
  const Role role = Find(states_, name);
  if (role.role != MXC_TENSOR_OTHER) return role;
  const size_t slash = name.rfind('/');
  if (slash == name.npos) return role;
  const Role owner = Find(states_, name.substr(0, slash));
  return owner.role == MXC_TENSOR_PARAMETER
             ? Role{MXC_TENSOR_OPTIMIZER, owner.index}
             : role;
}

void RoleNames::AddAll(Map& map, const std::vector<std::string>& names,
                       mxc_tensor_role role) {
  for (uint32_t i = 0; i < names.size(); ++i)
    map[names[i]] = Role{static_cast<uint8_t>(role), i};
}

RoleNames::Role RoleNames::Find(const Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? Role{} : found->second;
}

}  // namespace mxc
