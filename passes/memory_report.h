// SPDX-License-Identifier: Apache-2.0
// What a planned Program needs in memory, and why: for `inspect --memory`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program/program.h"

namespace mxc {

struct MemoryReport {
  // Internal tensors as laid out, and outputs; no inputs, no parameters.
  int64_t activation_bytes = 0;
  // The same at the worst step without the gradients of parameters, which
  // MXNet's figures leave out: what only steps that update states read.
  int64_t activation_bytes_beside_gradients = 0;
  int64_t workspace_bytes = 0;  // scratch of the worst step, all threads
  int64_t peak_bytes = 0;       // both
  // No placement of this schedule needs less: the largest sum of live bytes,
  // the outputs, the workspace.
  int64_t lower_bound_bytes = 0;
  int64_t naive_bytes = 0;  // every tensor with bytes of its own
  int64_t input_bytes = 0, constant_bytes = 0, state_bytes = 0;

  struct Entry {
    std::string name, type, layout;
    std::string kind;         // "internal", "output", "view"
    int buffer = 0;           // index in the program
    int64_t offset = -1;      // in the arena; -1 for outputs
    int64_t bytes = 0;        // as laid out
    int first = 0, last = 0;  // steps between which the value lives
    // Names of the tensors that use the same bytes at another time, and of the
    // one whose bytes it takes over in place (empty: none).
    std::vector<std::string> shares_with;
    std::string alias_of;
  };
  std::vector<Entry> buffers;       // internal and output, in order of `first`
  std::vector<int64_t> live_bytes;  // for each step, of the internal buffers
};

// Of a program whose memory is planned.
MemoryReport ReportMemory(const Program& program, int threads = 1);

}  // namespace mxc
