// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/golden.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "ir/graph/tensor.h"
#include "runtime/executor/executor.h"
#include "runtime/train/random.h"
#include "tools/driver/unplaced_error.h"
#include "tools/signature/digest.h"

namespace mxc {
namespace {

namespace rt = runtime;

constexpr uint64_t kSeed = 0;
// Of all entries together: a third of a second on one core.
constexpr double kMostOperations = 40e9;
// Of an entry, with its inputs and outputs.
constexpr uint64_t kMostBytes = uint64_t{1} << 30;

// Operations, or bytes where more of them are moved.
double WorkOf(const rt::Tables& tables, const mxc_entry& entry) {
  double work = 0;
  for (const mxc_step& step : tables.Steps(entry)) {
    work += static_cast<double>(std::max(step.flops, step.bytes)) *
            static_cast<double>(tables.TimesRun(step));
  }
  return work;
}

bool NeedsMuchMemory(const rt::Tables& tables, const mxc_entry& entry) {
  uint64_t left = kMostBytes;
  const auto take = [&](uint64_t bytes) {
    const bool fits = bytes <= left;
    left -= fits ? bytes : 0;
    return fits;
  };
  bool fits = take(entry.arena_bytes) && take(entry.host_arena_bytes) &&
              take(entry.scratch_bytes) && take(tables.header().state_bytes);
  for (const mxc_buffer& buffer : tables.Buffers(entry)) {
    const bool callers =
        buffer.kind == MXC_BUFFER_INPUT || buffer.kind == MXC_BUFFER_OUTPUT;
    fits = fits && (!callers || take(buffer.bytes));
  }
  return !fits;
}

// Numbers in [0, 1), which are legal indices and classes, too.
void FillInput(const std::string& name, const mxc_buffer& buffer,
               std::byte* to) {
  const uint64_t size = rt::ElementSize(buffer.dtype);
  const auto dtype = DTypeFromFlag(buffer.dtype).value_or(DType::kF32);
  std::vector<float> drawn(buffer.bytes / size);
  train::RandomStream(kSeed, name).FillUniform(0.5, drawn);
  for (size_t i = 0; i < drawn.size(); ++i) {
    StoreElement(to + i * size, dtype, static_cast<double>(drawn[i]) + 0.5);
  }
}

Result<std::string> DigestOfRun(const std::shared_ptr<const rt::Model>& model,
                                size_t row) {
  const rt::Tables& tables = model->tables();
  const mxc_entry& entry = tables.entries()[row];
  auto executor =
      rt::Executor::Bind(model, row, {.threads = rt::AvailableThreads()});
  if (!executor.ok()) return UnplacedError(executor.status().message());
  const auto inputs = tables.Inputs(entry);
  for (size_t k = 0; k < inputs.size(); ++k) {
    const mxc_buffer& buffer = tables.Buffers(entry)[inputs[k]];
    FillInput(tables.Text(buffer.name), buffer, (*executor)->InputStorage(k));
  }
  const rt::Status ran = (*executor)->Run();
  if (!ran.ok()) return UnplacedError(ran.message());
  auto digest = signature::RunningDigest::Begin();
  if (!digest.ok()) return UnplacedError(digest.status().message());
  const auto outputs = tables.Outputs(entry);
  for (size_t k = 0; k < outputs.size(); ++k) {
    digest->Add({(*executor)->OutputStorage(k),
                 tables.Buffers(entry)[outputs[k]].bytes});
  }
  return signature::Hex(digest->Finish());
}

}  // namespace

Result<std::vector<std::string>> GoldenLines(
    const std::shared_ptr<const rt::Model>& model) {
  const rt::Tables& tables = model->tables();
  std::vector<std::string> lines;
  double left = kMostOperations;
  for (size_t row = 0; row < tables.entries().size(); ++row) {
    const mxc_entry& entry = tables.entries()[row];
    const double work = WorkOf(tables, entry);
    if (work > left) {
      lines.emplace_back("none (it takes too long)");
    } else if (NeedsMuchMemory(tables, entry)) {
      lines.emplace_back("none (it needs too much memory)");
    } else {
      left -= work;
      MXC_ASSIGN(lines.emplace_back(), DigestOfRun(model, row));
    }
  }
  return lines;
}

}  // namespace mxc
