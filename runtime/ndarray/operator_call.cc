// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/operator_call.h"

#include <algorithm>
#include <utility>

namespace mxc::runtime {

size_t CallableOperator::KeyHash::operator()(const Key& key) const {
  uint64_t hash = key.training ? 1 : 0;
  const auto add = [&](uint64_t value) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15;
    hash ^= hash >> 32;
  };
  for (const ArrayType& type : key.inputs) {
    add(uint64_t{type.dtype} << 8 | type.rank);
    for (const int64_t dim : type.extents()) add(static_cast<uint64_t>(dim));
  }
  return hash;
}

std::string CallableOperator::Text(std::span<const ArrayType> inputs) const {
  std::string text;
  for (const ArrayType& type : inputs) {
    text += (text.empty() ? "" : ", ") + type.Text();
  }
  return name_ + "(" + text + ")";
}

StatusOr<std::shared_ptr<CompiledCall>> CallableOperator::For(
    std::span<const ArrayType> inputs, bool training, SharedTeam& team) {
  const std::lock_guard lock(mutex_);
  Key key{{inputs.begin(), inputs.end()}, training};
  if (const auto found = compiled_.find(key); found != compiled_.end()) {
    return found->second;
  }
  MXC_RT_ASSIGN(CompiledOperator compiled,
                compiler_->Compile(inputs, training));
  auto call = std::make_shared<CompiledCall>(std::move(compiled), team);
  compiled_.emplace(std::move(key), call);
  return call;
}

}  // namespace mxc::runtime
