// SPDX-License-Identifier: Apache-2.0
// Which inputs of an executor hold values that the caller gave: a run over
// memory that nobody has set would answer from it.
#pragma once

#include <cstddef>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/executor/executor.h"

namespace mxc::runtime {

// Inputs count as in Executor::BindInput. An input needs no value where no step
// reads it, where it has no bytes, and where an output of the run before goes on
// as it, which begins as zeros.
class GivenInputs {
 public:
  explicit GivenInputs(const Executor& executor);

  // The executor's own memory of the input is read from now on, and `written`.
  void UseOwn(size_t k, bool written);
  // The caller's memory is read from now on.
  void UseCallers(size_t k);

  // kInvalidArgument, with the name of an input of `executor` that was not set.
  Status Check(const Executor& executor) const;

 private:
  struct Input {
    bool optional = false;
    bool own = false;      // the executor's memory was written
    bool callers = false;  // the caller's memory is read
    bool given() const { return optional || own || callers; }
  };
  std::vector<Input> inputs_;
};

}  // namespace mxc::runtime
