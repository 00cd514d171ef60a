// SPDX-License-Identifier: Apache-2.0
// From a network to planned Programs: what compile, verify, inspect and dot
// share.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/program/program.h"
#include "ir/target/target.h"
#include "runtime/train/head.h"
#include "tools/driver/class_labels.h"
#include "tools/driver/network.h"
#include "tools/driver/progress.h"
#include "tools/driver/request.h"
#include "tools/driver/tune/tuning.h"

namespace mxc {

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
  // By which the programs were planned.
  std::shared_ptr<const KernelCatalog> catalog;
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
  // The most rows of a text that the network keeps where it writes texts; 0: it
  // keeps none.
  int64_t rows_kept = 0;
  std::vector<ClassLabels> class_labels;
  std::vector<train::Head> heads;
  std::vector<std::string> label_names;
  std::string preprocessing;
  std::string stem;
  std::shared_ptr<LoadedNetwork> network;  // of which it is the plan
  Diagnostics notes;                       // what passes have to say
  int nodes = 0, parameters = 0;
  int64_t parameter_bytes = 0;
  double read_seconds = 0, optimize_seconds = 0, plan_seconds = 0;
  // What pass recompute adds to a program's arithmetic, as a part of it.
  double computed_again = 0;
  std::optional<TuningReport> tuning;

  // Of the program that needs the largest arena.
  const Program& largest() const;
};

// Those that a checkpoint of ours notes beside its parameters.
std::vector<std::string> LabelNamesOf(const train::Provenance& provenance);

// Reads the network and plans it. `progress` hears of each phase as it ends.
// Refuses a plan whose peak is above the memory budget.
Result<Plan> MakePlan(const CompileRequest& request, Progress& progress);
// Of a network that has been read; `request.network` is not looked at.
Result<Plan> MakePlan(const CompileRequest& request,
                      const std::shared_ptr<LoadedNetwork>& network,
                      Progress& progress);

}  // namespace mxc
