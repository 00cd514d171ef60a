// SPDX-License-Identifier: Apache-2.0
#include "tools/artifact_overview.h"

#include <fmt/format.h>

#include <fstream>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "ir/graph/tensor.h"
#include "runtime/abi/convolution.h"
#include "runtime/abi/matrix_product.h"
#include "runtime/artifact/communication.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/manifest.h"
#include "runtime/artifact/tables.h"
#include "runtime/base/clock.h"
#include "runtime/kvstore/settings.h"
#include "runtime/train/step/state_shares.h"

namespace mxc {
namespace {

namespace rt = runtime;

std::string_view TextOf(rt::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// The longest name that is shown. Rows may share a string, and each operand is
// shown by its buffer's name: whole ones would not stay in proportion to the
// file.
constexpr size_t kLongestShown = 256;

// The end of a name that is longer: there it differs from others.
std::string ShownName(std::string_view name) {
  if (name.size() <= kLongestShown) return std::string(name);
  size_t at = name.size() - kLongestShown + 3;
  const auto continues = [](char byte) { return (byte & 0xc0) == 0x80; };
  while (at < name.size() && continues(name[at])) ++at;
  return "..." + std::string(name.substr(at));
}

// Of a buffer or a state.
template <class Row>
TensorType TypeOf(const Row& row) {
  TensorType type;
  type.dtype = DTypeFromFlag(row.dtype).value_or(DType::kUnknown);
  type.shape = Shape(Extents(row.dims, row.dims + row.rank));
  return type;
}

BufferRow ToRow(const rt::Tables& tables, const mxc_entry& entry,
                const mxc_buffer& buffer) {
  constexpr const char* kKinds[] = {"input", "output", "weight",   "internal",
                                    "alias", "state",  "prepared", "window"};
  BufferRow row;
  row.name = ShownName(tables.Text(buffer.name));
  row.type = ToString(TypeOf(buffer));
  row.kind = kKinds[buffer.kind];
  row.loss = buffer.role == MXC_TENSOR_LOSS;
  row.on_host = buffer.place == MXC_PLACE_HOST;
  row.root = static_cast<int>(buffer.root);
  row.length = buffer.role == MXC_TENSOR_LENGTH;
  for (const rt::OpenAxis& open : tables.OpenAxes(buffer)) {
    row.open.emplace_back(open.axis,
                          ShownName(tables.Lengths(entry)[open.length].name));
  }
  row.offset = row.open.empty() ? static_cast<int64_t>(buffer.offset) : 0;
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

// The tables do not tell which kernels compute contractions.
StepRow::Kind KindOf(const mxc_step& step) {
  switch (step.kind) {
    case MXC_STEP_REPEAT:
      return StepRow::Kind::kRepeat;
    case MXC_STEP_BRANCH:
      return StepRow::Kind::kBranch;
    case MXC_STEP_CALL:
    case MXC_STEP_COLLECTIVE:
      return StepRow::Kind::kCall;
    case MXC_STEP_COPY:
      return StepRow::Kind::kCopy;
    case MXC_STEP_START:
      return StepRow::Kind::kStart;
    case MXC_STEP_WAIT:
      return StepRow::Kind::kWait;
    default:
      return step.tasks == 0 ? StepRow::Kind::kView : StepRow::Kind::kLoops;
  }
}

StepRow ToRow(const rt::Tables& tables, const mxc_step& step) {
  StepRow row;
  row.kind = KindOf(step);
  row.name = ShownName(tables.Text(step.name));
  row.kernel = ShownName(tables.KernelText(step));
  row.library = LibraryText(tables.Text(step.attributes));
  row.kernel = row.library + row.kernel;
  const auto operands = tables.Operands(step);
  row.inputs.assign(operands.begin(), operands.begin() + step.input_count);
  row.outputs.assign(operands.begin() + step.input_count, operands.end());
  row.tasks = step.tasks;
  if (step.kind == MXC_STEP_REPEAT || step.kind == MXC_STEP_BRANCH) {
    row.body = int64_t{step.body} + step.other;
  }
  row.flops = static_cast<int64_t>(tables.InAllRuns(step, step.flops));
  row.bytes = static_cast<int64_t>(tables.InAllRuns(step, step.bytes));
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
    rows.push_back({.parameter = ShownName(
                        tables.Text(tables.states()[exchange.state].name)),
                    .bytes = static_cast<int64_t>(exchange.bytes),
                    .ready = static_cast<int>(exchange.ready),
                    .needed = static_cast<int>(exchange.needed),
                    .priority = static_cast<int>(exchange.priority)});
  }
  return rows;
}

// Of one worker, which has all of it, and of some that share it.
std::map<uint32_t, int64_t> SharesOf(const rt::Tables& tables) {
  std::map<uint32_t, int64_t> shares;
  const auto keys = train::KeysOf(tables);
  if (!keys.ok()) return shares;
  for (const uint32_t workers : {1u, 2u, 4u, 8u}) {
    const auto shared =
        train::StateShares::Of(*keys, workers, kvstore::Settings().cut_from);
    if (!shared.ok() || shared->OfOptimizer().all == 0) return {};
    shares[workers] = static_cast<int64_t>(shared->OfOptimizer().most);
  }
  return shares;
}

Overview ToOverview(const rt::Tables& tables, const mxc_entry& entry) {
  Overview overview;
  overview.entry = ShownName(tables.Text(entry.name));
  overview.updates = entry.kind == MXC_ENTRY_UPDATE;
  overview.device = ShownName(tables.Text(tables.header().device));
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
    overview.buffers.push_back(ToRow(tables, entry, buffer));
  }
  for (const mxc_step& step : tables.Steps(entry)) {
    StepRow& row = overview.steps.emplace_back(ToRow(tables, step));
    if (overview.device.empty()) continue;
    row.modelled_seconds = runtime::SecondsOf(
        static_cast<int64_t>(tables.InAllRuns(step, step.nanoseconds)));
  }
  NoteReadsAndPlaces(overview);
  if (entry.kind == MXC_ENTRY_GRAD) {
    overview.exchanges = ExchangeRowsOf(tables, entry);
    overview.shares = SharesOf(tables);
  }
  return overview;
}

// "cuBLASLt, or mma 128x64 on the host": the name that the compiler gave, and
// what the tables say beside it.
std::string AlgorithmOf(const StepRow& step, std::string name) {
  constexpr std::string_view kAny = " or library";
  if (!step.library.empty() && name.ends_with(kAny)) {
    name.erase(name.size() - kAny.size());
  }
  return step.library + name + step.place;
}

// Of the entry of this number, by the manifest's lines: a file may say anything.
void NameAlgorithms(const std::vector<std::string>& lines, size_t number,
                    Overview& entry) {
  std::vector<std::string> names;
  if (number < lines.size()) {
    names = rt::KernelsOf(lines[number], entry.steps.size());
  }
  for (size_t s = 0; s < entry.steps.size(); ++s) {
    StepRow& step = entry.steps[s];
    step.algorithm =
        names.empty() ? step.kernel : AlgorithmOf(step, ShownName(names[s]));
  }
}

// The entry has this number, and so has its line of the manifest.
void NoteContractions(const std::vector<std::string>& lines, size_t number,
                      Overview& entry) {
  if (number >= lines.size()) return;
  const std::vector<bool> rows = rt::RowsOf(lines[number], entry.steps.size());
  for (size_t s = 0; s < rows.size(); ++s) {
    StepRow& step = entry.steps[s];
    if (rows[s] && step.kind == StepRow::Kind::kLoops) {
      step.kind = StepRow::Kind::kContraction;
    }
  }
}

// What each part of the weights section holds, once. Parts that lie over each
// other, which no compiler makes, are left out when so many bytes are read as
// the section has twice.
std::vector<TensorStatistics> WeightsOf(const rt::Tables& tables,
                                        rt::Bytes section) {
  std::vector<TensorStatistics> weights;
  std::set<std::pair<uint64_t, uint64_t>> seen;  // begin, bytes
  uint64_t left = 2 * section.size();
  const auto add = [&](const auto& row, uint64_t begin) {
    if (begin > section.size() || row.bytes > section.size() - begin) return;
    if (row.bytes > left || !seen.emplace(begin, row.bytes).second) return;
    left -= row.bytes;
    weights.push_back(StatisticsOf(ShownName(tables.Text(row.name)),
                                   TypeOf(row),
                                   section.subspan(begin, row.bytes)));
  };
  for (const mxc_entry& entry : tables.entries()) {
    for (const mxc_buffer& buffer : tables.Buffers(entry)) {
      if (buffer.kind == MXC_BUFFER_WEIGHT) add(buffer, buffer.offset);
    }
  }
  for (const mxc_state& state : tables.states()) {
    if (state.initial != MXC_ZEROS) add(state, state.initial);
  }
  return weights;
}

}  // namespace

Json ManifestToJson(const std::string& manifest) {
  std::map<std::string, int> lines;
  Json json = Json::object();
  for (const auto line : std::views::split(manifest, '\n')) {
    const std::string text(line.begin(), line.end());
    const size_t colon = text.find(": ");
    if (colon == text.npos) continue;
    const std::string key = text.substr(0, colon);
    const std::string value = text.substr(colon + 2);
    const int before = lines[key]++;
    if (before == 0) {
      json[key] = value;
    } else {
      if (before == 1) json[key] = Json::array({json[key]});
      json[key].push_back(value);
    }
  }
  return json;
}

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
  if (options.weights) {
    artifact.weights =
        WeightsOf(*tables, container->section(MXC_SECTION_WEIGHTS));
  }
  artifact.manifest = TextOf(container->section(MXC_SECTION_MANIFEST));
  artifact.symbol = TextOf(container->section(MXC_SECTION_SYMBOL));
  const auto kernels = rt::ManifestValues(artifact.manifest, "kernels");
  const auto contractions =
      rt::ManifestValues(artifact.manifest, "contractions");
  const auto networks = rt::ManifestValues(artifact.manifest, "network");
  for (const mxc_entry& entry : tables->entries()) {
    artifact.entries.push_back(ToOverview(*tables, entry));
    if (!networks.empty()) {
      artifact.entries.back().network = ShownName(networks.front());
    }
    NameAlgorithms(kernels, artifact.entries.size() - 1,
                   artifact.entries.back());
    NoteContractions(contractions, artifact.entries.size() - 1,
                     artifact.entries.back());
  }
  return artifact;
}

}  // namespace mxc
