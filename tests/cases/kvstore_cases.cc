// SPDX-License-Identifier: Apache-2.0
// kvstore: the folder cases/mxnet-kvstore. index.jsonl has a line for each job;
// NAME-RANK.npz holds what a worker pushed and pulled: init_KEY, push_KEY_STEP,
// pull_KEY_STEP. Key 99 is one of 1300 x 1000, of which every row is pushed
// alike (the first is kept) and rows 0, 650, 1299 are kept, every 37th column.
#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "runtime/train/step/artifact_shelf.h"
#include "tests/cases/case_report.h"
#include "tests/cases/cases.h"
#include "tests/cases/kvstore_artifact.h"
#include "tests/cases/kvstore_job.h"
#include "tests/cases/kvstore_module.h"
#include "tests/cases/kvstore_values.h"
#include "tools/run/failure.h"

namespace mxc {
namespace {

using Json = nlohmann::json;
using Values = std::vector<float>;
using Arrays = WorkerArrays;

constexpr int64_t kBigRows = 1300, kBigColumns = 1000;

bool IsBig(const std::string& key) { return key == "99"; }

// A value or a gradient as the job had it, of what is kept of it.
Values Whole(const std::string& key, const Values& kept) {
  if (!IsBig(key)) return kept;
  Values whole;
  for (int64_t i = 0; i < kBigRows * kBigColumns; ++i) {
    whole.push_back(kept[static_cast<size_t>(i) % kept.size()]);
  }
  return whole;
}

Values Kept(const std::string& key, const Values& whole) {
  if (!IsBig(key)) return whole;
  Values kept;
  for (const int64_t row : {0, 650, 1299}) {
    for (int64_t column = 0; column < kBigColumns; column += 37) {
      kept.push_back(whole[static_cast<size_t>(row * kBigColumns + column)]);
    }
  }
  return kept;
}

class StoreCase {
 public:
  StoreCase(const Json& line, const std::string& folder,
            const std::string& artifact)
      : line_(line), artifact_(artifact) {
    for (int rank = 0; rank < line["workers"]; ++rank) {
      workers_.push_back(ReadWorker(fmt::format(
          "{}/{}-{}.npz", folder, std::string(line["name"]), rank)));
    }
    for (const auto& [name, values] : workers_[0]) {
      if (name.starts_with("init_")) names_.push_back(name.substr(5));
    }
  }

  Result<std::string> Run() {
    KvstoreJob job;
    job.servers = line_["servers"];
    job.settings.workers = line_["workers"];
    job.settings.mode =
        run::Take(kvstore::ParseMode(std::string(line_["kind"])));
    if (line_.contains("compression")) {
      job.settings.compression =
          run::Take(kvstore::ParseCompression(fmt::format(
              "{}:threshold={}", std::string(line_["compression"]["type"]),
              double(line_["compression"]["threshold"]))));
    }
    if (line_.contains("optimizer")) {
      MXC_RETURN_IF_ERROR(Compile());
      const auto model = run::Take(runtime::Model::Open(artifact_, {}));
      keys_ = run::Take(train::KeysOf(model->tables()));
      make_shelf_ = [this, model] {
        return std::unique_ptr<kvstore::Shelf>(
            run::Take(train::ArtifactShelf::Make(model, keys_)));
      };
    } else {
      for (const std::string& name : names_) {
        const auto key = static_cast<uint32_t>(keys_.table.size());
        keys_.table.push_back(
            {name, Init(name).size() * sizeof(float), true, key, false});
      }
      make_shelf_ = [this] {
        return std::make_unique<kvstore::PlainShelf>(keys_.table);
      };
    }
    job.make_shelf = make_shelf_;
    job.settings.placement = keys_.placement;
    job.keys = keys_.table;
    job.work = [this](uint32_t rank, kvstore::Worker& worker) {
      return Work(rank, worker);
    };
    return RunKvstoreJob(std::move(job));
  }

 private:
  Values Init(const std::string& name) const {
    return Whole(name, workers_[0].at("init_" + name));
  }

  Status Compile() {
    const TrainingOptions training =
        OptimizerOfJob(line_, /*decay_by_name=*/false);
    Graph network;
    for (const std::string& name : names_) {
      Node* weight = network.AddVariable(name);
      weight->role = VariableRole::kParameter;
      const auto size = static_cast<int64_t>(Init(name).size());
      weight->types[0] = {DType::kF32, Shape{size}};
    }
    MXC_ASSIGN(rate_, LearningRateOf(training));
    return WriteJobArtifact(artifact_, std::move(network), training);
  }

  // What is no parameter begins as the artifact says.
  void InitKeys(kvstore::Worker& worker) const {
    const auto shelf = make_shelf_();
    for (uint32_t key = 0; key < keys_.table.size(); ++key) {
      const kvstore::KeySpec& spec = keys_.table[key];
      if (spec.trained) {
        const Values value = Init(spec.name);
        worker.Init(key, std::as_bytes(std::span(value)));
      } else {
        worker.Init(key, shelf->Value(key));
      }
    }
  }

  std::string Work(uint32_t rank, kvstore::Worker& worker) const {
    if (rank == 0) InitKeys(worker);
    for (const std::string& name : names_) {
      Values value(Init(name).size());
      worker.Pull(KeyOf(name), std::as_writable_bytes(std::span(value)));
      if (!worker.Wait().ok()) break;
    }
    for (int step = 0; step < line_["steps"]; ++step) {
      for (const std::string& name : names_) {
        const std::string wrong = Exchange(rank, step, name, worker);
        if (!wrong.empty()) return wrong;
      }
    }
    return worker.Wait().message();
  }

  std::string Exchange(uint32_t rank, int step, const std::string& name,
                       kvstore::Worker& worker) const {
    const Arrays& own = workers_[rank];
    const std::string place = fmt::format("{}_{}", name, step);
    const Values gradient = Whole(name, own.at("push_" + place));
    Values value(gradient.size());
    worker.Push(KeyOf(name), gradient, rate_);
    worker.Pull(KeyOf(name), std::as_writable_bytes(std::span(value)));
    const kvstore::Status status = worker.Wait();
    if (!status.ok()) return status.message();
    const std::string wrong =
        DifferenceOf(Kept(name, value), own.at("pull_" + place));
    return wrong.empty() ? "" : "pull_" + place + wrong;
  }

  uint32_t KeyOf(const std::string& name) const {
    for (uint32_t key = 0; key < keys_.table.size(); ++key) {
      if (keys_.table[key].name == name) return key;
    }
    throw run::Failure("no key " + name);
  }

  const Json& line_;
  const std::string artifact_;
  std::vector<Arrays> workers_;
  std::vector<std::string> names_;  // of keys, in the order of their pushes
  train::ArtifactKeys keys_;
  std::function<std::unique_ptr<kvstore::Shelf>()> make_shelf_;
  double rate_ = 1;
};

std::string RunCase(const Json& line, const CaseOptions& options) {
  const std::string artifact =
      fmt::format("{}/mxc-kvstore-{}.mxa",
                  std::filesystem::temp_directory_path().string(), getpid());
  std::string wrong;
  try {
    if (line["script"] != "worker.py") {
      wrong = CheckModuleJob(line, options.folder, artifact);
    } else {
      const auto result = StoreCase(line, options.folder, artifact).Run();
      wrong = result.ok() ? *result : result.errors().front().message;
    }
  } catch (const run::Failure& failure) {
    wrong = failure.what();
  }
  std::error_code ignored;
  std::filesystem::remove(artifact, ignored);
  return wrong;
}

}  // namespace

int RunKvstoreCases(const CaseOptions& options) {
  CaseReport report(options.verbose);
  std::ifstream index(options.folder + "/index.jsonl");
  for (std::string text; std::getline(index, text);) {
    const Json line = Json::parse(text);
    const std::string name = line["name"];
    if (!name.starts_with(options.only)) continue;
    if (line.value("optimizer", "") == "dcasgd") {
      report.Skip(name, "MXNet's servers never change a weight by dcasgd");
      continue;
    }
    const std::string wrong = RunCase(line, options);
    if (wrong.empty()) {
      report.Pass(name);
    } else {
      report.Fail(name, wrong);
    }
  }
  return report.Finish();
}

}  // namespace mxc
