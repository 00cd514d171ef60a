// SPDX-License-Identifier: Apache-2.0
// From a network of floats and samples to the same network of 8-bit numbers: the
// ranges of its values are collected, the error that each layer makes by itself
// is measured, and layers stay of floats, those with the greatest errors first,
// until the network is as good as was asked for.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "ir/support/result.h"
#include "tools/driver/network.h"
#include "tools/quantize/budget.h"
#include "tools/quantize/quantized_graph.h"
#include "tools/quantize/trial.h"
#include "tools/quantize/value_range.h"

namespace mxc {

struct CalibrationRequest {
  MeasuredRequest on;
  RangeMode mode = RangeMode::kEntropy;
  double percentile = 99.99;
  std::set<std::string> kept;   // layers that stay of floats
  double greatest_error = 0.1;  // of a layer of 8-bit numbers
};

struct CalibratedLayer {
  std::string name, op;
  bool is_integer = false;
  std::string why_float;  // where it is not
  ValueRange data, output;
  // Of its output, where its inputs are as they are: the root of the sum of
  // squares, relative to that of the output.
  double error = 0;
};

struct CalibrationReport {
  std::vector<CalibratedLayer> layers;
  Accuracy before, after;
  int64_t samples = 0;
  int trials = 0;  // that it took

  int64_t integer_layers() const;
};

class Calibration {
 public:
  Calibration(CalibrationRequest request,
              std::shared_ptr<LoadedNetwork> network, TellPhase tell);

  // The network to be written, with its parameters.
  Result<Model> Run();
  const CalibrationReport& report() const { return report_; }
  // The parameters, as a request has them.
  const std::shared_ptr<const ParameterArrays>& arrays() const {
    return arrays_;
  }

 private:
  Result<Model> Draft() const;
  Result<Trial> Compile(const Graph& graph);
  Status CollectRanges();
  // Of values of the layer, up to all that there were.
  void WidenRanges(const FusedLayer& layer);
  Status MeasureErrors();
  // Once more with wide ranges of the layers that are off by too much.
  Status MeasureWidened();
  Status RequireKept() const;
  void Choose();
  Status KeepWithinBudget();
  void Refuse(size_t layer, std::string why);
  // With those layers of 8-bit numbers.
  Result<Model> Form(const std::vector<bool>& chosen) const;

  const CalibrationRequest request_;
  const std::shared_ptr<LoadedNetwork> network_;
  const TellPhase tell_;
  std::shared_ptr<const ParameterArrays> arrays_;
  ValueRanges ranges_, whole_;
  std::set<TensorId> broken_;  // that have values which are no numbers
  CalibrationReport report_;
};

}  // namespace mxc
