// SPDX-License-Identifier: Apache-2.0
// --emit=web: entries as a module of WebAssembly that needs no runtime, and what a
// page must know of it.
//
// The module has one memory, in which everything lies at constant addresses:
//
//   stack · constants · weights · states · arena · tensors
//
// It exports `memory`; the addresses of three regions as the numbers mxc_weights,
// mxc_states and mxc_tensors; and a function for each entry, `i32 symbol(i32 first,
// i32 end)`, which runs its steps in [first, end). A page writes the weights file
// and the states' first values, then an entry's inputs, calls its function, and
// reads its outputs.
//
// Beside it there is the same for several threads, the team, which imports its
// memory (team_module.h).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "ir/graph/tensor.h"
#include "ir/program/program.h"
#include "ir/support/result.h"
#include "ir/target/target.h"
#include "runtime/abi/abi.h"

namespace mxc {

// Dense and row-major, from a multiple of MXC_ARENA_ALIGNMENT.
struct WebTensor {
  std::string name;
  TensorType type;
  mxc_tensor_role role = MXC_TENSOR_OTHER;
  std::vector<LengthAxis> open = {};  // along which it may be shorter
  int64_t offset = 0;  // of an input or output in mxc_tensors, or in mxc_states
  // What a state is before the first run: bytes into the weights; -1: zeros.
  int64_t initial = -1;
};

struct WebEntry {
  std::string name;    // "train"
  std::string symbol;  // of the exported function
  int64_t batch = 0;   // rows of the first input; 0: it has no rows
  // Of the sequences that it is for, at most where they may be shorter, by name
  // ("": the only one); none: any.
  std::map<std::string, int64_t> lengths = {};
  std::vector<WebTensor> inputs, outputs;  // those that something reads
  std::vector<std::string> steps;          // a loop or a branch is one
};

struct WebModule {
  std::string wasm, weights;
  std::string team;        // the module for several threads
  int64_t team_pages = 0;  // of 64 KiB, the memory that it imports
  std::vector<WebEntry> entries;
  std::vector<WebTensor> states;
  int64_t memory_bytes = 0;  // of what lies at constant addresses
  int64_t kernels = 0;
};

// For a target that runs in a page. Refuses steps that call functions or other
// devices, and programs beyond what addresses of 32 bits reach.
Result<WebModule> GenerateWebModule(std::span<const Program> entries,
                                    const Target& target,
                                    const CodegenOptions& options,
                                    const TensorRoles& roles = {});

}  // namespace mxc
