// SPDX-License-Identifier: Apache-2.0
// From MODEL to planned Programs: what compile, verify, inspect and dot share.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codegen/cache/object_cache.h"
#include "codegen/codegen.h"
#include "ir/program/program.h"
#include "ir/target/target.h"
#include "passes/pass.h"
#include "tools/class_labels.h"
#include "tools/network.h"
#include "tools/terminal.h"
#include "tools/tune/tuning.h"

namespace mxc {

// The shapes of the inputs for sequences of one length.
struct Bucket {
  int64_t length = 0;
  std::vector<std::string> input_shapes;  // as in NetworkOptions
};

// Those of the bucket, else the command line's with the length for L.
std::vector<std::string> ShapesOf(const Bucket& bucket,
                                  const NetworkOptions& network);

struct PlanOptions {
  NetworkOptions network;
  std::vector<int64_t> batches;  // empty: one plan for the shapes as given
  // "infer", "train", "score". Where one of them trains, the parameters are
  // states of the artifact, which all entries share.
  std::vector<std::string> entries = {"infer"};
  std::vector<Bucket> buckets;  // empty: one plan for each entry and batch
  TrainingOptions training;     // rescale_grad: 1 / batch unless it is given
  // What the labels' numbers stand for, and what is done to samples
  // (runtime/data/preprocessing.h); empty: what is noted beside the parameters
  // of a checkpoint.
  std::vector<std::string> label_names;
  std::string preprocessing;
  std::string target = "native";
  // As CatalogOptions has it; none: 6, or 4 where an entry trains.
  std::optional<int> winograd_tile;
  bool strassen = true;  // where the weights are constants
  // Used at level 3 or where it names a cache; measures at level 3 alone.
  TuningOptions tuning;
  // Of those who generate code; null: nothing is kept.
  std::shared_ptr<ObjectCache> objects;
  int level = 2;
  std::vector<std::string> disabled;  // passes
  std::string dump_after;             // a pass, "all", or empty
  std::string dump_folder;            // empty: stdout
};

// --batch, --target, -O, --winograd, --strassen, --tuning-cache,
// --disable-pass,
// --dump-after, --dump-dir.
void AddPlanOptions(CLI::App& app, PlanOptions& options);
// --tuning-seconds: kernels are measured at -O3. --object-cache: where those
// that were compiled are kept.
void AddKernelOptions(CLI::App& app, PlanOptions& options);
// --optimizer, --opt, --fixed, --lr-mult, --wd-mult, --memory-budget.
void AddTrainingOptions(CLI::App& app, PlanOptions& options);
// --entry, --bucket.
void AddEntryOptions(CLI::App& app, PlanOptions& options);

struct PassTime {
  std::string name, stage;
  bool changed = false;
  double seconds = 0;
};

// An operator of the user's network, before any pass.
struct UserOperator {
  std::string name, op;
};

struct Plan {
  Target target;
  std::vector<Program> programs;  // one for each entry, bucket and batch
  std::vector<PassTime> passes;   // of the first program
  std::vector<UserOperator> operators;
  // Of a network that trains: its inputs and variables by name, parameters in
  // the order of MXNet's update indices (list_arguments()).
  std::vector<std::string> data_inputs, label_inputs;
  std::vector<std::string> parameter_names, auxiliary_names;
  // An output and the input that it is in the next run: the hidden state of a
  // recurrent network.
  std::vector<std::pair<std::string, std::string>> carries;
  std::vector<ClassLabels> class_labels;
  std::vector<std::string> label_names;
  std::string preprocessing;
  std::string stem;
  std::shared_ptr<const SourceFile> source;  // the network's file
  Diagnostics notes;                         // what passes have to say
  std::shared_ptr<const ParameterFile> parameter_file;
  int nodes = 0, parameters = 0;
  int64_t parameter_bytes = 0;
  double read_seconds = 0, optimize_seconds = 0, plan_seconds = 0;
  std::optional<TuningReport> tuning;

  // Of the program that needs the largest arena.
  const Program& largest() const;
};

// Those that a checkpoint of ours notes beside its parameters.
std::vector<std::string> LabelNamesOf(const train::Provenance& provenance);

// Whether states live from run to run: one of the entries trains.
bool Trains(const PlanOptions& options);

// Prints one line for each phase as it ends.
Result<Plan> MakePlan(const PlanOptions& options, const Manners& manners);

// "38 kernels, 30 from the cache"
std::string DescribeKernels(const CodeImage& code);

// "176 operators → 71 steps; merged 53 BatchNorm, 49 Activation"
std::string DescribeFusion(const Plan& plan);

}  // namespace mxc
