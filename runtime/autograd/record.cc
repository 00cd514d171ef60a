// SPDX-License-Identifier: Apache-2.0
#include "runtime/autograd/record.h"

#include <atomic>
#include <iterator>

namespace mxc::runtime {
namespace {

// Lets go of records that nobody else has, and of what these read, one by one.
void LetGo(std::vector<Origin> origins) {
  while (!origins.empty()) {
    const Origin last = std::move(origins.back());
    origins.pop_back();
    if (last.record == nullptr || last.record.use_count() > 1) continue;
    std::vector<Origin> read = last.record->TakeInputs();
    origins.insert(origins.end(), std::make_move_iterator(read.begin()),
                   std::make_move_iterator(read.end()));
  }
}

}  // namespace

uint64_t Record::NextNumber() {
  static std::atomic<uint64_t> numbers{0};
  return ++numbers;
}

Record::~Record() { LetGo(std::move(inputs_)); }

const ArrayType& Record::type(uint32_t output) const {
  if (const Leaf* variable = leaf()) return variable->type;
  if (const RecordedRun* call = run()) return call->call->form.outputs[output];
  return function()->outputs[output];
}

void Record::Release() {
  if (leaf() != nullptr || is_released_) return;
  is_released_ = true;
  if (auto* call = std::get_if<RecordedRun>(&what_)) call->kept.clear();
  if (auto* function = std::get_if<RecordedFunction>(&what_)) {
    function->gradient.reset();
  }
  LetGo(TakeInputs());
}

}  // namespace mxc::runtime
