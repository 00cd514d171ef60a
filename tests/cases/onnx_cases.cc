// SPDX-License-Identifier: Apache-2.0
// onnx: a folder, however deep, of ONNX's node tests: each a folder with
// model.onnx and test_data_set_0/, which holds input_K.pb and output_K.pb in the
// order of the model's; of a sequence input_K.E.pb.
//
// An input whose value decides a shape is bound when the model is read, as --bind
// does. What is refused is skipped, with the sentence that refuses it; what
// differs, crashes or takes a minute is a failure. Inputs and outputs without
// elements are none of a program's. With --part gradients the gradients are
// compared instead (onnx_gradients.cc).
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/network_file.h"
#include "frontend/onnx/schema.h"
#include "frontend/onnx/tensor_data.h"
#include "frontend/protobuf/wire.h"
#include "tests/cases/case_report.h"
#include "tests/cases/cases.h"
#include "tests/cases/compare.h"
#include "tests/cases/in_process.h"
#include "tests/cases/onnx_case.h"

namespace mxc {
namespace {

namespace fs = std::filesystem;

// What ONNX's own backend tests allow (onnx/backend/test/runner): of bfloat16 two
// units in the last place.
Tolerance NodeTolerance(DType dtype) {
  return {dtype == DType::kBF16 ? 0x1p-6 : 1e-3, 1e-7};
}

// Cases whose values no right engine gives: drawn by the generator of the
// reference; Resize by a fractional length, where ONNX Runtime and the text's
// other modes take the whole one; the noise of a float where the inverse of a
// transform is 0; Nesterov's momentum, which generations of the reference compute
// differently; attention of halves node by node, each of which the reference
// rounds (what we give is nearer to float64's). They are skipped where they differ.
bool MayDiffer(const std::string& name) {
  for (const char* begin :
       {"test_bernoulli", "test_dft_inverse", "test_training_dropout",
        "test_nesterov_momentum", "test_attention_4d_causal_fp16_expanded",
        "test_resize_downsample_scales_cubic_align_corners",
        "test_resize_downsample_scales_linear_align_corners"}) {
    if (name.starts_with(begin)) return true;
  }
  return false;
}

std::shared_ptr<const std::string> BytesOf(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::make_shared<const std::string>(std::move(text).str());
}

Result<Tensor> ReadPb(const fs::path& path) {
  const auto bytes = BytesOf(path);
  onnx::TensorProto tensor;
  if (const auto error =
          protobuf::ParseWire(std::as_bytes(std::span(*bytes)),
                              onnx::TensorProto::Type(), tensor)) {
    return Error({}, "{}: {}", path.string(), *error);
  }
  return onnx::TensorFiles(bytes, "").Read(tensor);
}

// Of input_K or output_K, elements of a sequence in their order.
Result<std::vector<Tensor>> ReadAllPb(const fs::path& data,
                                      const std::string& stem) {
  std::vector<Tensor> tensors;
  const fs::path plain = data / (stem + ".pb");
  if (fs::exists(plain)) {
    MXC_ASSIGN(Tensor tensor, ReadPb(plain));
    tensors.push_back(std::move(tensor));
    return tensors;
  }
  for (int e = 0;; ++e) {
    const fs::path element = data / fmt::format("{}.{}.pb", stem, e);
    if (!fs::exists(element)) return tensors;
    MXC_ASSIGN(Tensor tensor, ReadPb(element));
    tensors.push_back(std::move(tensor));
  }
}

// The names of the model's inputs, in order.
Result<std::vector<std::string>> InputNames(const fs::path& path) {
  const auto bytes = BytesOf(path);
  onnx::ModelProto model;
  if (const auto error = protobuf::ParseWire(std::as_bytes(std::span(*bytes)),
                                             onnx::ModelProto::Type(), model)) {
    return Error({}, "{}", *error);
  }
  std::vector<std::string> names;
  for (const auto& input : model.graph->input) names.emplace_back(input.name);
  return names;
}

// NAME of "--bind NAME=FILE" in the sentence that refuses a model.
std::string WantedBinding(const Diagnostics& errors) {
  const std::string& text = errors.front().message;
  const size_t at = text.find("--bind ");
  if (at == std::string::npos) return "";
  const size_t begin = at + 7;
  return text.substr(begin, text.find("=FILE", begin) - begin);
}

Result<Model> BuildBound(const NetworkFile& network,
                         const std::map<std::string, Tensor>& inputs) {
  BuildOptions build;
  build.require_supported = true;
  for (const auto& [name, input] : inputs) {
    build.input_shapes[name] = input.shape().dims();
  }
  while (true) {
    Result<Model> model = BuildModel(network, build);
    if (model.ok()) return model;
    std::string name = WantedBinding(model.errors());
    auto found = inputs.find(name);
    if (found == inputs.end() && !name.empty()) {
      // Computed of an input: those of integers, then all.
      for (const bool all : {false, true}) {
        if (found != inputs.end()) break;
        found = std::ranges::find_if(inputs, [&](const auto& input) {
          return (all || !IsFloat(input.second.type().dtype)) &&
                 !build.input_values.contains(input.first);
        });
      }
    }
    if (found == inputs.end() || build.input_values.contains(found->first)) {
      return model;
    }
    build.input_values[found->first] = found->second;
    build.input_shapes.erase(found->first);
  }
}

bool HasNoElements(const Tensor& tensor) {
  return tensor.shape().elements() == 0;
}

}  // namespace

Result<OnnxCase> ReadOnnxCase(const fs::path& folder) {
  const fs::path data = folder / "test_data_set_0";
  MXC_ASSIGN(const auto names, InputNames(folder / "model.onnx"));
  OnnxCase read;
  auto& inputs = read.inputs;
  for (size_t i = 0; i < names.size(); ++i) {
    MXC_ASSIGN(auto given, ReadAllPb(data, fmt::format("input_{}", i)));
    const bool plain = fs::exists(data / fmt::format("input_{}.pb", i));
    for (size_t e = 0; e < given.size(); ++e) {
      // Of a sequence its elements.
      inputs[plain ? names[i] : fmt::format("{}.{}", names[i], e)] = given[e];
    }
  }
  MXC_ASSIGN(const auto network, OpenNetwork((folder / "model.onnx").string()));
  MXC_ASSIGN(Model model, BuildBound(*network, inputs));
  MXC_RETURN_IF_ERROR(LoadParameters(model, {}));
  BindParameters(model);
  read.graph = std::move(model.graph);
  std::erase_if(inputs,
                [](const auto& input) { return HasNoElements(input.second); });
  return read;
}

namespace {

Status RunNode(const fs::path& folder, const EngineOptions& engine) {
  const fs::path data = folder / "test_data_set_0";
  MXC_ASSIGN(OnnxCase read, ReadOnnxCase(folder));
  std::vector<Tensor> expected;
  for (int k = 0; k < 64; ++k) {
    MXC_ASSIGN(auto given, ReadAllPb(data, fmt::format("output_{}", k)));
    expected.insert(expected.end(), given.begin(), given.end());
  }
  std::erase_if(expected, HasNoElements);
  MXC_ASSIGN(const std::vector<Tensor> outputs,
             RunGraph(std::move(read.graph), read.inputs, engine));
  if (outputs.size() != expected.size()) {
    return Error({}, "WRONG: {} outputs, expected {}", outputs.size(),
                 expected.size());
  }
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (outputs[k].type() != expected[k].type()) {
      return Error({}, "WRONG: output {} is {}, expected {}", k,
                   ToString(outputs[k].type()), ToString(expected[k].type()));
    }
    if (auto error = Difference(outputs[k], expected[k],
                                NodeTolerance(expected[k].type().dtype))) {
      return Error({}, "WRONG: output {} {}", k, *error);
    }
  }
  return Done{};
}

}  // namespace

int RunOnnxCases(const CaseOptions& options) {
  CaseReport report(options.verbose);
  std::vector<fs::path> folders;
  std::error_code error;
  for (const auto& entry :
       fs::recursive_directory_iterator(options.folder, error)) {
    if (entry.path().filename() == "model.onnx" &&
        fs::exists(entry.path().parent_path() / "test_data_set_0")) {
      folders.push_back(entry.path().parent_path());
    }
  }
  std::ranges::sort(folders);
  for (const fs::path& folder : folders) {
    const std::string name = folder.filename();
    if (!name.starts_with(options.only)) continue;
    const Verdict verdict = InProcess([&]() -> std::string {
      const Status status = options.part == "gradients"
                                ? CheckOnnxGradients(folder, options.engine)
                                : RunNode(folder, options.engine);
      return status.ok() ? "" : status.errors().front().message;
    });
    if (verdict.died) {
      report.Fail(name, verdict.message);
    } else if (verdict.message.empty()) {
      report.Pass(name);
    } else if (verdict.message.starts_with("WRONG: ") && MayDiffer(name)) {
      report.Skip(name, "differs from the reference, as it has to");
    } else if (verdict.message.starts_with("WRONG: ")) {
      report.Fail(name, verdict.message.substr(7));
    } else {
      const size_t node = verdict.message.find("node '");
      report.Skip(name, node == std::string::npos
                            ? verdict.message
                            : verdict.message.substr(node));
    }
  }
  return report.Finish();
}

}  // namespace mxc
