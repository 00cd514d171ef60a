// SPDX-License-Identifier: Apache-2.0
// What a person asks about an entry of an artifact, or about the program that a
// network would become: its steps, its buffers, and where they lie.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/program/kernel_catalog.h"
#include "ir/program/memory.h"
#include "ir/program/program.h"
#include "ir/target/target.h"
#include "tools/terminal.h"

namespace mxc {

struct BufferRow {
  std::string name;
  std::string type;      // "f32[1, 64, 56, 56]"
  std::string layout;    // empty: row-major
  std::string kind;      // "input", "output", "weight", "internal", "alias",
                         // "state", "prepared" (weights, at load)
  bool on_host = false;  // where the steps run on a device
  int root = -1;         // itself unless it is an alias
  int64_t offset = -1;   // in the arena or the weights
  int64_t bytes = 0;
  int first = -1, last = -1;  // steps between which it is needed
  bool read = false;          // by a step, or an alias of it is
  bool loss = false;          // an output: the loss
  bool length = false;        // an input: how long open axes are
  // An input or output may be shorter along them: axes and names of their lengths.
  std::vector<std::pair<int, std::string>> open;

  // Returns whether its bytes are other buffers' at other times.
  bool in_arena() const { return kind == "internal" && offset >= 0; }
};

struct StepRow {
  enum class Kind {
    kLoops,        // a kernel
    kContraction,  // a kernel that computes contractions, among others
    kView,         // nothing runs
    kRepeat,
    kBranch,
    kCall,  // of a function, or a collective
    kCopy,
    kStart,
    kWait
  };

  std::string name;
  Kind kind = Kind::kLoops;
  std::string kernel;     // with the place, if that is not where kernels run
  std::string algorithm;  // "winograd4 8c"; as the kernel where nobody knows
  std::string library;    // "cuBLASLt, or ", the beginning of both
  std::string place;      // " on the host", the end of both; empty: as usual
  std::vector<int> inputs, outputs;  // buffers
  int64_t tasks = 0;                 // 0: not known before code generation
  // Of an artifact's repeat or branch: so many of the next steps are run by it.
  int64_t body = 0;
  // On a device, of an artifact; of others no threads.
  int64_t blocks = 0, block_threads = 0, shared_bytes = 0;
  int64_t flops = 0, bytes = 0, scratch = 0;
  // For a device, KernelCatalog::Seconds, all turns together: to launch, and the
  // larger of arithmetic and traffic.
  double modelled_seconds = 0;
};

// A parameter whose gradient leaves a worker of a job; see
// runtime/artifact/communication.h.
struct ExchangeRow {
  std::string parameter;
  int64_t bytes = 0;
  int ready = 0, needed = 0;  // steps
  int priority = 0;
};

struct Overview {
  std::string network, entry;
  bool updates = false;  // one parameter, as many other entries do
  std::string device;    // that an artifact was compiled for; empty: the host
  int64_t batch = 0;     // of the first input; 0: it has no axes
  std::vector<BufferRow> buffers;
  std::vector<StepRow> steps;
  // Of an artifact's entry 'grad': what leaves, and what an optimizer keeps in the
  // memory of a worker that shares it with so many workers (--shard-states), at
  // most; none where there is nothing to share.
  std::vector<ExchangeRow> exchanges;
  std::map<uint32_t, int64_t> shares;
  Memory memory;

  std::string Title() const;  // "lenet.infer, batch 1"
  // Of all buffers of a kind.
  int64_t CountOf(std::string_view kind) const;
  int64_t BytesOf(std::string_view kind) const;
  // Of all steps; flops up to the largest number that there is.
  int64_t flops() const;
  double modelled_seconds() const;
  // What lives from run to run.
  int64_t state_bytes() const { return BytesOf("state"); }
};

// Takes a program for the target, planned by the catalog.
Overview MakeOverview(const Program& program, const Target& target,
                      const KernelCatalog& catalog);
// Sets what follows from all rows: which buffers are read, and where steps run.
void NoteReadsAndPlaces(Overview& overview);

// "31.8 kFLOP"
std::string FormatFlops(int64_t flops);

// So many characters at most; "..." stands for the rest.
std::string Shorten(const std::string& text, size_t longest);

void PrintSummary(const Overview& overview);
// Peak, lower bound, and which buffers share which bytes.
void PrintMemory(const Overview& overview);
void PrintSteps(const Overview& overview);

Json MemoryToJson(const Overview& overview);
Json StepsToJson(const Overview& overview);

}  // namespace mxc
