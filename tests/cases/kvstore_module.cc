// SPDX-License-Identifier: Apache-2.0
#include "tests/cases/kvstore_module.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <vector>

#include "frontend/frontend.h"
#include "runtime/job/distributed_step.h"
#include "runtime/train/step/artifact_shelf.h"
#include "tests/cases/kvstore_artifact.h"
#include "tests/cases/kvstore_job.h"
#include "tests/cases/kvstore_values.h"
#include "tools/run/failure.h"

namespace mxc {
namespace {

using Json = nlohmann::json;

constexpr int64_t kModuleBatch = 16, kModuleWidth = 64;
constexpr const char* kModuleNetwork = R"({"mxc": 1, "name": "module",
  "inputs": {"data": ["N", 64]},
  "nodes": [
    {"op": "FullyConnected", "name": "fc1", "num_hidden": 32},
    {"op": "Activation", "name": "tanh1", "act_type": "tanh"},
    {"op": "FullyConnected", "name": "fc2", "num_hidden": 10},
    {"op": "SoftmaxOutput", "name": "softmax"} ] })";

runtime::NamedArray RowsOf(const std::string& name,
                           const std::vector<float>& values, int step,
                           std::vector<int64_t> shape) {
  auto array = run::Take(
      runtime::Array::Allocate(runtime::ElementType::kF32, std::move(shape)));
  const size_t count = array.bytes().size() / sizeof(float);
  std::memcpy(array.bytes().data(),
              values.data() + static_cast<size_t>(step) * count,
              array.bytes().size());
  return {name, array};
}

class ModuleJob {
 public:
  ModuleJob(const Json& line, const std::string& folder,
            const std::string& artifact)
      : line_(line), artifact_(artifact) {
    for (int rank = 0; rank < line["workers"]; ++rank) {
      workers_.push_back(ReadWorker(fmt::format(
          "{}/{}-{}.npz", folder, std::string(line["name"]), rank)));
    }
  }

  Result<std::string> Run() {
    MXC_RETURN_IF_ERROR(Compile());
    const auto model = run::Take(runtime::Model::Open(artifact_, {}));
    keys_ = run::Take(train::KeysOf(model->tables()));
    KvstoreJob job;
    job.servers = line_["servers"];
    job.keys = keys_.table;
    job.settings.workers = line_["workers"];
    job.settings.placement = keys_.placement;
    job.settings.mode =
        run::Take(kvstore::ParseMode(std::string(line_["kind"])));
    job.make_shelf = [this, model] {
      return std::unique_ptr<kvstore::Shelf>(
          run::Take(train::ArtifactShelf::Make(model, keys_)));
    };
    job.work = [this](uint32_t rank, kvstore::Worker& worker) {
      return Work(rank, worker);
    };
    return RunKvstoreJob(std::move(job));
  }

 private:
  Status Compile() {
    TrainingOptions training = OptimizerOfJob(line_, /*decay_by_name=*/true);
    training.optimizer_attrs.emplace_back(
        "rescale_grad", fmt::format("{}", workers_[0].at("rescale")[0]));
    MXC_ASSIGN(rate_, LearningRateOf(training));
    LoadOptions load;
    load.read_parameters = false;
    load.input_shapes = {{"data", {kModuleBatch, kModuleWidth}},
                         {"softmax_label", {kModuleBatch}}};
    MXC_ASSIGN(Model model, LoadText(std::make_shared<SourceFile>(SourceFile{
                                         "module.json", kModuleNetwork}),
                                     load));
    MXC_RETURN_IF_ERROR(InferTypes(model.graph, /*complete=*/false));
    for (Node* node : model.graph.Variables(VariableRole::kParameter)) {
      node->constant = Tensor::FromFloats(node->types[0].shape,
                                          workers_[0].at("init_" + node->name));
      node->types[0] = node->constant.type();
    }
    return WriteJobArtifact(artifact_, std::move(model.graph), training,
                            "softmax_label");
  }

  std::string Work(uint32_t rank, kvstore::Worker& worker) const {
    const auto own = run::Take(
        train::ArtifactStep::Open(artifact_, 1, {}, train::Extent::kGradients));
    job::DistributedStep step(*own, keys_, worker, rank);
    const WorkerArrays& arrays = workers_[rank];
    const auto steps =
        static_cast<int>(arrays.at("label").size() / size_t{kModuleBatch});
    (void)run::Take(step.Begin({}, [&](int64_t) { return steps; }));
    for (int i = 0; i < steps; ++i) {
      data::Batch batch;
      batch.data = {
          RowsOf("data", arrays.at("data"), i, {kModuleBatch, kModuleWidth})};
      batch.labels = {
          RowsOf("softmax_label", arrays.at("label"), i, {kModuleBatch})};
      run::Take(step.Train(batch, 0, rate_));
      const std::string wrong = CheckStep(arrays, i, step);
      if (!wrong.empty()) return fmt::format("step {}: {}", i + 1, wrong);
    }
    return "";
  }

  static std::string CheckStep(const WorkerArrays& arrays, int step,
                               job::DistributedStep& trained) {
    const auto output = trained.outputs().front();
    const size_t classes = output.values.size() / size_t{kModuleBatch};
    double loss = 0;
    for (size_t row = 0; row < size_t{kModuleBatch}; ++row) {
      const float label = arrays.at(
          "label")[static_cast<size_t>(step) * size_t{kModuleBatch} + row];
      loss -= std::log(
          double(output.values[row * classes + static_cast<size_t>(label)]));
    }
    const auto number = std::to_string(step + 1);
    std::string wrong =
        DifferenceOf({static_cast<float>(loss / double(kModuleBatch))},
                     arrays.at("loss_" + number));
    if (!wrong.empty()) return "loss" + wrong;
    for (size_t i = 0; i < trained.states().size(); ++i) {
      const std::string& name = trained.states()[i].name;
      const auto want = arrays.find(name + "_" + number);
      if (want == arrays.end()) continue;
      const auto bytes = trained.State(i);
      std::vector<float> got(bytes.size() / sizeof(float));
      std::memcpy(got.data(), bytes.data(), bytes.size());
      wrong = DifferenceOf(got, want->second);
      if (!wrong.empty()) return name + wrong;
    }
    return "";
  }

  const Json& line_;
  const std::string artifact_;
  std::vector<WorkerArrays> workers_;
  train::ArtifactKeys keys_;
  double rate_ = 0;
};

}  // namespace

std::string CheckModuleJob(const Json& line, const std::string& folder,
                           const std::string& artifact) {
  const auto result = ModuleJob(line, folder, artifact).Run();
  return result.ok() ? *result : result.errors().front().message;
}

}  // namespace mxc
