// SPDX-License-Identifier: Apache-2.0
// A compiled network among imperative code: its runs are operations like any
// other, its states are arrays.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/executor/executor.h"
#include "runtime/ndarray/array.h"

namespace mxc::runtime {

class ArrayProgram {
 public:
  // The executor, the host's, is used for nothing else from now on. `share`: the
  // program whose executor's states it shares; null: they are its own.
  static StatusOr<std::shared_ptr<ArrayProgram>> Over(
      std::shared_ptr<Executor> executor, const ArrayProgram* share);

  const std::string& name() const { return name_; }
  const std::vector<ArrayType>& inputs() const { return inputs_; }
  const std::vector<ArrayType>& outputs() const { return outputs_; }
  // What lives from run to run, in place; by row of the model's states. A run
  // updates them all.
  const std::vector<NDArray>& states() const { return states_; }
  // kNotFound where there is none of that name.
  StatusOr<NDArray> State(std::string_view name) const;
  // Written by each run: there is one at a time.
  Variable& turn() { return turn_; }

  // In its turn.
  Status Run(ArrayRefs inputs, ArrayRefs outputs);

 private:
  explicit ArrayProgram(std::shared_ptr<Executor> executor)
      : executor_(std::move(executor)) {}
  void Describe();

  const std::shared_ptr<Executor> executor_;
  std::string name_;
  std::vector<ArrayType> inputs_, outputs_;
  std::vector<NDArray> states_;
  Variable turn_;
};

}  // namespace mxc::runtime
