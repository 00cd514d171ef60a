// SPDX-License-Identifier: Apache-2.0
// mxc-run score: how good an artifact is on samples.
#include "runtime/train/score.h"
#include "runtime/base/destination.h"
#include "runtime/base/number_text.h"
#include "runtime/base/visible.h"

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/data/label_names.h"
#include "runtime/data/preprocessing.h"
#include "runtime/fit/samples.h"
#include "runtime/train/checkpoint.h"
#include "runtime/train/initial_states.h"
#include "runtime/train/progress.h"
#include "runtime/train/read_parameters.h"
#include "runtime/train/step/artifact_step.h"
#include "tools/run/class_report.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"
#include "tools/run/predictions.h"
#include "tools/run/session.h"
#include "tools/run/subcommand.h"
#include "tools/run/train_options.h"
#include "tools/signature/requirement.h"
#include "tools/usage/functions_option.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

struct ScoreOptions {
  std::string artifact;
  std::string params;
  std::string metrics;  // empty: what fits the network
  bool by_class = false;
  std::string predictions;  // a file; empty: none
  fit::SampleRequest samples;
  int threads = 0;
  std::string device;
  bool check_weights = true;
  signature::Requirement requirement;
};

// What is known of the samples when all have been scored.
struct Scored {
  train::ScoreResult result;
  train::MetricValues metrics;
  const train::ConfusionMatrix* matrix;  // null: nobody wants it
  std::vector<std::string> names;        // of the classes
};

void Print(const Scored& scored, const Reporting& reporting) {
  const train::ScoreResult& result = scored.result;
  const double rate = static_cast<double>(result.samples) / result.seconds;
  if (reporting.json) {
    std::string classes;
    if (scored.matrix != nullptr) {
      classes =
          ClassesToJson(train::CountsOf(*scored.matrix, scored.names)).dump();
      classes = ", " + classes.substr(1, classes.size() - 2);
    }
    PrintOut(
        "{\"metrics\": %s, \"loss\": %s, \"samples\": %lld, "
        "\"samples_per_s\": %s%s, \"warnings\": %s}\n",
        train::JsonMetrics(scored.metrics).c_str(),
        result.loss ? train::JsonNumber(*result.loss).c_str() : "null",
        static_cast<long long>(result.samples),
        train::JsonNumber(runtime::Measured(rate)).c_str(), classes.c_str(),
        train::JsonTexts(reporting.warnings).c_str());
    return;
  }
  for (const auto& [name, value] : scored.metrics) {
    PrintOut("%-14s %.6g\n", runtime::Visible(name).c_str(), value);
  }
  if (result.loss) PrintOut("%-14s %.6g\n", "loss", *result.loss);
  PrintOut("%-14s %lld   %.0f samples/s\n", "samples",
           static_cast<long long>(result.samples), rate);
  if (scored.matrix == nullptr) return;
  PrintOut("%s",
           ClassTable(train::CountsOf(*scored.matrix, scored.names)).c_str());
}

// Pictures that are prepared otherwise than those that were learned from score
// badly, whatever the network is worth.
void CompareWithTraining(const data::Iterator& samples,
                         const std::string& trained, Reporting& reporting) {
  const auto now = Take(data::ParsePreprocessing(samples.preprocessing()));
  const auto then = Take(data::ParsePreprocessing(trained));
  const std::string said = DescribePreprocessing(now);
  if (now.fit.empty() || then.fit.empty()) return;
  if (now == then) {
    PrintErr("pictures as in training: %s\n", runtime::Visible(said).c_str());
  } else {
    Warn(reporting, "pictures otherwise than in training: " + said +
                        "; then: " + DescribePreprocessing(then));
  }
}

// The metrics that were asked for, else what fits the network.
train::MetricList MetricsFor(const ScoreOptions& options,
                             const std::vector<train::Head>& heads) {
  auto metrics = Take(train::MetricList::Parse(
      options.metrics.empty() ? train::DefaultMetrics(heads)
                              : options.metrics));
  Require(train::RequireFit(metrics, heads));
  return metrics;
}

// Null unless asked for; the list has it as its last one.
const train::ConfusionMatrix* AddMatrix(const ScoreOptions& options,
                                        const std::vector<train::Head>& heads,
                                        train::MetricList& metrics) {
  if (!options.by_class) return nullptr;
  train::MetricList alone;
  alone.Add(std::make_unique<train::ConfusionMatrix>("--by-class"));
  Require(train::RequireFit(alone, heads));
  auto matrix = std::make_unique<train::ConfusionMatrix>();
  const train::ConfusionMatrix* added = matrix.get();
  metrics.Add(std::move(matrix));
  return added;
}

// Parameters in place of the artifact's, and what is known of them.
std::vector<std::string> TakeParameters(ScoreOptions& options,
                                        train::ArtifactStep& step,
                                        Reporting& reporting) {
  if (options.params.empty()) return {};
  if (step.states().empty()) {
    throw Failure("'" + options.artifact +
                  "' was compiled for inference, its parameters are part of "
                  "it; --params needs --entry score");
  }
  for (const std::string& sentence : Take(train::LoadParameters(
           Take(train::ReadParameters(options.params)), step))) {
    Warn(reporting, options.params + ": " + sentence);
  }
  const train::Provenance learned = train::ProvenanceOf(options.params);
  const std::string trained = learned.Note("preprocess");
  if (!trained.empty()) options.samples.trained = trained;
  return Take(data::ParseLabelNames(learned.Note("label_names")));
}

void Score(ScoreOptions options, Reporting& reporting) {
  Take(train::MetricList::Parse(options.metrics));  // before a file is opened
  std::vector<std::string> read = data::FilesOfSource(options.samples.data);
  read.insert(read.end(), {options.artifact, options.params});
  Require(runtime::RequireWritable(options.predictions, read, ".csv"));
  runtime::OpenOptions open;
  open.check_weights = options.check_weights;
  open.approve = Take(options.requirement.Approval());
  const auto step =
      Take(train::ArtifactStep::Open(options.artifact, options.threads, open,
                                     train::Extent::kScoring, options.device));
  const std::vector<train::Head>& heads = step->facts().heads;
  train::MetricList metrics = MetricsFor(options, heads);
  Scored scored;
  scored.matrix = AddMatrix(options, heads, metrics);
  options.samples.trained = step->facts().preprocessing;
  const auto label_names = TakeParameters(options, *step, reporting);
  const auto samples =
      Take(fit::OpenScoring(options.samples, label_names, *step));
  if (!samples->remark().empty()) Warn(reporting, samples->remark());
  CompareWithTraining(*samples, options.samples.trained, reporting);
  scored.names = samples->label_names();
  std::optional<Predictions> predictions;
  if (!options.predictions.empty()) {
    predictions.emplace(options.predictions, options.samples.data, heads,
                        scored.names);
  }
  scored.result = Take(train::ScoreAll(*step, *samples, metrics,
                                       predictions ? &*predictions : nullptr));
  if (predictions) Require(predictions->Commit());
  const data::BadRecords& bad = samples->bad_records();
  for (const std::string& sentence : bad.sentences) {
    Warn(reporting, "skipped: " + sentence);
  }
  for (const std::string& warning : scored.result.warnings) {
    Warn(reporting, warning);
  }
  scored.metrics = train::ValuesOf(metrics);
  if (scored.matrix != nullptr) scored.metrics.pop_back();
  Print(scored, reporting);
}

}  // namespace

Command AddScore(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<ScoreOptions>();
  app.add_option(
         "ARTIFACT", options->artifact,
         "an .mxa file with an entry 'score'; without one 'infer' does, "
         "which reports no loss")
      ->required();
  DeclareSamples(app, options->samples);
  app.add_option("--metric", options->metrics,
                 "as those of train; several separated by commas (default: "
                 "accuracy of classes, rmse of values)")
      ->type_name("METRICS");
  app.add_flag("--by-class", options->by_class,
               "also precision, recall and F1 of each class, and which classes "
               "are taken for which");
  app.add_option("--predictions", options->predictions,
                 "write what the network says of each sample, one line each")
      ->type_name("FILE.csv");
  app.add_option("--params", options->params,
                 "score these parameters (.params, .npz, .safetensors) instead "
                 "of the artifact's")
      ->type_name("FILE");
  app.add_option("--threads", options->threads, "0: one for each processor")
      ->check(Between(0, 512));
  DeclareDevice(app, options->device);
  DeclareCheck(app, options->check_weights);
  DeclareFunctions(app);
  options->requirement.Declare(app);
  app.footer(
      Footer("  mxc score net.mxa --data digits --metric accuracy,top_5\n"
             "  mxc score net.mxa --data folder:photos \\\n"
             "      --data-opt data_shape=3,224,224\n"));
  app.add_flag("--json", reporting.json, "print one JSON object");
  return [options, &reporting] { Score(*options, reporting); };
}

}  // namespace mxc::run
