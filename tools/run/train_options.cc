// SPDX-License-Identifier: Apache-2.0
#include "tools/run/train_options.h"

#include <limits>

#include "runtime/kvstore/averaging.h"
#include "runtime/train/best_epoch.h"
#include "runtime/train/metric.h"
#include "runtime/train/scheduler.h"
#include "tools/functions_option.h"
#include "tools/run/session.h"
#include "tools/source_help.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

// Before anything is compiled.
std::string CheckMetrics(const std::string& names) {
  const auto metrics = train::MetricList::Parse(names);
  return metrics.ok() ? "" : metrics.status().message();
}

// All that can be wrong with a schedule but a warm-up that begins above --lr,
// which the rate the network was compiled with may settle.
std::string CheckSchedule(const std::string& text) {
  const auto schedule =
      train::ParseSchedule(text, std::numeric_limits<double>::max(),
                           train::RunLength{int64_t{1} << 40, 1});
  return schedule.ok() ? "" : schedule.status().message();
}

std::string CheckStopRule(const std::string& text) {
  const auto rule = train::ParseStopRule(text);
  return rule.ok() ? "" : rule.status().message();
}

void DeclareData(CLI::App& app, TrainOptions& options) {
  DeclareSamples(app, options.samples);
  app.add_flag("--no-shuffle", options.no_shuffle,
               "take the samples in their order");
  app.add_option("--val", options.validation,
                 "score these after every epoch: of a source that holds "
                 "samples out, those")
      ->type_name("SOURCE");
  app.add_option("--val-opt", options.validation_settings,
                 "an option of --val (repeatable); help: list them; where it "
                 "is not given, that of --data holds if both sources have it "
                 "and it varies nothing at random")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  OfferSourceHelp(app,
                  {{"--data", options.samples.data, options.samples.settings},
                   {"--val", options.validation, options.validation_settings}});
}

void DeclareLoop(CLI::App& app, TrainOptions& options) {
  app.option_defaults()->group("Training");
  train::TrainerOptions& trainer = options.trainer;
  app.add_option("--epochs", trainer.epochs, "in all, resumed ones included")
      ->check(AtLeast(1))
      ->capture_default_str();
  app.add_option("--accumulate", trainer.accumulate,
                 "batches whose gradients are added up for one update, as of a "
                 "batch N times as large; the last update of an epoch may have "
                 "fewer, and takes their mean. Steps, --lr-schedule and "
                 "--save-every count updates; BatchNorm sees each batch by "
                 "itself")
      ->check(AtLeast(1))
      ->type_name("N");
  app.add_option("--ema", trainer.ema,
                 "keep a moving average of parameters and moving statistics: "
                 "after update t it is d of itself and 1-d of them, d being "
                 "the less of D and (1+t)/(10+t). --val scores it, and --save "
                 "writes it as PREFIX-NNNN.ema.params, too")
      ->check(Fraction())
      ->type_name("D");
  app.add_option("--lr", options.learning_rate,
                 "learning rate (default: the one compiled with, else 0.01)")
      ->check(NotNegative());
  app.add_option("--lr-schedule", trainer.schedule,
                 "factor:step=N:factor=F, multifactor:step=A,B:factor=F, "
                 "poly, cosine or onecycle over the run or max_update=N, "
                 "plateau:factor=F:patience=EPOCHS; each but onecycle with "
                 "warmup_steps=N or warmup_epochs=N")
      ->check(CheckSchedule)
      ->type_name("SCHEDULE");
  app.add_option("--metric", options.metrics,
                 "accuracy, top_5, cross-entropy, perplexity:ignore_label=0, "
                 "f1, mcc, mae, mse, rmse, pearsonr, pcc, loss; several "
                 "separated by commas")
      ->check(CheckMetrics)
      ->type_name("METRICS");
  app.add_option(
         "--early-stop", trainer.early_stop,
         "stop when epochs get no better: "
         "patience=EPOCHS, behind it ,metric=NAME and ,min_delta=D; of --val, "
         "if there is one, and of the loss, if no metric is named")
      ->check(CheckStopRule)
      ->type_name("RULE");
  app.add_option("--save", trainer.save,
                 "write checkpoints PREFIX-NNNN.{params,states,mxc} after "
                 "every epoch")
      ->type_name("PREFIX");
  app.add_option("--save-every", trainer.save_every,
                 "and PREFIX-step-NNNN after every N steps")
      ->check(AtLeast(1))
      ->type_name("N");
  app.add_option("--keep", trainer.keep.steps,
                 "how many of the latter to keep (default: 2)")
      ->check(AtLeast(1));
  app.add_option("--keep-epochs", trainer.keep.epochs,
                 "of the checkpoints after epochs keep the newest N (default: "
                 "all)")
      ->check(AtLeast(1))
      ->type_name("N");
  app.add_flag("--resume", trainer.resume,
               "go on from the newest complete checkpoint of --save")
      ->needs("--save");
  app.add_flag("--overwrite", trainer.overwrite,
               "remove what an earlier run has saved under PREFIX; without "
               "it or --resume a run does not begin there");
  app.add_option("--log-dir", trainer.log_folder,
                 "write TensorBoard event files and report.html")
      ->type_name("DIR");
  app.add_flag("--log-norms", trainer.log_norms,
               "and a curve of the norm of each parameter's gradient")
      ->needs("--log-dir");
  app.add_option("--trace", options.trace,
                 "write what each thread did when, for Perfetto (of a job's "
                 "worker N, FILE.N)")
      ->type_name("FILE.json");
  app.add_option("--report-every", options.report_every,
                 "steps between lines of --json")
      ->check(AtLeast(1))
      ->capture_default_str();
}

void DeclareBeginning(CLI::App& app, TrainOptions& options) {
  app.option_defaults()->group("Begin with");
  app.add_option("--params", options.params,
                 "begin with these parameters: .params, .npz, .safetensors")
      ->type_name("FILE");
  app.add_option("--states", options.states,
                 "begin with these states of the optimizer, "
                 "PREFIX-NNNN.states of mxc or MXNet")
      ->type_name("FILE");
  app.add_option("--init", options.init,
                 "begin with new parameters: xavier, msra, …")
      ->type_name("HOW");
}

void DeclareExecution(CLI::App& app, TrainOptions& options) {
  app.option_defaults()->group("Execution");
  app.add_option("--threads", options.threads, "0: one for each processor")
      ->check(Between(0, 512));
  DeclareDevices(app, options.device);
  DeclareJob(app, options.job);
  app.option_defaults()->group("Execution");
  DeclareCheck(app, options.check_weights);
  DeclareFunctions(app);
  options.requirement.Declare(app);
}

}  // namespace

std::string CannotCombine(const Combination& said) {
  if (said.accumulates && !said.device.empty() && said.device != "cpu") {
    return "--accumulate adds gradients up in the memory of the host, and '" +
           said.device + "' keeps them on a GPU; take a larger --batch-size";
  }
  if (!kvstore::ParseRule(said.kvstore)) return "";
  for (const auto& [asked, option] :
       {std::pair(said.accumulates, "--accumulate"),
        std::pair(said.averages, "--ema")}) {
    if (!asked) continue;
    return std::string(option) +
           " is for workers that exchange gradients, and those of --kvstore " +
           said.kvstore + " make updates of their own";
  }
  return "";
}

void DeclareTrain(CLI::App& app, TrainOptions& options, Reporting& reporting) {
  app.add_option("ARTIFACT", options.artifact,
                 "an .mxa file with an entry 'train'")
      ->required();
  DeclareData(app, options);
  DeclareLoop(app, options);
  DeclareBeginning(app, options);
  DeclareExecution(app, options);
  app.option_defaults()->group("Report");
  app.add_flag("--quiet", options.quiet, "say nothing but warnings and errors");
  app.add_flag("--json", reporting.json, "one object a line");
}

}  // namespace mxc::run
