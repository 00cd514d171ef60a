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

bool CallableOperator::Key::IsOf(ArrayRefs arrays, bool in_training) const {
  return training == in_training &&
         std::equal(inputs.begin(), inputs.end(), arrays.begin(), arrays.end(),
                    [](const ArrayType& type, const NDArray* array) {
                      return type == array->type();
                    });
}

CallableOperator::Table::value_type& CallableOperator::Find(ArrayRefs inputs,
                                                            bool training) {
  return *made_.try_emplace(Key{TypesOf(inputs), training}).first;
}

StatusOr<std::shared_ptr<CompiledCall>> CallableOperator::Compile(
    const Key& key, std::shared_ptr<const GradientSource> recorded,
    SharedTeam& team) const {
  MXC_RT_ASSIGN(CompiledOperator compiled,
                compiler_->Compile(key.inputs, key.training, recorded.get()));
  return std::make_shared<CompiledCall>(
      std::move(compiled),
      CallForm{key.inputs, key.training, std::move(recorded)}, team);
}

StatusOr<CompiledCall*> CallableOperator::For(ArrayRefs inputs, bool training,
                                              SharedTeam& team) {
  const auto* const last = last_call_.load(std::memory_order_acquire);
  if (last != nullptr && last->first.IsOf(inputs, training)) {
    return last->second.call.get();
  }
  const std::lock_guard lock(mutex_);
  auto& entry = Find(inputs, training);
  auto& [key, made] = entry;
  if (made.call == nullptr) {
    MXC_RT_ASSIGN(made.call, Compile(key, nullptr, team));
  }
  last_call_.store(&entry, std::memory_order_release);
  return made.call.get();
}

StatusOr<CompiledCall*> CallableOperator::For(const RecordedCall& recorded,
                                              SharedTeam& team) {
  const auto* const last = last_recorded_.load(std::memory_order_acquire);
  if (last != nullptr && last->second.recorded.get() == &recorded) {
    return last->second.recording.get();
  }
  const std::lock_guard lock(mutex_);
  auto& entry =
      *made_.try_emplace(Key{recorded.inputs, recorded.training}).first;
  auto& [key, made] = entry;
  if (made.recording == nullptr) {
    // Where nothing is hidden it is what calls that are not recorded run.
    const bool has_hidden =
        made.call == nullptr ||
        made.call->visible_outputs() != recorded.form.outputs.size();
    if (has_hidden) {
      MXC_RT_ASSIGN(made.recording, Compile(key, recorded.form.source, team));
      const bool is_call =
          made.call == nullptr && made.recording->hidden_outputs() == 0;
      if (is_call) made.call = made.recording;
    } else {
      made.recording = made.call;
    }
  }
  last_recorded_.store(&entry, std::memory_order_release);
  return made.recording.get();
}

StatusOr<std::shared_ptr<const RecordedCall>> CallableOperator::Recorded(
    ArrayRefs inputs, bool training) {
  static std::atomic<uint64_t> numbers{0};
  const auto* const last = last_recorded_.load(std::memory_order_acquire);
  if (last != nullptr && last->first.IsOf(inputs, training)) {
    return last->second.recorded;
  }
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
