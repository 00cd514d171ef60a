// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/role_rows.h"

namespace mxc {
namespace {

mxc_tensor_role RowRole(TensorRole role) {
  switch (role) {
    case TensorRole::kOther:
      return MXC_TENSOR_OTHER;
    case TensorRole::kRate:
      return MXC_TENSOR_RATE;
    case TensorRole::kLoss:
      return MXC_TENSOR_LOSS;
    case TensorRole::kGradient:
      return MXC_TENSOR_GRADIENT;
    case TensorRole::kRows:
      return MXC_TENSOR_ROWS;
    case TensorRole::kNorm:
      return MXC_TENSOR_METRIC;
    case TensorRole::kLossScale:
      return MXC_TENSOR_LOSS_SCALE;
    case TensorRole::kOptimizer:
      return MXC_TENSOR_OPTIMIZER;
    case TensorRole::kShared:
      return MXC_TENSOR_SHARED;
    case TensorRole::kUpdates:
      return MXC_TENSOR_UPDATES;
    case TensorRole::kBegun:
      return MXC_TENSOR_BEGUN;
    case TensorRole::kCount:
      return MXC_TENSOR_COUNT;
    case TensorRole::kLength:
      return MXC_TENSOR_LENGTH;
  }
  return MXC_TENSOR_OTHER;
}

}  // namespace

RoleRows::RoleRows(const TensorRoles& roles)
    : parameter_count_(static_cast<uint32_t>(roles.parameters.size())) {
  AddAll(inputs_, roles.data, MXC_TENSOR_DATA);
  AddAll(inputs_, roles.labels, MXC_TENSOR_LABEL);
  AddAll(states_, roles.parameters, MXC_TENSOR_PARAMETER);
  AddAll(states_, roles.auxiliaries, MXC_TENSOR_AUXILIARY);
  for (const auto& [output, input] : roles.carries) {
    AddAll(outputs_, {output}, MXC_TENSOR_CARRY);
    AddAll(inputs_, {input}, MXC_TENSOR_CARRY);
  }
}

RoleRows::Role RoleRows::Of(const Buffer& buffer) const {
  const TensorUse& use = buffer.use;
  if (use.role != TensorRole::kOther) {
    const bool belongs =
        use.role != TensorRole::kCount && use.role != TensorRole::kLength &&
        (!use.of.empty() || use.role == TensorRole::kLossScale);
    return {static_cast<uint8_t>(RowRole(use.role)),
            belongs ? TrainedIndex(use.of) : 0};
  }
  switch (buffer.kind) {
    case BufferKind::kInput:
      return Find(inputs_, buffer.name);
    case BufferKind::kOutput:
      return Find(outputs_, buffer.name);
    case BufferKind::kState:
      return Find(states_, buffer.name);
    default:
      return {};
  }
}

uint32_t RoleRows::TrainedIndex(const std::string& name) const {
  const auto found = states_.find(name);
  const bool parameter =
      found != states_.end() && found->second.role == MXC_TENSOR_PARAMETER;
  return parameter ? found->second.index : parameter_count_;
}

void RoleRows::AddAll(Map& map, const std::vector<std::string>& names,
                      mxc_tensor_role role) {
  for (uint32_t i = 0; i < names.size(); ++i)
    map[names[i]] = Role{static_cast<uint8_t>(role), i};
}

RoleRows::Role RoleRows::Find(const Map& map, const std::string& name) {
  const auto found = map.find(name);
  return found == map.end() ? Role{} : found->second;
}

}  // namespace mxc
