// SPDX-License-Identifier: Apache-2.0
#include "tools/saved_series.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

#include "codegen/artifact/states.h"
#include "frontend/frontend.h"
#include "runtime/job/job.h"
#include "runtime/train/sample_facts.h"
#include "runtime/train/snapshot.h"
#include "runtime/train/unread_sets.h"
#include "tools/driver/class_head.h"
#include "tools/driver/manifest.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

// What mxc-run will read from the artifact's manifest.
train::TrainFacts FactsOf(const CompileRequest& request, const Plan& plan) {
  train::TrainFacts facts;
  facts.parameters = plan.parameter_names;
  facts.auxiliaries = plan.auxiliary_names;
  for (const auto& [key, value] : MakeManifest(request, plan)) {
    if (key == "optimizer_state") facts.optimizer_state = value;
    if (key == "copied_state") facts.copied_state = value;
  }
  return facts;
}

Result<std::vector<data::Field>> StatesOf(const Plan& plan) {
  MXC_ASSIGN(const StateTable table, StateTable::Collect(plan.programs));
  std::vector<data::Field> states;
  for (const StateTable::Row& row : table.rows()) {
    const TensorType& type = row.buffer->type;
    const auto dims = type.shape.dims();
    states.push_back({row.buffer->name,
                      static_cast<data::ElementType>(type.dtype),
                      std::vector<int64_t>(dims.begin(), dims.end())});
  }
  return states;
}

// "; --classes 3 …" where the checkpoint tells another number of classes apart.
std::string OtherClasses(const train::Checkpoint& checkpoint,
                         const CompileRequest& request,
                         const LoadedNetwork& network) {
  Result<Model> model = network.Draft(request.First());
  if (!model.ok() || !InferTypes(model->graph, /*complete=*/false).ok()) {
    return "";
  }
  const auto head = FindClassHead(model->graph);
  if (!head.ok()) return "";
  for (const runtime::NamedArray& saved : checkpoint.parameters) {
    const std::string name(runtime::OwnName(saved.name));
    const auto& shape = saved.array.shape;
    if (!head->parameters.contains(name) || shape.empty()) continue;
    if (shape[0] == head->classes) return "";
    return fmt::format("; it tells {0} classes apart: --classes {0}", shape[0]);
  }
  return "";
}

// mxc-run knows which of several runs is meant; the sets of one are alike.
bool AreOfOneRun(const std::string& prefix, const std::string& run) {
  const auto sets = train::SetsOf(prefix);
  return sets.ok() &&
         std::ranges::all_of(*sets, [&](const train::CheckpointName& name) {
           return train::RunOf(name.Path("mxc")) == run;
         });
}

// Nothing where no checkpoint is taken up, or mxc-run decides which one. A
// job's workers share the states.
std::optional<train::CheckpointName> ResumedFrom(const SavedSeries& series) {
  if (series.prefix.empty() || !series.resume || job::InJob()) return {};
  const auto newest = train::FindNewestComplete(series.prefix);
  if (!newest.ok() || !newest->has_value()) return {};
  if (!AreOfOneRun(series.prefix, (*newest)->run)) return {};
  return (*newest)->name;
}

// mxc-run knows which run is meant, and judges sets of others.
Status RequireRead(const SavedSeries& series) {
  if (job::InJob()) return Done{};
  const auto newest = train::FindNewestComplete(series.prefix);
  if (!newest.ok()) return UnplacedError(newest.status().message());
  train::Position reached;
  if (newest->has_value()) reached = {(*newest)->step, (*newest)->epoch};
  const auto unread = train::FindUnreadSets(series.prefix, reached, "", 0);
  if (!unread.ok()) return UnplacedError(unread.status().message());
  const train::Status read = train::RequireNoUnreadSets(*unread, *newest);
  if (!read.ok()) return UnplacedError(read.message());
  return Done{};
}

}  // namespace

// What else may be wrong with the folder others will say.
Result<runtime::FileLock> LockSeries(const SavedSeries& series) {
  if (series.prefix.empty() || (job::InJob() && !job::SpeaksForJob())) {
    return runtime::FileLock();
  }
  auto lock = runtime::FileLock::Take(train::LockPath(series.prefix));
  if (lock.ok()) return std::move(*lock);
  if (lock.status().code() != runtime::StatusCode::kBusy) {
    return runtime::FileLock();
  }
  return UnplacedError(lock.status().message() +
                       ": another training saves under the same --save");
}

Status RequireRoom(const SavedSeries& series) {
  if (series.prefix.empty() || series.overwrite) return Done{};
  if (series.resume) return RequireRead(series);
  const train::Status room = train::RequireNoSeries(series.prefix);
  if (!room.ok()) return UnplacedError(room.message());
  return Done{};
}

Status RequireStates(const SavedSeries& series, const CompileRequest& request,
                     const Plan& plan) {
  const auto resumed = ResumedFrom(series);
  if (!resumed) return Done{};
  const auto checkpoint = train::ReadCheckpoint(*resumed);
  if (!checkpoint.ok()) return UnplacedError(checkpoint.status().message());
  MXC_ASSIGN(const auto states, StatesOf(plan));
  const train::Status same =
      train::RequireStates(*checkpoint, FactsOf(request, plan), states);
  if (same.ok()) return Done{};
  return UnplacedError(resumed->Path("mxc") + ": " + same.message() +
                       OtherClasses(*checkpoint, request, *plan.network));
}

Status RequireSamples(const SavedSeries& series, const DataRequest& request,
                      data::Iterator& samples) {
  const auto resumed = ResumedFrom(series);
  if (!resumed) return Done{};
  const train::Provenance saved = train::ProvenanceOf(resumed->Path("params"));
  // A job dealt the samples otherwise; mxc-run knows what follows from it.
  if (!saved.problem.empty() || !saved.Note("workers").empty()) return Done{};
  const train::SampleFacts now = {.source = request.source,
                                  .options = request.settings,
                                  .seed = request.seed,
                                  .shuffled = request.shuffle,
                                  .batch = request.batch_size,
                                  .summary = samples.summary()};
  const auto cursor = data::ParseCursor(saved.Note("cursor"));
  if (!cursor.ok()) return Done{};
  const data::Status same = samples.Seek(*cursor);
  if (same.ok()) return Done{};
  const std::string others = train::OtherSamples(saved.Note("samples"), now);
  return UnplacedError(resumed->Path("mxc") + ": " +
                       train::ExplainSeek(same, others).message());
}

Result<std::shared_ptr<const ParameterFile>> FirstParameters(
    const NetworkRequest& network, const SavedSeries& series, bool anew) {
  if (!network.params.empty() || network.epoch) return ParametersFor(network);
  ParameterFile none;
  if (!series.prefix.empty() && series.resume) {
    const auto newest = train::FindNewestComplete(series.prefix);
    if (newest.ok() && newest->has_value()) {
      none.provenance = train::ProvenanceOf((*newest)->name.Path("params"));
    }
    return std::make_shared<const ParameterFile>(std::move(none));
  }
  if (anew) return std::make_shared<const ParameterFile>(std::move(none));
  if (series.prefix.empty()) return ParametersFor(network);
  const auto whole = [](const std::string& path) {
    return std::filesystem::absolute(path).lexically_normal().string();
  };
  const auto beside = ParameterFilesBeside(network.model);
  const bool replaced = std::ranges::any_of(beside, [&](const auto& file) {
    return whole(file.second).starts_with(whole(series.prefix) + "-");
  });
  if (!series.overwrite || !replaced) return ParametersFor(network);
  return std::make_shared<const ParameterFile>(std::move(none));
}

}  // namespace mxc
