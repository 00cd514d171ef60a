// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/operator_call.h"

#include <algorithm>
#include <atomic>
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

std::vector<ArrayType> TypesOf(std::span<const NDArray> arrays) {
  std::vector<ArrayType> types;
  for (const NDArray& array : arrays) types.push_back(array.type());
  return types;
}

bool CallableOperator::Key::IsOf(std::span<const NDArray> arrays,
                                 bool in_training) const {
  return training == in_training &&
         std::equal(inputs.begin(), inputs.end(), arrays.begin(), arrays.end(),
                    [](const ArrayType& type, const NDArray& array) {
                      return type == array.type();
                    });
}

CallableOperator::Table::value_type& CallableOperator::Find(
    std::span<const NDArray> inputs, bool training) {
  if (last_ == nullptr || !last_->first.IsOf(inputs, training)) {
    last_ = &*made_.try_emplace(Key{TypesOf(inputs), training}).first;
  }
  return *last_;
}

StatusOr<std::shared_ptr<CompiledCall>> CallableOperator::Compile(
    const Key& key, const GradientSource* recorded, SharedTeam& team) const {
  MXC_RT_ASSIGN(CompiledOperator compiled,
                compiler_->Compile(key.inputs, key.training, recorded));
  return std::make_shared<CompiledCall>(std::move(compiled), team);
}

StatusOr<std::shared_ptr<CompiledCall>> CallableOperator::For(
    std::span<const NDArray> inputs, bool training, SharedTeam& team) {
  const std::lock_guard lock(mutex_);
  auto& [key, made] = Find(inputs, training);
  if (made.call == nullptr) {
    MXC_RT_ASSIGN(made.call, Compile(key, nullptr, team));
  }
  return made.call;
}

StatusOr<std::shared_ptr<CompiledCall>> CallableOperator::For(
    const RecordedCall& recorded, SharedTeam& team) {
  const std::lock_guard lock(mutex_);
  auto& [key, made] =
      *made_.try_emplace(Key{recorded.inputs, recorded.training}).first;
  if (made.recording != nullptr) return made.recording;
  // Where nothing is hidden it is what calls that are not recorded run.
  if (made.call != nullptr &&
      made.call->visible_outputs() == recorded.form.outputs.size()) {
    return made.recording = made.call;
  }
  MXC_RT_ASSIGN(made.recording, Compile(key, recorded.form.source.get(), team));
  if (made.recording->hidden_outputs() == 0) made.call = made.recording;
  return made.recording;
}

StatusOr<std::shared_ptr<const RecordedCall>> CallableOperator::Recorded(
    std::span<const NDArray> inputs, bool training) {
  static std::atomic<uint64_t> numbers{0};
  const std::lock_guard lock(mutex_);
  auto& [key, made] = Find(inputs, training);
  if (made.recorded == nullptr) {
    MXC_RT_ASSIGN(RecordedForm form, compiler_->Record(key.inputs, training));
    made.recorded = std::make_shared<const RecordedCall>(RecordedCall{
        Text(key.inputs), key.inputs, training, std::move(form), ++numbers});
  }
  return made.recorded;
}

}  // namespace mxc::runtime
