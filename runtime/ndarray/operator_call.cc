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

CallableOperator::MadePtr CallableOperator::Find(ArrayRefs inputs,
                                                 bool training,
                                                 KeptCalls& kept) {
  MadePtr last = last_.lock();
  if (last == nullptr || !last->key.IsOf(inputs, training)) {
    return FindInTable({TypesOf(inputs), training}, kept);
  }
  kept.Use(*last);
  return last;
}

CallableOperator::MadePtr CallableOperator::Find(const RecordedCall& recorded,
                                                 KeptCalls& kept) {
  MadePtr last = last_.lock();
  if (last == nullptr || last->recorded.get() != &recorded) {
    return FindInTable({recorded.inputs, recorded.training}, kept);
  }
  kept.Use(*last);
  return last;
}

CallableOperator::MadePtr CallableOperator::FindInTable(Key key,
                                                        KeptCalls& kept) {
  std::weak_ptr<Made>& known = made_[key];
  MadePtr made = known.lock();
  if (made != nullptr) {
    kept.Use(*made);
    last_ = made;
    return made;
  }
  made = std::make_shared<Made>(std::move(key));
  known = made;
  last_ = made;
  kept.Keep(made);
  if (made_.size() > most_made_) {
    std::erase_if(made_, [](const auto& one) { return one.second.expired(); });
    most_made_ = std::max<size_t>(64, 2 * made_.size());
  }
  return made;
}

StatusOr<CompiledCallPtr> CallableOperator::Compile(
    const Key& key, std::shared_ptr<const GradientSource> recorded,
    SharedTeam& team) const {
  MXC_RT_ASSIGN(CompiledOperator compiled,
                compiler_->Compile(key.inputs, key.training, recorded.get()));
  return std::make_shared<CompiledCall>(
      std::move(compiled),
      CallForm{key.inputs, key.training, std::move(recorded)}, team);
}

StatusOr<CompiledCallPtr> CallableOperator::For(ArrayRefs inputs, bool training,
                                                SharedTeam& team) {
  MadePtr made;
  {
    const std::lock_guard lock(mutex_);
    made = Find(inputs, training, team.kept());
    if (made->call != nullptr) return PartOf(std::move(made), &Made::call);
  }
  const std::lock_guard making(making_);
  if (made->call == nullptr) {
    MXC_RT_ASSIGN(CompiledCallPtr call, Compile(made->key, nullptr, team));
    const std::lock_guard lock(mutex_);
    made->call = std::move(call);
  }
  return PartOf(std::move(made), &Made::call);
}

StatusOr<CompiledCallPtr> CallableOperator::For(const RecordedCall& recorded,
                                                SharedTeam& team) {
  MadePtr made;
  {
    const std::lock_guard lock(mutex_);
    made = Find(recorded, team.kept());
    if (made->recording != nullptr) {
      return PartOf(std::move(made), &Made::recording);
    }
  }
  const std::lock_guard making(making_);
  if (made->recording == nullptr) {
    CompiledCallPtr recording = made->call;
    // Where nothing is hidden it is what calls that are not recorded run.
    if (recording == nullptr ||
        recording->visible_outputs() != recorded.form.outputs.size()) {
      MXC_RT_ASSIGN(recording, Compile(made->key, recorded.form.source, team));
    }
    const std::lock_guard lock(mutex_);
    if (made->call == nullptr && recording->hidden_outputs() == 0) {
      made->call = recording;
    }
    made->recording = std::move(recording);
  }
  return PartOf(std::move(made), &Made::recording);
}

// One count of owners for both: the caller's.
CompiledCallPtr CallableOperator::PartOf(MadePtr made,
                                         CompiledCallPtr Made::* part) {
  CompiledCall* const call = ((*made).*part).get();
  return {std::move(made), call};
}

StatusOr<std::shared_ptr<const RecordedCall>> CallableOperator::Recorded(
    ArrayRefs inputs, bool training, SharedTeam& team) {
  static std::atomic<uint64_t> numbers{0};
  MadePtr made;
  {
    const std::lock_guard lock(mutex_);
    made = Find(inputs, training, team.kept());
    if (made->recorded != nullptr) return made->recorded;
  }
  const std::lock_guard making(making_);
  if (made->recorded == nullptr) {
    const Key& key = made->key;
    MXC_RT_ASSIGN(RecordedForm form, compiler_->Record(key.inputs, training));
    auto recorded = std::make_shared<const RecordedCall>(RecordedCall{
        Text(key.inputs), key.inputs, training, std::move(form), ++numbers});
    const std::lock_guard lock(mutex_);
    made->recorded = std::move(recorded);
  }
  return made->recorded;
}

}  // namespace mxc::runtime
