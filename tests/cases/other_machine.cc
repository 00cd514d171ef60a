// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/other_machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>

#include "codegen/codegen.h"
#include "codegen/web/web_module.h"
#include "ir/support/check.h"
#include "tests/support/temporary_folder.h"

namespace mxc::test {
namespace {

// What a file holds, tensor by tensor.
class ResultFile {
 public:
  explicit ResultFile(std::string bytes) : bytes_(std::move(bytes)) {}

  Tensor At(size_t offset, const TensorType& type) const {
    std::byte* bytes = nullptr;
    Tensor tensor = Tensor::Allocate(type, &bytes);
    const auto size = static_cast<size_t>(type.bytes());
    MXC_CHECK(offset + size <= bytes_.size(), "{} bytes", bytes_.size());
    std::memcpy(bytes, bytes_.data() + offset, size);
    return tensor;
  }
  Tensor Next(const TensorType& type) {
    Tensor tensor = At(next_, type);
    next_ += static_cast<size_t>(type.bytes());
    return tensor;
  }

 private:
  const std::string bytes_;
  size_t next_ = 0;
};

void Put(const Tensor& tensor, size_t offset, std::string& region) {
  std::memcpy(region.data() + offset, tensor.bytes(), tensor.size_bytes());
}

size_t EndOf(std::span<const WebTensor> tensors) {
  int64_t end = 0;
  for (const WebTensor& tensor : tensors) {
    end = std::max(end, tensor.offset + tensor.type.bytes());
  }
  return static_cast<size_t>(end);
}

}  // namespace

OtherMachine* OtherMachine::Get() {
  static OtherMachine* const other = []() -> OtherMachine* {
    const char* command = std::getenv("MXC_TEST_NETWORKS");
    return command == nullptr ? nullptr : new OtherMachine(command);
  }();
  return other;
}

// It may have ended at what another process of this program has asked.
Status OtherMachine::Ask(const std::string& line) {
  ended_ = false;
  auto answer = runner_->Try(line);
  if (!answer) {
    runner_.emplace(command_);
    answer = runner_->Try(line);
  }
  if (answer == "done") return Done{};
  if (answer) return Error({}, "the other processor: {}", *answer);
  ended_ = true;
  runner_.emplace(command_);
  return Error({}, "the other processor's program has ended");
}

bool OtherMachine::LeavesOut() const {
  return ended_ && std::getenv("MXC_TEST_LEAVES_OUT") != nullptr;
}

Result<OtherMachine::Results> OtherMachine::Run(
    const Program& program, const Target& target,
    const std::map<std::string, Tensor>& inputs, int threads, int runs) {
  return target.runs_in_page()
             ? RunModule(program, target, inputs, runs)
             : RunArtifact(program, target, inputs, threads, runs);
}

Result<OtherMachine::Results> OtherMachine::RunArtifact(
    const Program& program, const Target& target,
    const std::map<std::string, Tensor>& inputs, int threads, int runs) {
  const TemporaryFolder folder("other-machine");
  MXC_RETURN_IF_ERROR(
      WriteArtifact(folder.File("net.mxa"), {&program, 1}, target));
  std::string given, names;
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program.buffers[b];
    const size_t begin = given.size();
    given.resize(begin + static_cast<size_t>(buffer.type.bytes()));
    const auto found = inputs.find(buffer.name);
    if (found != inputs.end()) Put(found->second, begin, given);
  }
  for (const int b : program.BuffersOf(BufferKind::kState)) {
    names += program.buffers[b].name + "\n";
  }
  WriteText(folder.File("inputs"), given);
  WriteText(folder.File("states"), names);
  MXC_RETURN_IF_ERROR(
      Ask(fmt::format("{} {} {}", folder.path().string(), threads, runs)));
  ResultFile file(TextOf(folder.File("results")));
  Results results;
  for (int run = 0; run < runs; ++run) {
    std::vector<Tensor>& outputs = results.outputs.emplace_back();
    for (const int b : program.BuffersOf(BufferKind::kOutput)) {
      outputs.push_back(file.Next(program.buffers[b].type));
    }
  }
  for (const int b : program.BuffersOf(BufferKind::kState)) {
    results.states.push_back(file.Next(program.buffers[b].type));
  }
  return results;
}

Result<OtherMachine::Results> OtherMachine::RunModule(
    const Program& program, const Target& target,
    const std::map<std::string, Tensor>& inputs, int runs) {
  MXC_ASSIGN(const WebModule module,
             GenerateWebModule({&program, 1}, target, {}));
  const WebEntry& entry = module.entries[0];
  std::vector<WebTensor> all = entry.inputs;
  all.insert(all.end(), entry.outputs.begin(), entry.outputs.end());
  std::string tensors(EndOf(all), '\0'), states(EndOf(module.states), '\0');
  for (const WebTensor& input : entry.inputs) {
    const auto found = inputs.find(input.name);
    if (found == inputs.end()) continue;
    Put(found->second, static_cast<size_t>(input.offset), tensors);
  }
  for (const WebTensor& state : module.states) {
    if (state.initial < 0) continue;
    std::memcpy(states.data() + state.offset,
                module.weights.data() + state.initial,
                static_cast<size_t>(state.type.bytes()));
  }
  const TemporaryFolder folder("other-machine");
  WriteText(folder.File("module.wasm"), module.wasm);
  WriteText(folder.File("weights"), module.weights);
  WriteText(folder.File("tensors"), tensors);
  WriteText(folder.File("states"), states);
  MXC_RETURN_IF_ERROR(Ask(fmt::format("{} {} {} {}", folder.path().string(),
                                      runs, entry.symbol, entry.steps.size())));
  const ResultFile file(TextOf(folder.File("results")));
  Results results;
  for (int run = 0; run < runs; ++run) {
    std::vector<Tensor>& outputs = results.outputs.emplace_back();
    for (const WebTensor& output : entry.outputs) {
      const size_t begin = static_cast<size_t>(run) * tensors.size();
      outputs.push_back(
          file.At(begin + static_cast<size_t>(output.offset), output.type));
    }
  }
  for (const WebTensor& state : module.states) {
    const size_t begin = static_cast<size_t>(runs) * tensors.size();
    results.states.push_back(
        file.At(begin + static_cast<size_t>(state.offset), state.type));
  }
  return results;
}

}  // namespace mxc::test
