// SPDX-License-Identifier: Apache-2.0
// Forms of a network, compiled and run on samples.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "frontend/frontend.h"
#include "ir/support/result.h"
#include "runtime/base/nameless_file.h"
#include "runtime/fit/request.h"
#include "runtime/train/score.h"
#include "runtime/train/step/artifact_step.h"
#include "tools/driver/request.h"

namespace mxc {

class Trial {
 public:
  // Compiles what is asked for, of its entries the one that infers.
  static Result<Trial> Compile(CompileRequest request, int threads);
  // Compiles `form` for inference, otherwise as `like` says.
  static Result<Trial> Compile(const CompileRequest& like, const Graph& form,
                               std::shared_ptr<const ParameterArrays> arrays,
                               int threads);

  train::ArtifactStep& step() const { return *step_; }
  // Runs batches of the samples to train on, in their order, and calls `see`
  // with the outputs of each. Returns how many samples there were.
  using See = std::function<Status(const std::vector<train::FloatView>&)>;
  Result<int64_t> Run(const fit::SampleRequest& samples, const See& see) const;

 private:
  Trial(runtime::NamelessFile file, std::unique_ptr<train::ArtifactStep> step)
      : file_(std::move(file)), step_(std::move(step)) {}

  runtime::NamelessFile file_;
  std::unique_ptr<train::ArtifactStep> step_;
};

// How good a form is.
struct Accuracy {
  train::MetricValues metrics;  // none where the samples have no labels
  // Beside the network of floats: the share of samples of which output 0 is
  // greatest at the same place, where it is of classes; and the root of the sum
  // of squares of the difference, relative to that of the network's output.
  std::optional<double> agreement;
  double difference = 0;
  int64_t samples = 0;

  // What this is worse by than the network of floats: of an accuracy, of an
  // agreement, in points; of another metric and of the difference, in percent.
  double WorseThan(const Accuracy& floats) const;
};

// Measures forms on the samples to score, all of them beside the first one.
class Validation {
 public:
  explicit Validation(fit::SampleRequest samples)
      : samples_(std::move(samples)) {}

  Result<Accuracy> Measure(const Trial& trial);

 private:
  const fit::SampleRequest samples_;
  std::vector<float> first_;  // output 0 of the first form
};

// `form` with these parameters, otherwise what `like` asks for.
CompileRequest RequestOfForm(const CompileRequest& like, const Graph& form,
                             std::shared_ptr<const ParameterArrays> arrays);

// The parameters as a request has them.
Result<std::shared_ptr<const ParameterArrays>> ArraysOf(const Model& model);

}  // namespace mxc
