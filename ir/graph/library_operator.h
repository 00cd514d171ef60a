// SPDX-License-Identifier: Apache-2.0
// Operators of a user's library, which networks name by MXNet's Custom. Rooms
// that load libraries say how they are found; nobody else calls them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph/tensor.h"

namespace mxc {

// What one node of such an operator is, by its attributes.
struct LibraryOperator {
  std::vector<std::string> arguments, outputs, states;
  // Its functions, as the artifact imports them: arguments, states → outputs,
  // next states; gradients of outputs, arguments, outputs, next states →
  // gradients of arguments. `backward` is empty where none passes.
  std::string forward, backward;
  int64_t version = 1;
  // `backward` does not read the gradients of outputs.
  bool loss_head = false;
};

// Asked from any thread. `attributes`: lines "name=text".
class LibraryOperators {
 public:
  virtual ~LibraryOperators() = default;
  // Nothing where no library has it.
  virtual std::optional<LibraryOperator> Find(
      const std::string& name, const std::string& attributes) const = 0;
  // Completes the types of arguments, outputs and states, in this order, as far
  // as they follow. Returns why there are none; name is one that Find knows.
  virtual std::optional<std::string> Infer(
      const std::string& name, const std::string& attributes,
      std::span<TensorType> types) const = 0;
};

// Set once, before any thread asks. Without it there are none.
void SetLibraryOperators(const LibraryOperators* operators);
const LibraryOperators& TheLibraryOperators();

}  // namespace mxc
