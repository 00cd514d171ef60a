// SPDX-License-Identifier: Apache-2.0
#include "tests/runtime/test_artifact.h"

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "runtime/artifact/tables.h"
#include "runtime/base/checksum.h"
#include "runtime/base/element.h"

namespace mxc::test {
namespace {

uint64_t Checksum(const std::string& bytes) {
  return runtime::Checksum(std::as_bytes(std::span(bytes)));
}

std::string DeviceName(uint32_t kernel) {
  return "mxc_test_" + std::to_string(kernel);
}

template <class T>
std::string BytesOf(const std::vector<T>& rows) {
  return std::string(reinterpret_cast<const char*>(rows.data()),
                     rows.size() * sizeof(T));
}

template <class T>
std::string BytesOf(const T& value) {
  return std::string(reinterpret_cast<const char*>(&value), sizeof value);
}

uint64_t SizeOf(uint8_t dtype) {
  const auto type = runtime::ElementTypeFromFlag(dtype);
  return type ? static_cast<uint64_t>(runtime::ElementBytes(*type)) : 8;
}

void Align(std::string& bytes, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

class TablesWriter {
 public:
  explicit TablesWriter(const TestArtifact& artifact)
      : on_device_(!artifact.device.empty()) {
    for (const TestEntry& entry : artifact.entries) Add(entry);
    for (const TestState& state : artifact.states) Add(state);
    for (const TestImport& import : artifact.imports) {
      imports_.push_back({Text(import.name), import.version, 0});
    }
    header_.state_bytes = artifact.state_bytes;
    header_.prepared_bytes = artifact.prepared_bytes;
    header_.magic = MXC_TABLES_MAGIC;
    header_.abi_version = MXC_ABI_VERSION;
    header_.kernel_count = kKernelCount;
    header_.required_features = artifact.required_features;
    header_.device = Text(artifact.device);
  }

  std::string Write() {
    std::string bytes(sizeof header_, '\0');
    header_.entry_count = entries_.size();
    header_.entries_offset = Append(bytes, BytesOf(entries_));
    header_.buffer_count = buffers_.size();
    header_.buffers_offset = Append(bytes, BytesOf(buffers_));
    header_.step_count = steps_.size();
    header_.steps_offset = Append(bytes, BytesOf(steps_));
    header_.operand_count = operands_.size();
    header_.operands_offset = Append(bytes, BytesOf(operands_));
    header_.state_count = states_.size();
    header_.states_offset = Append(bytes, BytesOf(states_));
    header_.import_count = imports_.size();
    header_.imports_offset = Append(bytes, BytesOf(imports_));
    header_.string_bytes = strings_.size();
    header_.strings_offset = Append(bytes, strings_);
    std::memcpy(bytes.data(), &header_, sizeof header_);
    return bytes;
  }

 private:
  static uint64_t Append(std::string& bytes, const std::string& table) {
    Align(bytes, 8);
    bytes += table;
    return bytes.size() - table.size();
  }

  mxc_string Text(const std::string& text) {
    const auto first = static_cast<uint32_t>(strings_.size());
    strings_ += text + '\0';
    return {first, static_cast<uint32_t>(text.size())};
  }

  mxc_range Operands(std::vector<uint32_t> list,
                     const std::vector<uint32_t>& more = {}) {
    list.insert(list.end(), more.begin(), more.end());
    const auto first = static_cast<uint32_t>(operands_.size());
    operands_.insert(operands_.end(), list.begin(), list.end());
    return {first, static_cast<uint32_t>(list.size())};
  }

  void Add(const TestEntry& entry) {
    mxc_entry row{};
    row.name = Text(entry.name);
    row.batch = entry.batch;
    row.length = entry.length;
    row.buffers = {static_cast<uint32_t>(buffers_.size()),
                   static_cast<uint32_t>(entry.buffers.size())};
    for (const TestBuffer& buffer : entry.buffers) {
      Add(buffer, static_cast<uint32_t>(buffers_.size()) - row.buffers.first);
    }
    row.steps = {static_cast<uint32_t>(steps_.size()),
                 static_cast<uint32_t>(entry.steps.size())};
    for (const TestStep& step : entry.steps) Add(step);
    row.inputs = Operands(entry.inputs);
    row.outputs = Operands(entry.outputs);
    row.carries = Operands(entry.carries);
    row.kind = entry.kind;
    row.index = entry.index;
    row.arena_bytes = entry.arena_bytes;
    row.host_arena_bytes = entry.host_arena_bytes;
    row.scratch_bytes = entry.scratch_bytes;
    entries_.push_back(row);
  }

  void Add(const TestBuffer& buffer, uint32_t index) {
    mxc_buffer row{};
    row.name = Text(buffer.name);
    SetType(row, buffer);
    row.kind = buffer.kind;
    row.root = buffer.root < 0 ? index : static_cast<uint32_t>(buffer.root);
    row.offset = buffer.offset;
    row.first_step = buffer.first_step;
    row.last_step = buffer.last_step;
    row.loop = buffer.loop;
    row.advance = buffer.advance;
    row.period = buffer.period;
    row.shift = buffer.shift;
    if (!buffer.open.empty()) {
      const mxc_range open = Operands(buffer.open);
      row.period = open.first;
      row.shift = open.count;
    }
    row.role = buffer.role;
    row.index = buffer.index;
    row.place = buffer.place;
    buffers_.push_back(row);
  }

  void Add(const TestState& state) {
    mxc_state row{};
    row.name = Text(state.name);
    SetType(row, state);
    row.offset = state.offset;
    row.initial = state.initial;
    row.role = state.role;
    row.index = state.index;
    states_.push_back(row);
  }

  template <class Row, class From>
  static void SetType(Row& row, const From& from) {
    row.dtype = from.dtype;
    row.bytes = SizeOf(from.dtype);
    for (const int64_t dim : from.dims) {
      row.dims[row.rank++] = dim;
      row.bytes *= static_cast<uint64_t>(dim);
    }
  }

  void Add(const TestStep& step) {
    mxc_step row{};
    row.name = Text(step.name);
    row.kernel_name =
        Text(on_device_ ? DeviceName(step.kernel) : "mxc_test_" + step.name);
    row.kind = step.kind;
    row.flags = step.flags;
    row.body = step.body;
    row.other = step.other;
    row.turns = step.turns;
    row.place = step.place;
    row.after = step.after;
    if (on_device_ && step.tasks > 0) {
      row.launch = {.grid = {static_cast<uint32_t>(step.tasks), 1, 1},
                    .block = {1, 1, 1},
                    .shared_bytes = 0,
                    .reserved = 0};
    }
    if (step.kind == MXC_STEP_CALL) row.attributes = Text(step.attributes);
    if (step.kind == MXC_STEP_COLLECTIVE) {
      row.kernel_name = Text(step.attributes);
    }
    row.kernel = step.kernel;
    row.input_count = static_cast<uint32_t>(step.inputs.size());
    row.operands = Operands(step.inputs, step.outputs);
    row.tasks = step.tasks;
    row.scratch_bytes = step.scratch_bytes;
    row.flops = step.flops;
    row.bytes = 4096;
    row.nanoseconds = step.nanoseconds;
    steps_.push_back(row);
  }

  const bool on_device_;
  mxc_tables header_{};
  std::vector<mxc_entry> entries_;
  std::vector<mxc_buffer> buffers_;
  std::vector<mxc_step> steps_;
  std::vector<mxc_state> states_;
  std::vector<mxc_import> imports_;
  std::vector<uint32_t> operands_;
  std::string strings_;
};

uint64_t BytesOf(const TestBuffer& buffer) {
  uint64_t bytes = SizeOf(buffer.dtype);
  for (const int64_t dim : buffer.dims) bytes *= static_cast<uint64_t>(dim);
  return bytes;
}

// What the kernels touch: what the first step that runs each gives it.
struct Limits {
  std::vector<mxc_kernel_limits> kernels{kKernelCount};
  std::vector<mxc_operand_limits> operands;

  explicit Limits(const TestArtifact& artifact) {
    for (const TestEntry& entry : artifact.entries) {
      for (const TestStep& step : entry.steps) Add(entry, step);
    }
  }

  void Add(const TestEntry& entry, const TestStep& step) {
    if (step.tasks <= 0 || step.kernel >= kKernelCount) return;
    mxc_kernel_limits& row = kernels[step.kernel];
    if (row.tasks != 0) return;
    row.tasks = step.tasks;
    row.scratch_bytes = step.scratch_bytes;
    row.input_count = static_cast<uint32_t>(step.inputs.size());
    row.operands.first = static_cast<uint32_t>(operands.size());
    for (const auto* list : {&step.inputs, &step.outputs}) {
      for (const uint32_t buffer : *list) {
        if (buffer >= entry.buffers.size()) continue;
        operands.push_back(
            {BytesOf(entry.buffers[buffer]), entry.buffers[buffer].dtype, {}});
      }
    }
    row.operands.count =
        static_cast<uint32_t>(operands.size()) - row.operands.first;
  }
};

void ReplaceMark(std::string& code, const std::string& mark,
                 const std::string& bytes) {
  const size_t place = code.find(mark);
  if (place == std::string::npos) std::abort();
  code.replace(place, bytes.size(), bytes);
}

// The shared object with its constants filled in.
std::string Code(const TestArtifact& artifact, uint64_t tables_checksum) {
  std::ifstream file(
      artifact.kernels.empty() ? MXC_TEST_KERNELS : artifact.kernels,
      std::ios::binary);
  std::string code((std::istreambuf_iterator<char>(file)),
                   std::istreambuf_iterator<char>());
  const Limits limits(artifact);
  ReplaceMark(code,
              BytesOf(mxc_code_header{0x51525354u, 0x55565758u,
                                      0x61626364656667ull, 0, 0}),
              BytesOf(mxc_code_header{
                  MXC_ABI_VERSION, kKernelCount, tables_checksum,
                  static_cast<uint32_t>(limits.operands.size()), 0}));
  ReplaceMark(code, BytesOf(int64_t{0x71727374757677}),
              BytesOf(limits.kernels));
  ReplaceMark(code, BytesOf(uint64_t{0x81828384858687}),
              BytesOf(limits.operands));
  return code;
}

}  // namespace

// The names of the kernels, as the null device reads them.
std::string TestArtifact::DeviceCode() const {
  if (device.empty()) return "";
  std::string text;
  for (uint32_t k = 0; k < kKernelCount; ++k) text += DeviceName(k) + '\0';
  const mxc_device_image image = {
      MXC_IMAGE_NAMES, 0, sizeof(mxc_device_code) + sizeof image, text.size()};
  return BytesOf(mxc_device_code{MXC_ABI_VERSION, 1}) + BytesOf(image) + text;
}

std::string TestArtifact::Tables() const { return TablesWriter(*this).Write(); }

std::string TestArtifact::FileWith(const std::string& tables) const {
  mxc_trailer trailer{};
  std::string file;
  const auto append = [&](mxc_section_kind kind, const std::string& bytes) {
    Align(file, MXC_PAGE);
    trailer.sections[kind] = {file.size(), bytes.size(), Checksum(bytes)};
    file += bytes;
  };
  append(MXC_SECTION_CODE, Code(*this, Checksum(tables)));
  append(MXC_SECTION_WEIGHTS, BytesOf(weights));
  append(MXC_SECTION_TABLES, tables);
  append(MXC_SECTION_MANIFEST, manifest);
  append(MXC_SECTION_SYMBOL, symbol);
  trailer.sections[MXC_SECTION_DEVICE].checksum = Checksum("");
  if (!device.empty()) append(MXC_SECTION_DEVICE, DeviceCode());
  Align(file, 8);
  trailer.file_size = file.size() + sizeof trailer;
  trailer.abi_version = abi_version;
  trailer.section_count = MXC_SECTION_COUNT;
  trailer.magic = MXC_TRAILER_MAGIC;
  trailer.checksum =
      Checksum(BytesOf(trailer).substr(0, offsetof(mxc_trailer, checksum)));
  return file + BytesOf(trailer);
}

std::string ComplaintAbout(const TestArtifact& artifact) {
  const std::string bytes = artifact.Tables();
  return runtime::Tables::Parse(std::as_bytes(std::span(bytes)),
                                artifact.weights.size() * sizeof(float))
      .status()
      .message();
}

TestStep Repeat(uint32_t body, int64_t turns,
                const std::vector<uint32_t>& operands, uint8_t flags) {
  TestStep step = {"repeat", kScale, operands, {}, 0};
  step.kind = MXC_STEP_REPEAT;
  step.body = body;
  step.turns = turns;
  step.flags = flags;
  return step;
}

TestStep Branch(uint32_t condition, uint32_t body, uint32_t other) {
  TestStep step = {"branch", kScale, {condition}, {}, 0};
  step.kind = MXC_STEP_BRANCH;
  step.body = body;
  step.other = other;
  return step;
}

TestStep Call(uint32_t import, const std::vector<uint32_t>& inputs,
              const std::vector<uint32_t>& outputs,
              const std::string& attributes, uint8_t flags) {
  TestStep step = {"call", Kernel(import), inputs, outputs, 0};
  step.kind = MXC_STEP_CALL;
  step.attributes = attributes;
  step.flags = flags;
  return step;
}

TestStep Copy(uint32_t from, uint32_t to) {
  TestStep step = {"copy", kScale, {from}, {to}, 0};
  step.kind = MXC_STEP_COPY;
  return step;
}

TestStep Collective(const std::string& operation, int64_t members,
                    const std::vector<uint32_t>& inputs,
                    const std::vector<uint32_t>& outputs) {
  TestStep step = {"collective", kScale, inputs, outputs, 0};
  step.kind = MXC_STEP_COLLECTIVE;
  step.attributes = operation;
  step.turns = members;
  return step;
}

TestStep Start(uint32_t body) {
  TestStep step = {"start", kScale, {}, {}, 0};
  step.kind = MXC_STEP_START;
  step.body = body;
  return step;
}

TestStep Wait(uint32_t after) {
  TestStep step = {"wait", kScale, {}, {}, 0};
  step.kind = MXC_STEP_WAIT;
  step.after = after;
  return step;
}

TestArtifact ExampleArtifact() {
  TestEntry e;
  e.buffers = {{"data", {1, 32}, MXC_BUFFER_INPUT},
               {"prob", {1, 32}, MXC_BUFFER_OUTPUT}};
  e.steps = {{"scale", kScale, {0}, {1}, 2, 0, 64, 137}};
  e.inputs = {0};
  e.outputs = {1};
  TestArtifact artifact;
  artifact.entries = {e};
  return artifact;
}

TestArtifact ChainArtifact() {
  TestEntry e;
  e.buffers = {{"data", {1, 1024}, MXC_BUFFER_INPUT, 0},
               {"a", {1024}, MXC_BUFFER_INTERNAL, 0, -1, 0, 1},
               {"bias", {1024}, MXC_BUFFER_WEIGHT, 256},
               {"b", {1024}, MXC_BUFFER_INTERNAL, 4096, -1, 1, 3},
               {"flat", {32, 32}, MXC_BUFFER_ALIAS, 0, 3},
               {"reversed", {1, 1024}, MXC_BUFFER_OUTPUT, 0},
               {"sum", {1}, MXC_BUFFER_OUTPUT, 0}};
  e.steps = {{"scale", kScale, {0}, {1}, 64},
             {"add", kAdd, {1, 2}, {3}, 64},
             {"flatten", kScale, {3}, {4}, 0},
             {"reverse", kReverse, {4}, {5}, 64, 64},
             {"sum", kSum, {5}, {6}, 1, 0, 1024}};
  e.inputs = {0};
  e.outputs = {5, 6, 4};
  e.arena_bytes = 8192;
  e.scratch_bytes = 64;
  TestArtifact artifact;
  artifact.weights.resize(64 + 1024);
  for (size_t i = 0; i < artifact.weights.size(); ++i) {
    artifact.weights[i] = 0.25f * static_cast<float>(i);
  }
  artifact.entries = {e};
  return artifact;
}

TestArtifact PreparedArtifact() {
  TestArtifact artifact = ChainArtifact();
  TestBuffer& bias = artifact.entries.front().buffers[2];
  TestEntry prepare;
  prepare.name = "prepare";
  prepare.kind = MXC_ENTRY_PREPARE;
  prepare.buffers = {{"bias", {1024}, MXC_BUFFER_WEIGHT, bias.offset},
                     {"turned", {1024}, MXC_BUFFER_INTERNAL, 0},
                     {"bias/prepared", {1024}, MXC_BUFFER_INTERNAL, 4096}};
  prepare.steps = {{"turn", kReverse, {0}, {1}, 64, 64},
                   {"turn back", kReverse, {1}, {2}, 64, 64}};
  prepare.arena_bytes = artifact.prepared_bytes = 8192;
  prepare.scratch_bytes = 64;
  bias.kind = MXC_BUFFER_PREPARED;
  bias.offset = 4096;
  artifact.entries.push_back(prepare);
  return artifact;
}

std::vector<float> ChainInput(int seed) {
  std::vector<float> data(1024);
  for (size_t i = 0; i < data.size(); ++i) {
    data[i] = static_cast<float>((i * 37 + static_cast<size_t>(seed)) % 101);
  }
  return data;
}

ChainResult ChainExpected(const std::vector<float>& data) {
  ChainResult result;
  result.reversed.resize(data.size());
  for (size_t i = 0; i < data.size(); ++i) {
    const size_t from = i / kBlock * kBlock + (kBlock - 1 - i % kBlock);
    result.reversed[i] =
        data[from] * 2 + 1 + 0.25f * static_cast<float>(64 + from);
  }
  for (const float value : result.reversed) result.sum += value;
  return result;
}

TestArtifact TrainArtifact() {
  TestEntry train;
  train.name = "train";
  train.kind = MXC_ENTRY_TRAIN;
  train.buffers = {{"data", {1, 1024}, MXC_BUFFER_INPUT},
                   {"learning_rate", {1}, MXC_BUFFER_INPUT},
                   {"weight", {1024}, MXC_BUFFER_STATE, 0},
                   {"weight/next", {1024}, MXC_BUFFER_ALIAS, 0, 2},
                   {"steps", {1}, MXC_BUFFER_STATE, 1},
                   {"steps/next", {1}, MXC_BUFFER_ALIAS, 0, 4},
                   {"loss", {1}, MXC_BUFFER_OUTPUT}};
  train.buffers[0].role = MXC_TENSOR_DATA;
  train.buffers[1].role = MXC_TENSOR_RATE;
  train.buffers[6].role = MXC_TENSOR_LOSS;
  train.buffers[1].dtype = 1;
  train.buffers[4].dtype = train.buffers[5].dtype = 6;
  train.steps = {{"distance", kDistance, {0, 2}, {6}, 1, 0, 64},
                 {"descend", kDescend, {0, 2, 1}, {3}, 64},
                 {"count", kCount, {4}, {5}, 1, 0, 64}};
  train.inputs = {0, 1};
  train.outputs = {6};
  TestEntry score;
  score.name = "score";
  score.kind = MXC_ENTRY_SCORE;
  score.buffers = {{"data", {1, 1024}, MXC_BUFFER_INPUT},
                   {"weight", {1024}, MXC_BUFFER_STATE, 0},
                   {"doubled", {1024}, MXC_BUFFER_INTERNAL},
                   {"loss", {1}, MXC_BUFFER_OUTPUT}};
  score.steps = {{"unused", kScale, {1}, {2}, 64},
                 {"distance", kDistance, {0, 1}, {3}, 1, 0, 64}};
  score.buffers[0].role = MXC_TENSOR_DATA;
  score.buffers[3].role = MXC_TENSOR_LOSS;
  score.inputs = {0};
  score.outputs = {3};
  score.arena_bytes = 4096;
  TestArtifact artifact;
  artifact.entries = {train, score};
  artifact.states = {{"weight", {1024}, 0, 256, 0, MXC_TENSOR_PARAMETER},
                     {"steps", {1}, 4096, MXC_ZEROS, 6, MXC_TENSOR_AUXILIARY}};
  artifact.state_bytes = 4096 + 64;
  artifact.manifest = "network: fit\noptimizer: sgd momentum=0.9\n";
  artifact.weights.resize(64 + 1024);
  for (size_t i = 0; i < artifact.weights.size(); ++i) {
    artifact.weights[i] = static_cast<float>(i);
  }
  return artifact;
}

std::string WriteTemporary(const std::string& name, const std::string& bytes) {
  // Goes with the process.
  static const struct Folder {
    const std::filesystem::path path = std::filesystem::temp_directory_path() /
                                       ("mxc-test-" + std::to_string(getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
  } folder;
  const std::string path = folder.path / name;
  std::filesystem::remove(path);  // a new file, not new bytes of an open one
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace mxc::test
