// SPDX-License-Identifier: Apache-2.0
// A model in ONNX's format.
#include <filesystem>
#include <utility>

#include "frontend/network_file.h"
#include "frontend/onnx/importer.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/parameters.h"
#include "frontend/protobuf/wire.h"

namespace mxc {
namespace {

using onnx::ModelProto;

class OnnxFile : public NetworkFile {
 public:
  OnnxFile(std::shared_ptr<const NetworkSource> content,
           std::unique_ptr<ModelProto> model, onnx::TensorFiles files)
      : NetworkFile(content, Place(*content)),
        model_(std::move(model)),
        files_(std::move(files)) {}

  Result<Graph> Build(const BuildOptions& options,
                      Diagnostics& notes) const override {
    auto graph = onnx::Importer(*model_, files_, options).Run(notes);
    if (graph.ok()) return graph;
    return WithFile(graph.errors());
  }

  bool binds_inputs() const override { return true; }

  Status ReadParameters() {
    auto arrays = onnx::ReadParameterArrays(*model_, files_);
    if (!arrays.ok()) return WithFile(arrays.errors());
    parameters_ = std::make_shared<const ParameterArrays>(std::move(*arrays));
    return Done{};
  }
  std::shared_ptr<const ParameterArrays> parameters() const override {
    return parameters_;
  }

 private:
  // Without the bytes: no line of them is worth a quotation.
  static std::shared_ptr<const SourceFile> Place(const NetworkSource& content) {
    return std::make_shared<const SourceFile>(SourceFile{content.path(), ""});
  }

  Diagnostics WithFile(const Diagnostics& errors) const {
    Diagnostics placed;
    for (Diagnostic error : errors) {
      error.message = source()->path + ": " + error.message;
      placed.push_back(std::move(error));
    }
    return placed;
  }

  std::unique_ptr<ModelProto> model_;
  onnx::TensorFiles files_;
  std::shared_ptr<const ParameterArrays> parameters_;
};

// The first field of a file is ir_version; field 1 with a small number.
bool ClaimsOnnx(const NetworkSource& source) {
  const auto bytes = source.bytes();
  if (source.path().ends_with(".onnx")) return true;
  if (bytes.size() < 4 || bytes[0] != std::byte{0x08}) return false;
  return protobuf::LooksLike(bytes, ModelProto::Type());
}

Result<std::unique_ptr<NetworkFile>> OpenOnnx(
    std::shared_ptr<const NetworkSource> source) {
  auto model = std::make_unique<ModelProto>();
  const std::string& path = source->path();
  if (const auto error =
          protobuf::ParseWire(source->bytes(), ModelProto::Type(), *model)) {
    return Error({}, "{}: damaged, or no ONNX model: {}", path, *error);
  }
  if (model->graph == nullptr) {
    return Error({}, "{}: no ONNX model: it has no graph", path);
  }
  if (model->ir_version < 3 || model->ir_version > onnx::kNewestIr) {
    return Error({}, "{}: IR version {}, expected 3 to {}", path,
                 model->ir_version, onnx::kNewestIr);
  }
  bool imports = false;
  for (const onnx::OperatorSetIdProto& opset : model->opset_import) {
    if (!opset.domain.empty() && opset.domain != "ai.onnx") continue;
    imports = true;
    if (opset.version < 1 || opset.version > onnx::kNewestOpset) {
      return Error({}, "{}: operators of version {}, expected 1 to {}", path,
                   opset.version, onnx::kNewestOpset);
    }
  }
  if (!imports && model->opset_import.empty()) {
    return Error({}, "{}: the model imports no operators (opset_import)", path);
  }
  onnx::TensorFiles files(source->owner(),
                          std::filesystem::path(path).parent_path().string());
  auto file = std::make_unique<OnnxFile>(std::move(source), std::move(model),
                                         std::move(files));
  MXC_RETURN_IF_ERROR(file->ReadParameters());
  return std::unique_ptr<NetworkFile>(std::move(file));
}

}  // namespace

extern const Frontend kOnnx;
const Frontend kOnnx = {"ONNX", ClaimsOnnx, OpenOnnx};

}  // namespace mxc
