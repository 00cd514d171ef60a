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

std::vector<ArrayType> TypesOf(std::span<const Array> arrays) {
  std::vector<ArrayType> types;
  for (const Array& array : arrays) types.push_back(array.type());
  return types;
}

bool CallableOperator::Key::IsOf(std::span<const Array> arrays,
                                 bool in_training) const {
  return training == in_training &&
         std::equal(inputs.begin(), inputs.end(), arrays.begin(), arrays.end(),
                    [](const ArrayType& type, const Array& array) {
                      return type == array.type();
                    });
}

StatusOr<std::shared_ptr<CompiledCall>> CallableOperator::For(
    std::span<const Array> inputs, bool training, SharedTeam& team) {
  const std::lock_guard lock(mutex_);
  if (last_ != nullptr && last_->first.IsOf(inputs, training)) {
    return last_->second;
  }
  Key key{TypesOf(inputs), training};
  auto found = compiled_.find(key);
  if (found == compiled_.end()) {
    MXC_RT_ASSIGN(CompiledOperator compiled,
                  compiler_->Compile(key.inputs, training));
    auto call = std::make_shared<CompiledCall>(std::move(compiled), team);
    found = compiled_.emplace(std::move(key), std::move(call)).first;
  }
  last_ = &*found;
  return found->second;
}

}  // namespace mxc::runtime
