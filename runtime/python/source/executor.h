// SPDX-License-Identifier: Apache-2.0
// An executor as a Python callable: arrays in, new arrays out.
#pragma once

#include <nanobind/nanobind.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/mxc.h"
#include "runtime/python/source/arrays.h"

namespace mxc::python {

struct ExecutorOptions {
  std::string entry, device;  // empty: as in mxc_bind_options
  int64_t batch = 0;
  int threads = 0;
  uintptr_t stream = 0;  // 0: its own
};

class Executor {
 public:
  // `share`: whose states it uses, too, or null.
  Executor(mxc_model* model, const ExecutorOptions& options, Executor* share);
  Executor(const Executor&) = delete;

  mxc_executor* handle() const { return handle_.get(); }
  size_t entry() const { return mxc_executor_entry(handle_.get()); }
  // Returns whether these arguments have the shapes of this entry's inputs.
  bool Takes(nb::args arguments, nb::kwargs named) const;
  // One array, or a tuple of them; where data decide how many rows an array
  // has, with those alone. The GIL is released while the entry runs.
  nb::object Call(nb::args arguments, nb::kwargs named);

  nb::object ReadState(const std::string& name) const;
  void WriteState(const std::string& name, nb::handle values);
  void ResetStates();

 private:
  struct Input {
    ArrayType type;  // of the length that was set last
    size_t index = 0;
    // By axis, the number of its length, which arrays say; -1: it has one extent.
    std::array<int, MXC_AXES> lengths = {};
    nb::object key;  // its name, as Python has it
    bool needed = false;
    nb::handle given;  // in this call
  };
  struct Output {
    OutputArray array;
    uint64_t bytes = 0;
    // By index, the output that counts its rows, if data decide how many there
    // are.
    std::optional<size_t> count;
    bool open = false;  // as long as the inputs
  };
  struct Close {
    void operator()(mxc_executor* executor) const {
      mxc_executor_close(executor);
    }
  };

  static bool IsOpen(const Input& input);
  bool HasLengths(nb::handle given, const Input& input) const;
  void FindOutputs(size_t count);
  void TakeArguments(nb::args arguments, nb::kwargs named);
  // As long as the arrays are that have open axes.
  void SetLengths();
  // Of the lengths that these arrays say, at most; raises where they disagree.
  std::vector<int64_t> LengthsOfArrays() const;
  // Hands the arguments to the runtime, and keeps the arrays it reads.
  void BindInputs();
  void BindNumber(Input& input);
  ArrayType StateType(const std::string& name) const;

  mxc_model* model_;
  std::unique_ptr<mxc_executor, Close> handle_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  struct Length {
    std::string name;  // "": the only one
    int64_t most = 0;
  };
  std::vector<Length> open_;
  std::vector<int64_t> lengths_;  // that were set last
  std::vector<HeldArray> held_;
  bool busy_ = false;  // under the GIL
};

}  // namespace mxc::python
