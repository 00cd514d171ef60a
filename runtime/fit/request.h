// SPDX-License-Identifier: Apache-2.0
// What is asked of a training. The names are those of `mxc train`'s options.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "runtime/data/iterator.h"
#include "runtime/fit/fields.h"
#include "runtime/job/job_options.h"
#include "runtime/train/trainer.h"

namespace mxc::fit {

struct SampleRequest {
  std::string data;                   // a source: "digits", "folder:photos"
  std::vector<std::string> settings;  // of the source: k=v
  std::vector<std::string> offered;   // data::IteratorOptions::offered
  std::shared_ptr<const data::Arrays> arrays;  // of the source "arrays"
  std::string on_bad_record = "skip";
  uint64_t seed = 0;
  int threads = 1;  // that read ahead
  // As data::IteratorOptions; of what is trained on alone.
  int64_t worker = 0, workers = 1;
  // data::Iterator::preprocessing of the parameters; empty: as the step says.
  std::string trained;

  template <class Fields>
  void Describe(Fields& f) {
    f.Group("Data");
    f.Text("data", data, "SOURCE",
           "where the samples come from:\n" + data::SourcesHelp());
    f.List("data-opt", settings, "NAME=VALUE",
           "an option of the source (repeatable); help: list them");
    f.Choice("on-bad-record", on_bad_record, {"skip", "stop"},
             "what to do about damaged records, values that are no number, and "
             "labels that are no class (skip: they are told)");
    f.Number("seed", seed, kAtLeast0,
             "of shuffling, augmentation, generated samples and the network's "
             "own random numbers",
             {.shown = true});
    f.Number("data-threads", threads, {0, 256},
             "threads that read ahead; 0: none", {.shown = true});
  }
};

struct Request {
  SampleRequest samples;
  bool no_shuffle = false;
  std::string validation;                        // a source; empty: none
  std::vector<std::string> validation_settings;  // of it
  std::shared_ptr<const data::Arrays> validation_arrays;
  // Without what Fit finds out: worker, workers, samples, settings.
  train::TrainerOptions trainer;
  std::optional<double> learning_rate;  // none: the one compiled with
  std::string metrics;                  // empty: what fits the network
  std::string trace;                    // a file; empty: nothing is recorded
  std::string params, states, init;     // what it begins with
  int threads = 0;                      // 0: one for each processor
  // "cuda:1"; several with commas between them; empty: what the model was
  // compiled for.
  std::string device;
  job::JobOptions job;

  template <class Fields>
  void Describe(Fields& f) {
    samples.Describe(f);
    DescribeValidation(f);
    f.Group("Training");
    DescribeLoop(f);
    DescribeFiles(f);
    f.Group("Begin with");
    DescribeBeginning(f);
    f.Group("Execution");
    f.Number("threads", threads, {0, 512}, "0: one for each processor");
    f.Text("device", device, "DEVICE",
           "where the network runs: cpu, cuda:1 (default: what it was compiled "
           "for); cuda:0,cuda:1 train together, each on its part of a batch");
    f.Group("Jobs");
    DescribeJob(f);
  }

 private:
  template <class Fields>
  void DescribeValidation(Fields& f);
  template <class Fields>
  void DescribeLoop(Fields& f);
  template <class Fields>
  void DescribeFiles(Fields& f);
  template <class Fields>
  void DescribeBeginning(Fields& f);
  template <class Fields>
  void DescribeJob(Fields& f);
};

// As `metrics`: none are measured.
inline constexpr const char* kNoMetrics = "none";

// What is wrong with a list of metrics, a schedule, a rule when to stop.
std::string CheckMetrics(const std::string& names);
std::string CheckSchedule(const std::string& text);
std::string CheckStopRule(const std::string& text);

// Why what is asked for does not go together, as a sentence; empty: it does.
struct Combination {
  bool accumulates = false, averages = false;  // accumulate, ema
  std::string device;                          // as Request::device
  std::string kvstore;                         // of a job; else empty
  bool shards_states = false, shards_parameters = false;
  bool saves_pieces = false, saves_caffe = false;
  int stages = 1;  // of a pipeline
};
std::string CannotCombine(const Combination& asked);

template <class Fields>
void Request::DescribeValidation(Fields& f) {
  f.Flag("no-shuffle", no_shuffle, "take the samples in their order");
  f.Text("val", validation, "SOURCE",
         "score these after every epoch: of a source that holds samples out, "
         "those");
  f.List("val-opt", validation_settings, "NAME=VALUE",
         "an option of --val (repeatable); help: list them; where it is not "
         "given, that of --data holds if both sources have it and it varies "
         "nothing at random");
}

template <class Fields>
void Request::DescribeLoop(Fields& f) {
  f.Number("epochs", trainer.epochs, kAtLeast1, "in all, resumed ones included",
           {.shown = true});
  f.Number("steps", trainer.steps, kAtLeast1,
           "end after N updates in all, if the epochs have more",
           {.type = "N"});
  f.Number("accumulate", trainer.accumulate, kAtLeast1,
           "batches whose gradients are added up for one update, as of a batch "
           "N times as large; the last update of an epoch may have fewer, and "
           "takes their mean. Steps, --lr-schedule and --save-every count "
           "updates; BatchNorm sees each batch by itself",
           {.type = "N"});
  f.Number("ema", trainer.ema, kInsideUnit,
           "keep a moving average of parameters and moving statistics: after "
           "update t it is d of itself and 1-d of them, d being the less of D "
           "and (1+t)/(10+t). --val scores it, and --save writes it as "
           "PREFIX-NNNN.ema.params, too",
           {.type = "D"});
  f.Number("lr", learning_rate, kAtLeast0,
           "learning rate (default: the one compiled with, else 0.01)");
  f.Text("lr-schedule", trainer.schedule, "SCHEDULE",
         "factor:step=N:factor=F, multifactor:step=A,B:factor=F, poly, cosine "
         "or onecycle over the run or max_update=N, "
         "plateau:factor=F:patience=EPOCHS, Caffe's exp:gamma=G, "
         "inv:gamma=G:power=P and sigmoid:gamma=G:step=N; each but onecycle "
         "with "
         "warmup_steps=N or warmup_epochs=N",
         CheckSchedule);
  f.Text("metric", metrics, "METRICS",
         "accuracy, top_5, cross-entropy, perplexity:ignore_label=0, f1, mcc, "
         "mae, mse, rmse, pearsonr, pcc, loss; several separated by commas; "
         "none",
         CheckMetrics);
  f.Text("early-stop", trainer.early_stop, "RULE",
         "stop when epochs get no better: patience=EPOCHS, behind it "
         ",metric=NAME and ,min_delta=D; of --val, if there is one, and of the "
         "loss, if no metric is named",
         CheckStopRule);
}

template <class Fields>
void Request::DescribeFiles(Fields& f) {
  f.Text("save", trainer.save, "PREFIX",
         "write checkpoints PREFIX-NNNN.{params,states,mxc} after every epoch");
  f.Number("save-every", trainer.save_every, kAtLeast1,
           "and PREFIX-step-NNNN after every N steps", {.type = "N"});
  f.Flag("save-caffe", trainer.save_caffe,
         "and Caffe's PREFIX_iter_N.caffemodel and .solverstate, when "
         "--save-every says and at the end");
  f.Flag("save-pieces", trainer.saves_pieces,
         "of --shard-states and --shard-parameters: each worker writes what it "
         "has of a checkpoint into a file of its own, "
         "PREFIX-NNNN.piece-K.safetensors, and worker 0 an index, "
         "PREFIX-NNNN.pieces.json, in a folder that all reach. Any number of "
         "workers goes on from them, and --params takes the index");
  f.Number("keep", trainer.keep.steps, kAtLeast1,
           "how many of the latter to keep (default: 2)");
  f.Number("keep-epochs", trainer.keep.epochs, kAtLeast1,
           "of the checkpoints after epochs keep the newest N (default: all)",
           {.type = "N"});
  f.Flag("resume", trainer.resume,
         "go on from the newest complete checkpoint of --save");
  f.Flag("overwrite", trainer.overwrite,
         "remove what an earlier run has saved under PREFIX; without it or "
         "--resume a run does not begin there");
  f.Text("log-dir", trainer.log_folder, "DIR",
         "write TensorBoard event files and report.html");
  f.Flag("log-norms", trainer.log_norms,
         "and a curve of the norm of each parameter's gradient");
  f.Text("trace", trace, "FILE.json",
         "write what each thread did when, for Perfetto (of a job's worker N, "
         "FILE.N)");
}

template <class Fields>
void Request::DescribeBeginning(Fields& f) {
  f.Text(
      "params", params, "FILE",
      "begin with these parameters: .params, .npz, .safetensors, .pieces.json");
  f.Text("states", states, "FILE",
         "begin with these states of the optimizer, PREFIX-NNNN.states of mxc "
         "or MXNet, or where a .solverstate of Caffe stands");
  f.Text("init", init, "HOW", "begin with new parameters: xavier, msra, …");
}

template <class Fields>
void Request::DescribeJob(Fields& f) {
  f.Text("kvstore", job.kvstore, "HOW",
         "in a job (mxc launch): dist_sync, a step waits for the gradients of "
         "all workers; dist_async; dist_ssp, which waits for those that are "
         "--staleness steps behind; allreduce, where workers sum gradients "
         "among themselves and servers only introduce them; allreduce_ea "
         "(elastic averaging) or block_momentum, where workers train by "
         "themselves and average parameters every --period steps",
         job::CheckKvstore);
  f.Flag("shard-states", job.shards_states,
         "of allreduce: each worker keeps what the optimizer keeps, and the "
         "sums of gradients, for its share of the parameters alone, updates "
         "those and gives them to the others: the same bytes, and of N workers "
         "each has 1/N of the optimizer's memory. Checkpoints are those of any "
         "other training");
  f.Flag("shard-parameters", job.shards_parameters,
         "as --shard-states, and the same of parameters and gradients: what "
         "others have of a parameter comes before the steps that use it and "
         "goes after them, so that of N workers each has 1/N of the network "
         "and those few. All score --val together, and read --params and "
         "checkpoints from files that all reach");
  f.Number("staleness", job.staleness, {},
           "of dist_ssp: how many steps of others a worker may lack",
           {.shown = true});
  f.Choice("exchange", job.exchange, {"urgent", "in-order", "after-step"},
           "gradients leave when they are final, urgent (those that are needed "
           "first) or in-order, or after-step; for measuring");
  kvstore::Averaging& averaging = job.averaging;
  f.Number("period", averaging.period, {}, "of allreduce_ea and block_momentum",
           {.shown = true});
  f.Number("alpha", averaging.alpha, {},
           "of allreduce_ea: how far a worker and the center move towards each "
           "other (default: 0.9 / workers)");
  f.Number("block-momentum", averaging.momentum, {},
           "of block_momentum, from 0 to 1 (default: 1 - 1 / workers)");
  f.Number("block-rate", averaging.rate, {}, "of block_momentum",
           {.shown = true});
  f.Text("compression", job.compression, "HOW",
         "of gradients on their way to servers: none, f16, 2bit:threshold=0.5, "
         "1bit:threshold=0, 1bit_cntk");
  f.Number("cut-from", job.cut_from, {},
           "of a job with several servers, or with --shard-states: parameters "
           "of at least so many elements are cut into a part for each server, "
           "or worker",
           {.shown = true});
  f.Number("slice", job.slice, {},
           "parameters travel in slices of about so many elements, and one is "
           "answered while the next one comes; 0: as a whole",
           {.shown = true});
}

}  // namespace mxc::fit
