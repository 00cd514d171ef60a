// SPDX-License-Identifier: Apache-2.0
// Calls one after the other that are to be one program: what a compiler is told
// of them, without arrays, and the arrays.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/ndarray/array.h"
#include "runtime/ndarray/compiled_call.h"
#include "runtime/ndarray/run_call.h"

namespace mxc::runtime {

// A call that is to be run later.
struct WaitingCall {
  std::shared_ptr<CallableOperator> op;
  CompiledCallPtr compiled;
  std::vector<NDArray> inputs, outputs;

  std::string Text() const { return op->Text(compiled->form().inputs); }
};

struct CallSequence {
  // A value is what lies in some bytes; views of all of them are the same value.
  enum class Role : uint8_t {
    kInternal,  // nobody asks for it behind the sequence
    kInput,     // read alone
    kOutput,    // written alone
    kInPlace,   // read, then written
  };
  struct Operand {
    uint32_t value = 0;
    ArrayType type;  // as the call sees it
  };
  struct Call {
    const CallableOperator* op = nullptr;
    const CompiledCall* compiled = nullptr;
    std::vector<Operand> inputs, outputs;
  };

  std::vector<Call> calls;
  std::vector<Role> roles;  // by value

  // Equal for sequences that are the same program.
  std::vector<uint64_t> Key() const;
};

// A sequence with an array for each value.
struct WiredSequence {
  CallSequence sequence;
  std::vector<NDArray> values;
};

// `after`: calls that will run behind them. Nobody else has arrays that only
// these calls have. Fails with why they cannot be one program.
StatusOr<WiredSequence> Wired(std::span<const WaitingCall> calls,
                              std::span<const WaitingCall> after);

// Makes a sequence into code whose inputs and inputs in place are values by
// number, and whose outputs are the values of role kOutput in order. Any thread.
class SequenceCompiler {
 public:
  virtual ~SequenceCompiler() = default;
  virtual StatusOr<CompiledOperator> Compile(
      const CallSequence& sequence) const = 0;
};

}  // namespace mxc::runtime
