// SPDX-License-Identifier: Apache-2.0
#include "tools/quantize/trial.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string>
#include <utility>

#include "runtime/fit/samples.h"
#include "runtime/train/judge.h"
#include "tools/driver/compile.h"
#include "tools/driver/temporary_file.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

Diagnostic Failed(const runtime::Status& status) {
  return UnplacedError(status.message());
}

// Compares output 0 with what another form has said of the same samples; keeps
// it where there is none.
class Outputs : public train::ScoreListener {
 public:
  explicit Outputs(std::vector<float>& first)
      : first_(first), keeps_(first.empty()) {}

  train::Status OnBatch(const data::Batch& batch, const data::Iterator&,
                        const std::vector<train::FloatView>& outputs) override {
    const train::FloatView& output = outputs[0];
    const int64_t rows = batch.rows() - batch.pad;
    if (output.shape.empty() || output.shape[0] != batch.rows()) return {};
    const size_t row = output.values.size() / static_cast<size_t>(batch.rows());
    const auto values = output.values.first(row * static_cast<size_t>(rows));
    if (keeps_) first_.insert(first_.end(), values.begin(), values.end());
    is_of_classes_ = output.shape.size() == 2 && row > 1;
    for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
      Compare(values.subspan(r * row, row));
    }
    return {};
  }

  void Report(Accuracy& accuracy) const {
    if (is_of_classes_ && rows_ > 0) {
      accuracy.agreement =
          static_cast<double>(same_) / static_cast<double>(rows_);
    }
    accuracy.difference = squares_ > 0 ? std::sqrt(errors_ / squares_) : 0;
  }

 private:
  void Compare(std::span<const float> values) {
    const auto first = std::span(first_).subspan(place_, values.size());
    place_ += values.size();
    ++rows_;
    for (size_t i = 0; i < values.size(); ++i) {
      const double was = first[i], is = values[i];
      errors_ += (is - was) * (is - was);
      squares_ += was * was;
    }
    same_ += std::ranges::max_element(first) - first.begin() ==
             std::ranges::max_element(values) - values.begin();
  }

  std::vector<float>& first_;
  const bool keeps_;
  bool is_of_classes_ = false;
  size_t place_ = 0;
  int64_t rows_ = 0, same_ = 0;
  double errors_ = 0, squares_ = 0;
};

}  // namespace

CompileRequest RequestOfForm(const CompileRequest& like, const Graph& form,
                             std::shared_ptr<const ParameterArrays> arrays) {
  CompileRequest request = like;
  request.network = {};
  request.network.model =
      StemOfNetwork(like.network.model) + "-symbol.json";  // of any format
  request.network.text = std::make_shared<SourceFile>(
      SourceFile{request.network.model, WriteSymbol(form)});
  request.network.arrays = std::move(arrays);
  request.network.is_cancelled = like.network.is_cancelled;
  return request;
}

Result<Trial> Trial::Compile(const CompileRequest& like, const Graph& form,
                             std::shared_ptr<const ParameterArrays> arrays,
                             int threads) {
  return Compile(RequestOfForm(like, form, std::move(arrays)), threads);
}

Result<Trial> Trial::Compile(CompileRequest request, int threads) {
  request.entries = {"infer"};
  request.golden = Golden::kOff;
  Progress silent;
  MXC_ASSIGN(const Artifact artifact, mxc::Compile(request, silent));
  MXC_ASSIGN(runtime::NamelessFile file, MakeTemporaryFile());
  MXC_RETURN_IF_ERROR(Save(request, artifact, file.path()));
  auto step = train::ArtifactStep::Open(file.path(), threads, {},
                                        train::Extent::kScoring);
  if (!step.ok()) return Failed(step.status());
  return Trial(std::move(file), std::move(*step));
}

Result<int64_t> Trial::Run(const fit::SampleRequest& samples,
                           const See& see) const {
  const auto opened = fit::OpenTraining(samples, false, *step_);
  if (!opened.ok()) return Failed(opened.status());
  data::Iterator& iterator = **opened;
  data::Batch batch;
  int64_t count = 0;
  while (true) {
    const auto more = iterator.Next(batch);
    if (!more.ok()) return Failed(more.status());
    if (!*more) return count;
    const auto run = step_->Score(batch, iterator.bucket_key(batch.bucket));
    if (!run.ok()) return Failed(run.status());
    MXC_RETURN_IF_ERROR(see(step_->outputs()));
    count += batch.rows();
  }
}

double Accuracy::WorseThan(const Accuracy& floats) const {
  constexpr double kPercent = 100;
  if (metrics.empty() || floats.metrics.empty()) {
    return kPercent * (agreement ? 1 - *agreement : difference);
  }
  const double before = floats.metrics[0].second, after = metrics[0].second;
  if (metrics[0].first == "accuracy") return kPercent * (before - after);
  return kPercent * (after - before) / std::max(std::abs(before), 1e-12);
}

Result<Accuracy> Validation::Measure(const Trial& trial) {
  train::ArtifactStep& step = trial.step();
  const auto samples = fit::OpenScoring(samples_, {}, step);
  if (!samples.ok()) return Failed(samples.status());
  train::MetricList metrics;
  if (!(*samples)->provides().labels.empty()) {
    auto parsed =
        train::MetricList::Parse(train::DefaultMetrics(step.facts().heads));
    if (!parsed.ok()) return Failed(parsed.status());
    metrics = std::move(*parsed);
  }
  Outputs outputs(first_);
  const auto scored = train::ScoreAll(step, **samples, metrics, &outputs);
  if (!scored.ok()) return Failed(scored.status());
  Accuracy accuracy;
  accuracy.metrics = train::ValuesOf(metrics);
  accuracy.samples = scored->samples;
  outputs.Report(accuracy);
  return accuracy;
}

Result<std::shared_ptr<const ParameterArrays>> ArraysOf(const Model& model) {
  auto arrays = std::make_shared<ParameterArrays>();
  for (const auto& [name, value] : model.parameters) {
    auto array = runtime::Array::Allocate(
        static_cast<runtime::ElementType>(value.type().dtype),
        value.shape().dims());
    if (!array.ok()) return Failed(array.status());
    std::memcpy(array->bytes().data(), value.bytes(), array->bytes().size());
    arrays->push_back({name, std::move(*array)});
  }
  return std::shared_ptr<const ParameterArrays>(std::move(arrays));
}

}  // namespace mxc
