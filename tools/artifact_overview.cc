// SPDX-License-Identifier: Apache-2.0
#include "tools/artifact_overview.h"

#include <fmt/format.h>

#include <fstream>

#include "ir/graph/tensor.h"
#include "runtime/abi/convolution.h"
#include "runtime/abi/matrix_product.h"
#include "runtime/artifact/communication.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/tables.h"

namespace mxc {
namespace {

namespace rt = runtime;

std::string_view TextOf(rt::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string TypeOf(const mxc_buffer& buffer) {
  TensorType type;
  type.dtype = DTypeFromFlag(buffer.dtype).value_or(DType::kUnknown);
  type.shape = Shape(Extents(buffer.dims, buffer.dims + buffer.rank));
  return ToString(type);
}

BufferRow ToRow(const rt::Tables& tables, const mxc_buffer& buffer) {
  constexpr const char* kKinds[] = {"input", "output", "weight",   "internal",
                                    "alias", "state",  "prepared", "window"};
  BufferRow row;
  row.name = tables.Text(buffer.name);
  row.type = TypeOf(buffer);
  row.kind = kKinds[buffer.kind];
  row.on_host = buffer.place == MXC_PLACE_HOST;
  row.root = static_cast<int>(buffer.root);
  row.offset = static_cast<int64_t>(buffer.offset);
  row.bytes = static_cast<int64_t>(buffer.bytes);
  row.first = buffer.first_step;
  row.last = buffer.last_step;
  return row;
}

// "cuBLASLt, or " where it is to compute what the kernel does.
std::string LibraryText(const char* task) {
  const auto product = ReadMatrixProduct(task);
  if (product && product->preferred == 1) return "cuBLASLt, or ";
  const auto convolution = ReadConvolution(task);
  if (convolution && convolution->preferred == 1) return "cuDNN, or ";
  return "";
}

StepRow ToRow(const rt::Tables& tables, const mxc_step& step) {
  StepRow row;
  row.name = tables.Text(step.name);
  row.kernel = tables.KernelText(step);
  row.kernel = LibraryText(tables.Text(step.attributes)) + row.kernel;
  const auto operands = tables.Operands(step);
  row.inputs.assign(operands.begin(), operands.begin() + step.input_count);
  row.outputs.assign(operands.begin() + step.input_count, operands.end());
  row.tasks = step.tasks;
  const uint64_t times = tables.TimesRun(step);
  row.flops = static_cast<int64_t>(step.flops * times);
  row.bytes = static_cast<int64_t>(step.bytes * times);
  row.scratch = static_cast<int64_t>(step.scratch_bytes);
  const auto product = [](const uint32_t(&axes)[3]) {
    return int64_t{axes[0]} * axes[1] * axes[2];
  };
  row.blocks = product(step.launch.grid);
  row.block_threads = product(step.launch.block);
  row.shared_bytes = step.launch.shared_bytes;
  return row;
}

std::vector<ExchangeRow> ExchangeRowsOf(const rt::Tables& tables,
                                        const mxc_entry& entry) {
  std::vector<ExchangeRow> rows;
  for (const rt::Exchange& exchange : rt::ExchangesOf(tables, entry)) {
    rows.push_back(
        {.parameter = tables.Text(tables.states()[exchange.state].name),
         .bytes = static_cast<int64_t>(exchange.bytes),
         .ready = static_cast<int>(exchange.ready),
         .needed = static_cast<int>(exchange.needed),
         .priority = static_cast<int>(exchange.priority)});
  }
  return rows;
}

Overview ToOverview(const rt::Tables& tables, const mxc_entry& entry) {
  Overview overview;
  overview.entry = tables.Text(entry.name);
  overview.device = tables.Text(tables.header().device);
  overview.batch = entry.batch;
  overview.memory = {
      .arena = static_cast<int64_t>(entry.arena_bytes),
      .arena_lower_bound = static_cast<int64_t>(entry.lower_bound_bytes),
      .arena_naive = static_cast<int64_t>(entry.naive_bytes),
      .host_arena = static_cast<int64_t>(entry.host_arena_bytes),
      .outputs = static_cast<int64_t>(entry.activation_bytes) -
                 static_cast<int64_t>(entry.arena_bytes),
      .workspace = static_cast<int64_t>(entry.scratch_bytes)};
  for (const mxc_buffer& buffer : tables.Buffers(entry)) {
    overview.buffers.push_back(ToRow(tables, buffer));
  }
  for (const mxc_step& step : tables.Steps(entry)) {
    StepRow& row = overview.steps.emplace_back(ToRow(tables, step));
    if (overview.device.empty()) continue;
    row.modelled_seconds =
        1e-9 * static_cast<double>(step.nanoseconds * tables.TimesRun(step));
  }
  NoteReadsAndPlaces(overview);
  if (entry.kind == MXC_ENTRY_GRAD) {
    overview.exchanges = ExchangeRowsOf(tables, entry);
  }
  return overview;
}

// The value of a manifest's line, empty where there is none.
std::string ManifestValue(const std::string& manifest, const std::string& key) {
  const size_t at = ("\n" + manifest).find("\n" + key + ": ");
  if (at == std::string::npos) return "";
  const size_t begin = at + key.size() + 2;
  return manifest.substr(begin, manifest.find('\n', begin) - begin);
}

}  // namespace

bool IsArtifact(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  char magic[4] = {};
  in.read(magic, 4);
  return in && std::string_view(magic, 4) ==
                   "\x7f"
                   "ELF";
}

Result<InspectedArtifact> ReadArtifact(const std::string& path,
                                       const ReadOptions& options) {
  rt::StatusOr<rt::Container> container =
      rt::Container::Open(path, options.approve);
  if (!container.ok()) return ErrorAbout(path, container.status());
  const uint64_t weights = container->section(MXC_SECTION_WEIGHTS).size();
  rt::StatusOr<rt::Tables> tables =
      rt::Tables::Parse(container->section(MXC_SECTION_TABLES), weights);
  if (!tables.ok()) return ErrorAbout(path, tables.status());
  InspectedArtifact artifact;
  if (options.check) {
    MXC_ASSIGN(artifact.findings, CheckArtifact(path, *container, *tables));
  }
  artifact.manifest = TextOf(container->section(MXC_SECTION_MANIFEST));
  artifact.symbol = TextOf(container->section(MXC_SECTION_SYMBOL));
  for (const mxc_entry& entry : tables->entries()) {
    artifact.entries.push_back(ToOverview(*tables, entry));
    artifact.entries.back().network =
        ManifestValue(artifact.manifest, "network");
  }
  return artifact;
}

}  // namespace mxc
