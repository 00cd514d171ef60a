// SPDX-License-Identifier: Apache-2.0
// A net in Caffe's format: a definition (.prototxt), or one with its weights
// (.caffemodel).
#include <algorithm>
#include <utility>

#include "frontend/caffe/importer.h"
#include "frontend/caffe/net.h"
#include "frontend/caffe/weights.h"
#include "frontend/network_file.h"

namespace mxc {
namespace {

class CaffeFile : public NetworkFile {
 public:
  CaffeFile(std::shared_ptr<const NetworkSource> content,
            std::shared_ptr<const caffe::Net> net)
      : NetworkFile(content, net->source), net_(std::move(net)) {}

  Result<Graph> Build(const BuildOptions& options,
                      Diagnostics& notes) const override {
    notes.Append(net_->notes);
    auto graph = caffe::Importer(*net_, options, notes).Run();
    if (graph.ok()) return graph;
    return WithFile(graph.errors());
  }

  // Of a .caffemodel, which has the weights of its layers in it.
  Status ReadParameters() {
    const bool has = std::ranges::any_of(
        net_->net.layer, [](const caffe::LayerParameter& layer) {
          return !layer.blobs.empty();
        });
    if (!has) return Done{};
    MXC_ASSIGN(ParameterArrays arrays,
               caffe::ArraysOf(net_->net, source()->path));
    parameters_ = std::make_shared<const ParameterArrays>(std::move(arrays));
    return Done{};
  }
  std::shared_ptr<const ParameterArrays> parameters() const override {
    return parameters_;
  }

 private:
  // Bytes have no lines that could be quoted.
  Diagnostics WithFile(const Diagnostics& errors) const {
    Diagnostics placed;
    for (Diagnostic error : errors) {
      if (!error.loc.known() && !error.message.starts_with(source()->path)) {
        error.message = source()->path + ": " + error.message;
      }
      placed.push_back(std::move(error));
    }
    return placed;
  }

  std::shared_ptr<const caffe::Net> net_;
  std::shared_ptr<const ParameterArrays> parameters_;
};

bool ClaimsCaffe(const NetworkSource& source) {
  return caffe::IsNetText(source) || caffe::IsSolverText(source) ||
         (source.object() == nullptr && caffe::IsNetBytes(source.bytes()));
}

Result<std::unique_ptr<NetworkFile>> OpenCaffe(
    std::shared_ptr<const NetworkSource> source) {
  if (!caffe::IsNetText(*source) && caffe::IsSolverText(*source)) {
    return Error({}, "{}: a solver, expected the net that it trains",
                 source->path());
  }
  MXC_ASSIGN(auto net, caffe::ReadNet(*source));
  auto file = std::make_unique<CaffeFile>(std::move(source), std::move(net));
  MXC_RETURN_IF_ERROR(file->ReadParameters());
  return std::unique_ptr<NetworkFile>(std::move(file));
}

}  // namespace

extern const Frontend kCaffe;
const Frontend kCaffe = {"Caffe's nets", ClaimsCaffe, OpenCaffe};

}  // namespace mxc
