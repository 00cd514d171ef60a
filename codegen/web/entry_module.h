// SPDX-License-Identifier: Apache-2.0
// The memory of a page's module, and its entries as functions of a range of steps.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codegen/llvm/entry_function.h"
#include "ir/target/target.h"

namespace mxc {

// A part of the memory: a symbol, whose address the linker knows.
struct Region {
  std::string symbol;
  int64_t bytes = 0;
};

// What the memory holds beside the stack.
struct WebMemory {
  Region weights = {"mxc_weights"}, states = {"mxc_states"},
         arena = {"mxc_arena"}, tensors = {"mxc_tensors"};
};

// An entry whose parameters are places of that memory.
struct ExportedEntry {
  const EntryFunction* function = nullptr;
  std::string symbol;                    // as the page calls it
  std::vector<int64_t> inputs, outputs;  // offsets in `tensors`
};

// One object that defines the regions and the exported functions; those that they
// call stay undefined in it.
std::string EmitEntryModule(const WebMemory& memory,
                            std::span<const ExportedEntry> entries,
                            const Target& target);

}  // namespace mxc
