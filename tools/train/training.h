// SPDX-License-Identifier: Apache-2.0
// What `mxc train` is told, and the artifact that is made for it.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "tools/request_options.h"
#include "tools/saved_series.h"
#include "tools/terminal.h"
#include "tools/train/solver_words.h"
#include "tools/train/train_data.h"
#include "tools/train/train_loop.h"

namespace mxc {

struct TrainOptions {
  ReportStyle style;
  RequestOptions request;
  std::string output;  // empty: a file that goes with the process
  DataRequest data;
  std::string classes;       // --classes; empty: as the network has them
  bool begins_anew = false;  // --init was said
  std::string kvstore;       // of a job
  bool accumulates = false;  // an update follows several batches
  bool averages = false;     // --ema
  bool shards_states = false, shards_parameters = false;
  bool saves_pieces = false, saves_caffe = false;
  // As mxc-run will be told.
  std::string device;  // empty: the target's
  SavedSeries series;
  // Empty: not said.
  std::string validation, log_folder, trace, states, metrics;
  std::vector<std::string> validation_options;
  bool dry = false;                   // --dry-run
  std::string snapshot;               // a .solverstate
  std::optional<SolverWords> solver;  // these are the words of
};

// The options of `mxc train`, and what they have said.
class Training {
 public:
  // Declares them on `app`, which must outlive it. `solver`: whose words will be
  // parsed.
  explicit Training(CLI::App& app,
                    std::optional<SolverWords> solver = std::nullopt);

  // Once the app has parsed. Throws what mxc-run would say of its share of the
  // words.
  void Settle();

  const TrainOptions& options() const { return options_; }
  const TrainLoop& loop() const { return loop_; }
  const CLI::App& app() const { return app_; }

  // After Settle: compiles for training on the data, or tells all that is wrong;
  // to a path for each stage (StageRequest::count), in their order.
  Status CompileTo(const std::vector<std::string>& paths) const;
  // What CompileTo would refuse; nothing is compiled, written or said.
  Status RequirePlans() const;
  // Whether what was asked for goes together.
  Status RequireCombination() const;

 private:
  CLI::App& app_;
  TrainOptions options_;
  TrainLoop loop_;
};

}  // namespace mxc
