// SPDX-License-Identifier: Apache-2.0
// Codegen: a Program becomes machine code for one target, then the bytes of an
// artifact. Never sees JSON or operators.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"
#include "ir/support/result.h"
#include "ir/support/work_count.h"
#include "ir/target/target.h"
#include "runtime/abi/abi.h"

namespace mxc {

struct CatalogOptions {
  // Weights do not change from run to run, so that what is computed of them is
  // computed once.
  bool constant_weights = false;
  // What errors Winograd's algorithm may add on any way through a network, of the
  // largest value, by estimate (passes/rounding_budget.h).
  double rounding_budget = std::numeric_limits<double>::infinity();
  // Of those that the target's back end takes (TakesOption).
  BackEndOptions options = {};
};
// Deviations, so that the largest error of all outputs is below 1e-5.
inline constexpr double kRoundingBudget = 7.5e-6;

// What the target's kernels can do; the passes choose from it.
std::unique_ptr<KernelCatalog> MakeKernelCatalog(
    const Target& target, const CatalogOptions& options = {});

// Returns whether the target's back end understands the option, of a catalog or
// of code.
bool TakesOption(const Target& target, std::string_view option);

class ObjectCache;

struct CodegenOptions {
  int threads = 2;  // compile this many kernels at once; same bytes for any
  bool keep_llvm = false, keep_assembly = false;  // for --emit=llvm,asm
  // Where kernels are found that were compiled before; may be null. Same bytes
  // with and without.
  ObjectCache* cache = nullptr;
  // Of those that the target's back end takes (TakesOption).
  BackEndOptions options = {};
  // Raised by the kernels that are compiled; may be null.
  WorkCount* count = nullptr;
  // By which the programs were planned, so that the tables tell the times that
  // decided; null: the target's, as it is without options.
  const KernelCatalog* catalog = nullptr;
};

// The steps that transform the entries' constants into Winograd's domain when
// the artifact is opened, so that the file holds them as they came; nothing
// where there are none. To be appended to the entries, which then read what it
// writes.
std::optional<Program> MakePreparation(std::span<const Program> entries);

// What codegen decided for one step.
struct StepCode {
  int kernel = 0;     // row of the kernel table; equal steps share one
  int64_t tasks = 1;  // size of the fixed grid
  int64_t scratch_bytes = 0;
  mxc_launch launch = {};     // on a device
  double nanoseconds = 0;     // modelled: mxc_step.nanoseconds
  bool even = false;          // MXC_KERNEL_EVEN
  std::string computes = {};  // KernelFacts::computes
};

// A kernel for the runtime: its symbol, and what it touches at most.
struct KernelRow {
  struct Operand {
    DType dtype;
    int64_t bytes;
  };
  std::string name;
  int64_t tasks = 1, scratch_bytes = 0;
  int inputs = 0;  // of the operands, the first
  std::vector<Operand> operands;
};

struct CodeImage {
  std::vector<std::string> objects;  // relocatable ELF, one or more
  std::string device;                // the section DEVICE; empty for the host
  std::vector<KernelRow> kernels;    // in table order
  std::vector<std::vector<StepCode>> steps;  // [entry][row], see flat_program
  std::string llvm, assembly;                // texts, if kept
  int cached = 0;                            // kernels from the cache
};

// Emits every step of every entry (all for one target).
Result<CodeImage> GenerateCode(std::span<const Program> entries,
                               const Target& target,
                               const CodegenOptions& options);

// What the network's own tensors are for in entries that train, by name; what is
// an index in a list becomes mxc_buffer.index or mxc_state.index (runtime/abi).
// Of the others, Buffer::use says it.
struct TensorRoles {
  std::vector<std::string> data, labels;             // inputs
  std::vector<std::string> parameters, auxiliaries;  // states
  // An output, and the input that it is in the next run.
  std::vector<std::pair<std::string, std::string>> carries;
};

// Whatever a person or a check may want to know, "key: value".
using Manifest = std::vector<std::pair<std::string, std::string>>;

struct ArtifactSizes {
  int64_t code_bytes = 0, weight_bytes = 0, file_bytes = 0;
};

// What compiling gives an artifact, beside what is said about it.
struct ArtifactSections {
  std::string code, tables, device;
  std::vector<std::byte> weights;
};

// Links the image in process. Weights are laid out as their buffers say; equal
// ones are stored once. The same arguments give the same bytes.
Result<ArtifactSections> MakeSections(std::span<const Program> entries,
                                      const CodeImage& code,
                                      const Target& target,
                                      const TensorRoles& roles = {});

// Writes the .mxa: to a temporary name, synced, renamed. `count`, of bytes, may
// be null.
Result<ArtifactSizes> WriteArtifact(const std::string& path,
                                    const ArtifactSections& sections,
                                    const Manifest& manifest,
                                    const std::string& symbol_json,
                                    WorkCount* count = nullptr);

// Generates the code and writes an artifact of which nothing is said.
Result<ArtifactSizes> WriteArtifact(const std::string& path,
                                    std::span<const Program> entries,
                                    const Target& target,
                                    const CodegenOptions& options = {});

// --emit=obj,header: one relocatable object with a serial re-entrant function
// for each entry and no undefined symbol, and the C header that declares it.
struct StandaloneObject {
  std::string object, header, weights;
};
Result<StandaloneObject> GenerateStandalone(std::span<const Program> entries,
                                            const Target& target,
                                            const CodegenOptions& options);

}  // namespace mxc
