// SPDX-License-Identifier: Apache-2.0
// What a person asks about an entry of an artifact, or about the program that a
// network would become: its steps, its buffers, and where they lie.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/program/program.h"
#include "tools/terminal.h"

namespace mxc {

struct BufferRow {
  std::string name;
  std::string type;     // "f32[1, 64, 56, 56]"
  std::string layout;   // empty: row-major
  std::string kind;     // "input", "output", "weight", "internal", "alias",
                        // "state", "prepared" (weights, at load)
  int root = -1;        // itself unless it is an alias
  int64_t offset = -1;  // in the arena or the weights
  int64_t bytes = 0;
  int first = -1, last = -1;  // steps between which it is needed
};

struct StepRow {
  std::string name, kernel;
  std::vector<int> inputs, outputs;  // buffers
  int64_t tasks = 0;                 // 0: not known before code generation
  int64_t flops = 0, bytes = 0, scratch = 0;
};

struct Overview {
  std::string network, entry;
  int64_t batch = 0;  // of the first input; 0: it has no axes
  std::vector<BufferRow> buffers;
  std::vector<StepRow> steps;
  // Of the arena: as planned, the largest sum of live bytes, without sharing.
  int64_t arena_bytes = 0, arena_lower_bound = 0, arena_naive = 0;

  std::string Title() const;  // "lenet.infer, batch 1"
  // Of all buffers of a kind.
  int64_t CountOf(std::string_view kind) const;
  int64_t BytesOf(std::string_view kind) const;
  int64_t output_bytes() const { return BytesOf("output"); }
  // What lives from run to run.
  int64_t state_bytes() const { return BytesOf("state"); }
  int64_t workspace_bytes() const;  // the largest scratch of a step, a thread's
  // Internal tensors as laid out, and outputs.
  int64_t activation_bytes() const { return arena_bytes + output_bytes(); }
  // Outputs and workspace are part of all three.
  int64_t peak_bytes() const { return Total(arena_bytes); }
  int64_t lower_bound_bytes() const { return Total(arena_lower_bound); }
  int64_t naive_bytes() const { return Total(arena_naive); }

 private:
  int64_t Total(int64_t arena) const {
    return arena + output_bytes() + workspace_bytes();
  }
};

Overview MakeOverview(const Program& program);

void PrintSummary(const Overview& overview);
// Peak, lower bound, and which buffers share which bytes.
void PrintMemory(const Overview& overview);
void PrintSteps(const Overview& overview);

Json MemoryToJson(const Overview& overview);
Json StepsToJson(const Overview& overview);

}  // namespace mxc
