// SPDX-License-Identifier: Apache-2.0
// A network as something that is called: its arguments and auxiliary states are
// the call's inputs.
#pragma once

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "frontend/network_file.h"
#include "ir/graph/graph.h"
#include "ir/support/result.h"
#include "runtime/ndarray/operator_call.h"

namespace mxc {

class NetworkFunction {
 public:
  // MXNet's symbol JSON of any version, or whatever else the front ends read.
  static Result<std::shared_ptr<const NetworkFunction>> Read(std::string text);

  const std::vector<std::string>& arguments() const { return arguments_; }
  const std::vector<std::string>& auxiliary() const { return auxiliary_; }
  const std::vector<std::string>& outputs() const { return outputs_; }

  // Types of the inputs, arguments first, as far as they are known, become what
  // follows of them; returns those of the outputs. `partial`: what does not
  // follow stays unknown; else it is an error. Any thread.
  Result<std::vector<TensorType>> Infer(std::vector<TensorType>& inputs,
                                        bool partial) const;
  // The network for inputs of these types, ready to be compiled, and its inputs
  // in order. Any thread.
  Result<std::pair<Graph, std::vector<Node*>>> Typed(
      std::span<const TensorType> inputs, bool training) const;

 private:
  NetworkFunction() = default;
  Result<std::pair<Graph, std::vector<Node*>>> Build() const;

  std::shared_ptr<const NetworkFile> file_;
  mutable std::mutex mutex_;  // file_ is for one thread
  std::vector<std::string> arguments_, auxiliary_, outputs_;
};

std::shared_ptr<runtime::CallableOperator> CallableOf(
    std::shared_ptr<const NetworkFunction> network);

}  // namespace mxc
