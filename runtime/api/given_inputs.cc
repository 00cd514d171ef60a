// SPDX-License-Identifier: Apache-2.0
#include "runtime/api/given_inputs.h"

#include <algorithm>

namespace mxc::runtime {

GivenInputs::GivenInputs(const Executor& executor) {
  const Tables& tables = executor.model().tables();
  const mxc_entry& entry = executor.entry();
  const auto carries = tables.Carries(entry);  // output, input, output, input …
  for (const uint32_t buffer : tables.Inputs(entry)) {
    bool carried = false;
    for (size_t i = 1; i < carries.size(); i += 2) {
      carried |= carries[i] == buffer;
    }
    const bool length = executor.buffers()[buffer].role == MXC_TENSOR_LENGTH;
    inputs_.push_back({.optional = carried || length ||
                                   !tables.IsRead(entry, buffer) ||
                                   executor.buffers()[buffer].bytes == 0});
  }
}

void GivenInputs::UseOwn(size_t k, bool written) {
  inputs_[k].callers = false;
  inputs_[k].own |= written;
}

void GivenInputs::UseCallers(size_t k) { inputs_[k].callers = true; }

Status GivenInputs::Check(const Executor& executor) const {
  const auto lacking = std::ranges::find(inputs_, false, &Input::given);
  if (lacking == inputs_.end()) return {};
  const Tables& tables = executor.model().tables();
  const uint32_t buffer = tables.Inputs(
      executor.entry())[static_cast<size_t>(lacking - inputs_.begin())];
  return Fail(StatusCode::kInvalidArgument, "input '%s' was not set",
              tables.Text(executor.buffers()[buffer].name));
}

}  // namespace mxc::runtime
