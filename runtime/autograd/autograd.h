// SPDX-License-Identifier: Apache-2.0
// Gradients of what was called. Calls of a thread that records become records;
// Backward computes what these say, as one program wherever no function of the
// user's own comes between.
// Source: MXNet 1.9.1 src/imperative/imperative.cc.
//
// Any thread, each with flags of its own; an array by one thread at a time.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/autograd/record.h"
#include "runtime/autograd/tape_part.h"
#include "runtime/base/status.h"
#include "runtime/ndarray/imperative.h"

namespace mxc::runtime {

// Of the calling thread.
struct AutogradFlags {
  bool recording = false;
  bool training = false;

  static AutogradFlags& Here();
};

class Autograd {
 public:
  Autograd(Imperative& imperative,
           std::unique_ptr<const GradientCompiler> compiler)
      : imperative_(imperative), gradients_(std::move(compiler)) {}

  // As Imperative::Call, and recorded where the thread records and an input is
  // not constant.
  Status Call(const std::shared_ptr<CallableOperator>& op,
              std::span<const TrackedArray* const> inputs,
              std::span<TrackedArray* const> outputs, bool training);
  // A view, which is what `op` gives for the array.
  Status RecordView(const std::shared_ptr<CallableOperator>& op,
                    const TrackedArray& array, TrackedArray& view);
  // `outputs` are what a function of the user's own gave for `inputs`.
  Status RecordFunction(std::span<const TrackedArray* const> inputs,
                        std::span<TrackedArray* const> outputs,
                        std::shared_ptr<UserGradient> gradient);
  // Makes it a variable; kNull: a constant.
  Status Mark(TrackedArray& array, const NDArray& gradient,
              GradientRequest request);

  struct Heads {
    std::span<const TrackedArray* const> arrays;
    std::span<const TrackedArray* const> gradients;  // null: ones
  };
  // Into the gradient arrays of all variables that the heads were computed from.
  Status Backward(const Heads& heads, bool retain);
  // The gradients of `variables`, as new arrays, recorded if `create`.
  StatusOr<std::vector<TrackedArray>> Gradient(
      const Heads& heads, std::span<const TrackedArray* const> variables,
      bool retain, bool create);

 private:
  friend class BackwardRun;

  Status CallRecorded(const std::shared_ptr<CallableOperator>& op,
                      std::span<const TrackedArray* const> inputs,
                      std::span<TrackedArray* const> outputs, bool training);

  Imperative& imperative_;
  PartGradients gradients_;
};

}  // namespace mxc::runtime
