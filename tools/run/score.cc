// SPDX-License-Identifier: Apache-2.0
// mxc-run score: how good an artifact is on samples.
#include "runtime/train/score.h"
#include "runtime/base/visible.h"

#include <cstdio>
#include <memory>
#include <string>

#include "runtime/data/label_names.h"
#include "runtime/data/preprocessing.h"
#include "runtime/train/checkpoint.h"
#include "runtime/train/progress.h"
#include "runtime/train/read_parameters.h"
#include "runtime/train/snapshot.h"
#include "tools/functions_option.h"
#include "tools/run/artifact_step.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"
#include "tools/run/samples.h"
#include "tools/run/session.h"
#include "tools/run/subcommand.h"
#include "tools/signature/requirement.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

struct ScoreOptions {
  std::string artifact;
  std::string params;
  std::string metrics = "accuracy";
  SampleOptions samples;
  int threads = 0;
  std::string device;
  bool check_weights = true;
  signature::Requirement requirement;
};

void Print(const train::ScoreResult& result, const train::MetricValues& values,
           const Reporting& reporting) {
  const double rate = static_cast<double>(result.samples) / result.seconds;
  if (reporting.json) {
    PrintOut(
        "{\"metrics\": %s, \"loss\": %s, \"samples\": %lld, "
        "\"samples_per_s\": %s, \"warnings\": %s}\n",
        train::JsonMetrics(values).c_str(),
        train::JsonNumber(result.loss).c_str(),
        static_cast<long long>(result.samples), train::JsonNumber(rate).c_str(),
        train::JsonTexts(reporting.warnings).c_str());
    return;
  }
  for (const auto& [name, value] : values) {
    PrintOut("%-14s %.6g\n", runtime::Visible(name).c_str(), value);
  }
  PrintOut("%-14s %.6g\n%-14s %lld   %.0f samples/s\n", "loss", result.loss,
           "samples", static_cast<long long>(result.samples), rate);
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

void Score(ScoreOptions options, Reporting& reporting) {
  auto metrics = Take(train::MetricList::Parse(options.metrics));
  runtime::OpenOptions open;
  open.check_weights = options.check_weights;
  open.approve = Take(options.requirement.Approval());
  const auto step = Take(ArtifactStep::Open(
      options.artifact, options.threads, open, Extent::kWhole, options.device));
  options.samples.trained = step->facts().preprocessing;
  std::vector<std::string> label_names;
  if (!options.params.empty()) {
    Require(train::LoadParameters(Take(train::ReadParameters(options.params)),
                                  *step));
    const train::Provenance learned = train::ProvenanceOf(options.params);
    const std::string trained = learned.Note("preprocess");
    if (!trained.empty()) options.samples.trained = trained;
    label_names = Take(data::ParseLabelNames(learned.Note("label_names")));
  }
  const auto samples = OpenScoring(options.samples, label_names, *step);
  CompareWithTraining(*samples, options.samples.trained, reporting);
  const train::ScoreResult result =
      Take(train::ScoreAll(*step, *samples, metrics));
  const data::BadRecords& bad = samples->bad_records();
  for (const std::string& sentence : bad.sentences) {
    Warn(reporting, "skipped: " + sentence);
  }
  for (const std::string& warning : result.warnings) Warn(reporting, warning);
  Print(result, train::ValuesOf(metrics), reporting);
}

}  // namespace

Command AddScore(CLI::App& app, Reporting& reporting) {
  const auto options = std::make_shared<ScoreOptions>();
  app.add_option("ARTIFACT", options->artifact,
                 "an .mxa file with an entry 'score'")
      ->required();
  DeclareSamples(app, options->samples);
  app.add_option("--metric", options->metrics,
                 "as those of train; several separated by commas")
      ->capture_default_str()
      ->type_name("METRICS");
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
