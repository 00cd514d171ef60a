// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/program.h"

#include <utility>

#include "runtime/base/visible.h"
#include "runtime/ndarray/bound_run.h"

namespace mxc::runtime {
StatusOr<std::shared_ptr<ArrayProgram>> ArrayProgram::Over(
    std::shared_ptr<Executor> executor, const ArrayProgram* share) {
  if (!executor->device().IsHost()) {
    return Fail(StatusCode::kUnsupported,
                "arrays are the host's, and the program is for a device");
  }
  const std::shared_ptr<ArrayProgram> program(
      new ArrayProgram(std::move(executor)));
  program->Describe();
  if (share != nullptr) program->states_ = share->states_;
  return program;
}

void ArrayProgram::Describe() {
  const Tables& tables = executor_->model().tables();
  const mxc_entry& entry = executor_->entry();
  name_ = tables.Text(entry.name);
  for (const uint32_t input : tables.Inputs(entry)) {
    inputs_.push_back(ArrayType::OfRow(executor_->buffers()[input]));
  }
  for (const uint32_t output : tables.Outputs(entry)) {
    outputs_.push_back(ArrayType::OfRow(executor_->buffers()[output]));
  }
  for (size_t row = 0; row < tables.states().size(); ++row) {
    const ArrayType type = ArrayType::OfRow(tables.states()[row]);
    // An array may be there longer than the program.
    states_.emplace_back(type, Chunk::Over(executor_->State(row).data(),
                                           type.bytes(), executor_));
  }
}

StatusOr<NDArray> ArrayProgram::State(std::string_view name) const {
  const Tables& tables = executor_->model().tables();
  for (size_t row = 0; row < states_.size(); ++row) {
    if (tables.Text(tables.states()[row].name) == name) return states_[row];
  }
  return Fail(StatusCode::kNotFound, "the program has no state '%s'",
              Visible(name).c_str());
}

Status ArrayProgram::Run(ArrayRefs inputs, ArrayRefs outputs) {
  return RunBound(*executor_, inputs, outputs, RefsTo(states_));
}

}  // namespace mxc::runtime
