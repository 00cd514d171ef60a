// SPDX-License-Identifier: Apache-2.0
// Entries as plain C functions that call the kernels one after the other:
//
//   int lenet_infer(const void* weights, void* arena, inputs…, outputs…)
//   int lenet_train(const void* weights, void* arena, void* states, inputs…, …)
//
// or, by range, with two more parameters at the end, `int32_t first, end`: of the
// outermost calls, those in [first, end).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "ir/target/target.h"

namespace mxc {

struct EntryFunction {
  // From a buffer's start `bytes`, and in turn t of the k-th loop around the
  // call, the outermost one first, t · advances[k] more.
  struct Operand {
    int buffer = 0;  // no alias
    int64_t bytes = 0;
    std::vector<int64_t> advances;
  };
  // One number; of an unknown type where there is none.
  struct Element {
    Operand at;
    DType dtype = DType::kUnknown;
    explicit operator bool() const { return dtype != DType::kUnknown; }
  };
  // Of a kernel. With `turns`, a loop over `body` (Repeat): while the condition,
  // if any, is not 0; of a count, if any, so many turns, the first or the last.
  // Else, with a condition, a branch: `body` if that is not 0, or `other`.
  struct Call {
    std::string name;  // of the step
    std::string kernel;
    std::vector<Operand> operands;
    int64_t tasks = 0;
    bool uses_scratch = false;
    int64_t turns = 0;
    Element condition, count;
    bool last = false;
    std::vector<Call> body, other;
  };

  std::string symbol;
  std::vector<int> inputs, outputs;  // buffers, in the order of parameters
  bool has_states = false;           // of the artifact: a parameter for them
  // For each buffer: bytes into the weights (constants), the states or the
  // arena.
  std::vector<int64_t> offsets;
  std::vector<BufferKind> kinds;  // of each buffer
  int64_t scratch_offset = 0;     // in the arena
  int64_t arena_bytes = 0;        // with scratch
  std::vector<Call> calls;
};

struct EntryForm {
  bool by_range = false;
  // A function that is called with a kernel and its arguments,
  //   void dealer(kernel*, operands, int64_t tasks, scratch)
  // in place of the kernel where there are several tasks; "": nobody.
  std::string dealer = {};
};

// One object that defines them all; the kernels, and the dealer, stay undefined in
// it.
std::string EmitEntryFunctions(std::span<const EntryFunction> entries,
                               const Target& target,
                               const EntryForm& form = {});

}  // namespace mxc
