// SPDX-License-Identifier: Apache-2.0
#include "runtime/fit/fit.h"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "runtime/base/joined.h"
#include "runtime/base/trace.h"
#include "runtime/fit/beginning.h"
#include "runtime/fit/outputs.h"
#include "runtime/fit/samples.h"
#include "runtime/train/checkpoint_files.h"
#include "runtime/train/judge.h"

namespace mxc::fit {
namespace {

bool HasEntry(const runtime::Model& model, uint32_t kind) {
  return std::ranges::any_of(
      model.tables().entries(),
      [&](const mxc_entry& entry) { return entry.kind == kind; });
}

void ReportBadRecords(const data::Iterator& samples,
                      train::Reporter& reporter) {
  const data::BadRecords& bad = samples.bad_records();
  if (bad.count == 0) return;
  constexpr size_t kShown = 3;
  // One that is met again in the next epoch, or in another's place, counts
  // again.
  std::string text = bad.count == 1 ? "1 damaged record was skipped"
                                    : "damaged records were skipped " +
                                          std::to_string(bad.count) + " times";
  const char* separator = ": ";
  const size_t shown = std::min(kShown, bad.sentences.size());
  for (const std::string& sentence : std::span(bad.sentences).first(shown)) {
    text += std::exchange(separator, "; ") + sentence;
  }
  if (bad.count > static_cast<int64_t>(shown)) text += "; and others";
  reporter.Warn(text);
}

}  // namespace

StatusOr<std::unique_ptr<Fit>> Fit::Open(Given given, Request request) {
  std::unique_ptr<Fit> fit(new Fit(std::move(given), std::move(request)));
  MXC_RT_RETURN_IF_ERROR(fit->ReadStages());
  MXC_RT_RETURN_IF_ERROR(fit->OpenJob());
  if (fit->serves()) return fit;
  MXC_RT_RETURN_IF_ERROR(fit->OpenStep());
  const Status opened = fit->OpenSamples();
  if (opened.ok()) return fit;
  if (fit->worker_ != nullptr) fit->worker_->Abort(opened.message());
  return opened;
}

Fit::~Fit() = default;

Status Fit::OpenJob() {
  MXC_RT_ASSIGN(job_, job::Job::OfEnvironment());
  request_.job.accumulate = request_.trainer.accumulate;
  request_.job.pipeline = stages_->size() > 1;
  request_.job.shards_states |= request_.job.shards_parameters;
  const std::string cannot =
      CannotCombine({request_.trainer.accumulate > 1, request_.trainer.ema > 0,
                     request_.device, job_ ? request_.job.kvstore : "",
                     request_.job.shards_states, request_.job.shards_parameters,
                     request_.trainer.saves_pieces, request_.trainer.save_caffe,
                     static_cast<int>(stages_->size())});
  if (!cannot.empty()) return {StatusCode::kInvalidArgument, cannot};
  if (!job_ || !job_->hosts) return {};
  MXC_RT_ASSIGN(server_,
                job::ServerBeside::Start(*job_, [this](const job::Job& server) {
                  return job::ServeJob(server, request_.job, *stages_);
                }));
  return {};
}

// Several devices, where one process has them.
Status Fit::OpenGroup() {
  MXC_RT_ASSIGN(const std::vector<std::string> devices,
                train::DeviceList(request_.device));
  if (given_.share != nullptr) {
    return Fail(StatusCode::kUnsupported,
                "several devices have states of their own, and cannot share "
                "an executor's");
  }
  MXC_RT_ASSIGN(group_,
                train::GroupStep::Bound(given_.model, given_.path, devices));
  trained_ = group_.get();
  return SettleTrainer();
}

Status Fit::ReadStages() {
  train::Models models = {given_.model};
  models.insert(models.end(), given_.later.begin(), given_.later.end());
  auto stages = train::StageSet::Of(std::move(models));
  if (stages.ok()) {
    stages_.emplace(std::move(*stages));
    return {};
  }
  if (given_.path.empty()) return stages.status();
  return Fail(stages.status().code(), "%s: %s", given_.path.c_str(),
              stages.status().message().c_str());
}

// All of them here.
Status Fit::OpenStages() {
  MXC_RT_ASSIGN(staged_, train::StagedStep::Bound(*stages_, given_.path,
                                                  request_.threads));
  trained_ = staged_.get();
  return SettleTrainer();
}

// One of them here, in a job.
Status Fit::OpenPipeline() {
  if (job_->workers != stages_->size()) {
    return Fail(StatusCode::kInvalidArgument,
                "the network is cut into %zu stages, and the job has %u "
                "workers: each is a stage, so mxc launch --workers %zu",
                stages_->size(), job_->workers, stages_->size());
  }
  if (request_.trainer.save_caffe) {
    return Fail(StatusCode::kUnsupported,
                "--save-caffe writes what one process keeps, and in a job each "
                "stage keeps its own");
  }
  MXC_RT_ASSIGN(step_, train::ArtifactStep::Bound(
                           stages_->models()[job_->rank],
                           {.path = given_.path,
                            .threads = request_.threads,
                            .facts = stages_->FactsFor(job_->rank)}));
  trained_ = step_.get();
  MXC_RT_RETURN_IF_ERROR(SettleTrainer());
  Follow();
  MXC_RT_ASSIGN(worker_,
                job::JobWorker::Make(*job_, request_.job, *stages_, *step_));
  trained_ = &worker_->step();
  return {};
}

Status Fit::OpenStep() {
  if (stages_->size() > 1) return job_ ? OpenPipeline() : OpenStages();
  const bool several = request_.device.find(',') != std::string::npos;
  if (several && !job_) return OpenGroup();
  // Some networks were compiled for steps in two parts alone.
  const bool accumulates = request_.trainer.accumulate > 1 ||
                           (!HasEntry(*given_.model, MXC_ENTRY_TRAIN) &&
                            HasEntry(*given_.model, MXC_ENTRY_GRAD));
  const bool gradients = job_ ? !request_.job.averages() : accumulates;
  train::ArtifactStep::BindOptions bound = {
      .path = given_.path,
      .device = request_.device,
      .threads = request_.threads,
      .extent = gradients ? train::Extent::kGradients : train::Extent::kWhole,
      .share = given_.share};
  if (job_ && request_.job.shards_parameters) {
    MXC_RT_RETURN_IF_ERROR(CutParameters());
    bound.filled = [this](size_t state, std::span<std::byte> value) {
      own_->Cut(state, value);
    };
  }
  MXC_RT_ASSIGN(step_, train::ArtifactStep::Bound(given_.model, bound));
  MXC_RT_RETURN_IF_ERROR(train::CheckReplicas(*given_.model, 1));
  trained_ = step_.get();
  MXC_RT_RETURN_IF_ERROR(SettleTrainer());
  if (job_) {
    LeaveToFirst();
    MXC_RT_ASSIGN(worker_,
                  job::JobWorker::Make(*job_, request_.job, *stages_, *step_,
                                       own_ ? &*own_ : nullptr));
    trained_ = &worker_->step();
  } else if (accumulates) {
    MXC_RT_ASSIGN(accumulating_, train::AccumulatingStep::Make(*step_));
    trained_ = accumulating_.get();
  }
  return {};
}

Status Fit::CutParameters() {
  if (given_.share != nullptr) {
    return Fail(StatusCode::kUnsupported,
                "workers that share parameters have a part of them each, and "
                "an executor that trains in its own states has all");
  }
  MXC_RT_ASSIGN(own_, job::OwnParts::Of(*given_.model, job_->rank,
                                        job_->workers, request_.job.cut_from));
  return {};
}

Status Fit::SettleTrainer() {
  train::TrainerOptions& trainer = request_.trainer;
  trainer.saves_pieces = trainer.saves_pieces && job_ && !trainer.save.empty();
  const train::TrainFacts& facts = trained_->facts();
  trainer.learning_rate = request_.learning_rate;
  if (!trainer.learning_rate &&
      trainer.schedule.find("base_lr=") == std::string::npos) {
    trainer.learning_rate = facts.learning_rate;
  }
  const SampleRequest& samples = request_.samples;
  trainer.settings = {{"seed", std::to_string(samples.seed)}};
  const auto add = [&](const char* name, const std::string& text) {
    if (!text.empty()) trainer.settings.emplace_back(name, text);
  };
  add("data_options", runtime::Joined(samples.settings, " "));
  add("order", request_.no_shuffle ? "as given" : "shuffled");
  add("begins_with", request_.params.empty() ? request_.init : request_.params);
  add("device", request_.device);
  trainer.samples = {.source = samples.data,
                     .options = samples.settings,
                     .seed = samples.seed,
                     .shuffled = !request_.no_shuffle,
                     .batch = 0,
                     .summary = ""};
  trainer.stop_at_bad_label = samples.on_bad_record == "stop";
  trainer.metrics = request_.metrics.empty()
                        ? train::DefaultMetrics(facts.heads)
                    : request_.metrics == kNoMetrics ? ""
                                                     : request_.metrics;
  trainer.metrics_may_fail = request_.metrics.empty() && !trainer.add_metrics;
  MXC_RT_ASSIGN(const train::MetricList metrics,
                train::MetricList::Parse(trainer.metrics));
  return train::RequireFit(metrics, facts.heads);
}

// Workers share the samples. Worker 0 speaks, validates and saves for all;
// another saves what it alone keeps. Where they share parameters, none can
// validate without the others, and each reads what worker 0 has saved.
void Fit::LeaveToFirst() {
  train::TrainerOptions& trainer = request_.trainer;
  trainer.worker = job_->rank;
  trainer.workers = job_->workers;
  request_.samples.worker = job_->rank;
  request_.samples.workers = job_->workers;
  trainer.resume = trainer.resume || (job_->resumes && !trainer.save.empty());
  trainer.settings.emplace_back("kvstore", request_.job.kvstore);
  if (own_ || trainer.saves_pieces) trainer.shared = trainer.save;
  if (job_->rank == 0) return;
  if (!trainer.save.empty()) {
    trainer.save = train::WorkerPrefix(trainer.save, job_->rank);
  }
  trainer.log_folder.clear();
  if (!request_.trace.empty()) {
    request_.trace += "." + std::to_string(job_->rank);
  }
  if (!own_) request_.validation.clear();
}

// Stages read the same samples and score them together. Worker 0 writes for all.
void Fit::Follow() {
  train::TrainerOptions& trainer = request_.trainer;
  trainer.resume = trainer.resume || (job_->resumes && !trainer.save.empty());
  trainer.settings.emplace_back("stages", std::to_string(stages_->size()));
  if (job_->rank == 0) return;
  trainer.follows = true;
  trainer.log_folder.clear();
  if (!request_.trace.empty()) {
    request_.trace += "." + std::to_string(job_->rank);
  }
}

Status Fit::CheckOutputs() const {
  const auto wrong = UnwritableOf(request_, given_.path);
  if (wrong.empty()) return {};
  return {StatusCode::kInvalidArgument, runtime::Joined(wrong, "; ")};
}

Status Fit::OpenSamples() {
  MXC_RT_RETURN_IF_ERROR(CheckOutputs());
  MXC_RT_ASSIGN(samples_, OpenTraining(request_.samples, !request_.no_shuffle,
                                       *trained_));
  return OpenValidation();
}

// Of the options for what is trained on those hold that the source has, too.
Status Fit::OpenValidation() {
  if (request_.validation.empty()) return {};
  SampleRequest scored = request_.samples;
  scored.data = request_.validation;
  scored.arrays = request_.validation_arrays;
  scored.offered = std::move(scored.settings);
  scored.settings = request_.validation_settings;
  MXC_RT_ASSIGN(validation_,
                OpenScoring(scored, samples_->label_names(), *trained_));
  return {};
}

StatusOr<train::TrainResult> Fit::Run(train::Reporter& reporter) {
  if (serves()) {
    MXC_RT_RETURN_IF_ERROR(job::ServeJob(*job_, request_.job, *stages_));
    return train::TrainResult();
  }
  auto result = Train(reporter);
  if (!result.ok()) {
    if (worker_ != nullptr) worker_->Abort(result.status().message());
    return result;
  }
  if (worker_ != nullptr) MXC_RT_RETURN_IF_ERROR(worker_->Finish());
  if (server_ != nullptr) MXC_RT_RETURN_IF_ERROR(server_->Await());
  return result;
}

StatusOr<train::TrainResult> Fit::Train(train::Reporter& reporter) {
  MXC_RT_RETURN_IF_ERROR(PrepareStates(request_, *trained_, reporter));
  for (const data::Iterator* opened : {samples_.get(), validation_.get()}) {
    if (opened == nullptr || opened->remark().empty() || !speaks()) continue;
    reporter.Warn(opened->remark());
  }
  if (worker_ != nullptr && !worker_->remark().empty() && speaks()) {
    reporter.Say(worker_->remark());
  }
  trainer_.emplace(*trained_, *samples_, validation_.get(), reporter,
                   request_.trainer);
  auto result = RunLoop();
  if (result.ok()) ReportBadRecords(*samples_, reporter);
  return result;
}

// The loop, recorded where somebody wants to see it; also what was recorded of
// a run that failed.
StatusOr<train::TrainResult> Fit::RunLoop() {
  if (request_.trace.empty()) return trainer_->Run();
  runtime::Trace::NameThread("training loop");
  runtime::Trace::Start();
  auto result = trainer_->Run();
  runtime::Trace::Stop();
  const auto rank = static_cast<int>(request_.trainer.worker);
  MXC_RT_RETURN_IF_ERROR(runtime::Trace::WriteFile(
      request_.trace,
      runtime::Trace::Events(rank + 1,
                             "mxc train, worker " + std::to_string(rank))));
  return result;
}

}  // namespace mxc::fit
