// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/predictor.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <ranges>
#include <utility>

#include "runtime/artifact/manifest.h"
#include "runtime/formats/convert.h"
#include "runtime/formats/npy.h"
#include "tools/run/answer.h"
#include "tools/run/failure.h"
#include "tools/run/non_finite_input.h"
#include "tools/run/picture.h"
#include "tools/serve/part_file.h"

namespace mxc::serve {
namespace {

Json TensorJson(const mxc_tensor& tensor) {
  return {{"name", tensor.name},
          {"dtype", mxc_dtype_name(tensor.dtype)},
          {"shape", api::Shape(tensor)}};
}

Json KserveJson(const mxc_tensor& tensor,
                const std::array<int, MXC_AXES>& lengths) {
  Json shape = api::Shape(tensor);
  if (!shape.empty()) shape[0] = -1;  // any number of samples
  for (size_t axis = 0; axis < shape.size(); ++axis) {
    if (lengths[axis] >= 0) shape[axis] = -1;
  }
  return {{"name", tensor.name},
          {"datatype", KserveType(run::TypeOf(tensor))},
          {"shape", shape}};
}

std::vector<run::OutputValues> AllocateOutputs(
    const std::vector<mxc_tensor>& outputs, int64_t samples) {
  std::vector<run::OutputValues> values;
  for (const mxc_tensor& output : outputs) {
    const auto shape = api::Shape(output);
    std::vector<int64_t> whole(shape.begin(), shape.end());
    whole[0] = samples;
    values.push_back(
        {output.name, run::Take(runtime::Array::Allocate(run::TypeOf(output),
                                                         std::move(whole)))});
  }
  return values;
}

// The bytes of sample `k`.
std::span<std::byte> Row(std::span<std::byte> bytes, int64_t samples,
                         int64_t k) {
  const size_t row = bytes.size() / static_cast<size_t>(samples);
  return bytes.subspan(static_cast<size_t>(k) * row, row);
}

// JSON has null for what is no number.
void WarnOfOutputs(Answer& answer) {
  if (!answer.warnings.empty()) return;  // inputs are the cause
  const auto warning = run::DescribeNonFinite(answer.outputs);
  if (warning) answer.warnings.push_back(*warning);
}

bool SameOutputs(const Answer& a, const Answer& b) {
  return std::ranges::equal(
      a.outputs, b.outputs, [](const auto& x, const auto& y) {
        return std::ranges::equal(x.array.bytes(), y.array.bytes());
      });
}

}  // namespace

class Predictor::Lease {
 public:
  Lease(Predictor& owner, size_t entry) : owner_(owner), entry_(entry) {
    const std::lock_guard lock(owner_.mutex_);
    std::vector<api::Executor>& idle = owner_.idle_[entry];
    if (idle.empty()) return;
    executor_.emplace(std::move(idle.back()));
    idle.pop_back();
  }
  ~Lease() {
    if (!executor_) return;
    const std::lock_guard lock(owner_.mutex_);
    owner_.idle_[entry_].push_back(std::move(*executor_));
  }
  api::Executor& get() {
    if (!executor_) {
      executor_.emplace(owner_.session_.BindTo(entry_, /*profile=*/false));
    }
    return *executor_;
  }

 private:
  Predictor& owner_;
  const size_t entry_;
  std::optional<api::Executor> executor_;
};

Predictor::Predictor(std::string name, run::Session session,
                     run::PictureOptions pictures)
    : name_(std::move(name)),
      session_(std::move(session)),
      labels_(session_.LabelNames()) {
  feed_.pictures = std::move(pictures);
  feed_.pictures.trained = session_.Preprocessing();
  if (!TakesSamples()) return;
  const auto inputs = session_.Inputs();
  input_ = *std::ranges::find_if(inputs, &run::NetworkInput::read);
  for (const size_t entry : Entries()) {
    const int64_t batch = session_.model.entry(entry).batch;
    if (batch > most_together_ && SameBytes(entry)) most_together_ = batch;
  }
}

std::vector<size_t> Predictor::Entries() const {
  const std::string name = session_.model.entry(session_.entry).name;
  std::vector<size_t> entries;
  for (size_t e = 0; e < session_.model.entry_count(); ++e) {
    if (session_.model.entry(e).name == name) entries.push_back(e);
  }
  return entries;
}

// Returns whether one input is read and has, as all outputs, the samples on its
// first axis, in every compiled batch.
bool Predictor::TakesSamples() const {
  for (const size_t entry : Entries()) {
    const int64_t batch = session_.model.entry(entry).batch;
    const auto inputs = run::InputsOf(session_.model, entry);
    const bool open = !session_.model.Lengths(entry).empty();
    const auto along = [batch](const mxc_tensor& tensor) {
      return tensor.rank > 0 && tensor.dims[0] == batch;
    };
    const auto input = std::ranges::find_if(inputs, &run::NetworkInput::read);
    if (batch < 1 || open ||
        std::ranges::count_if(inputs, &run::NetworkInput::read) != 1 ||
        !along(*input) ||
        !std::ranges::all_of(session_.model.outputs(entry), along)) {
      return false;
    }
  }
  return true;
}

// A sample's sums may be taken in another order where more of them are computed
// at once. The order is the code's, so any values show it.
bool Predictor::SameBytes(size_t entry) {
  const int64_t batch = session_.model.entry(entry).batch;
  auto shape = api::Shape(*input_);
  std::vector<int64_t> whole(shape.begin(), shape.end());
  whole[0] = batch;
  runtime::Array drawn = run::Take(
      runtime::Array::Allocate(runtime::ElementType::kF32, std::move(whole)));
  std::mt19937 random(1);
  for (size_t k = 0; k < drawn.bytes().size(); k += sizeof(float)) {
    const float value = static_cast<float>(random()) * 0x1p-32F;
    std::memcpy(drawn.bytes().data() + k, &value, sizeof value);
  }
  std::vector<Samples> samples;
  for (int64_t k = 0; k < batch; ++k) {
    std::vector<int64_t> one = drawn.shape;
    one[0] = 1;
    samples.push_back({drawn.type, std::move(one), Row(drawn.bytes(), batch, k),
                       drawn.storage});
  }
  const std::vector<Answer> together = RunBatches(entry, samples);
  for (size_t k = 0; k < samples.size(); ++k) {
    const Answer alone = Run(std::span(samples).subspan(k, 1)).front();
    if (!SameOutputs(together[k], alone)) return false;
  }
  return true;
}

Json Predictor::Describe() const {
  const auto network =
      runtime::ManifestValues(session_.model.manifest(), "network");
  Json inputs = Json::array(), outputs = Json::array();
  for (const run::NetworkInput& input : session_.Inputs()) {
    if (input.read) inputs.push_back(TensorJson(input));
  }
  for (const mxc_tensor& output : session_.model.outputs(session_.entry)) {
    outputs.push_back(TensorJson(output));
  }
  return {{"network", network.empty() ? "" : network.front()},
          {"inputs", inputs},
          {"outputs", outputs},
          {"classes", labels_}};
}

Json Predictor::DescribeKserve() const {
  Json inputs = Json::array(), outputs = Json::array();
  for (const run::NetworkInput& input : session_.Inputs()) {
    if (input.read) inputs.push_back(KserveJson(input, input.lengths));
  }
  for (const mxc_tensor& output : session_.model.outputs(session_.entry)) {
    outputs.push_back(KserveJson(output, session_.model.LengthsOfOutput(
                                             session_.entry, outputs.size())));
  }
  return {{"name", name_},
          {"versions", {"1"}},
          {"platform", "mxc"},
          {"inputs", inputs},
          {"outputs", outputs}};
}

void Predictor::RequireParts(const std::vector<Part>& parts) const {
  std::vector<std::string> names;
  for (const run::NetworkInput& input : session_.Inputs()) {
    if (input.read) names.emplace_back(input.name);
  }
  const bool complete = std::ranges::all_of(names, [&](const auto& name) {
    return std::ranges::count(parts, name, &Part::input) > 0;
  });
  if (complete || names.size() < 2) return;
  std::string list, example = "curl";
  for (const std::string& name : names) {
    list += (list.empty() ? "'" : ", '") + name + "'";
    example += " -F " + name + "=@" + name + ".npy";
  }
  throw run::Failure("the network reads several inputs, " + list +
                     ": send a multipart/form-data with a part for each, as "
                     "in: " +
                     example);
}

std::vector<std::string> Predictor::DoubtsOf(const Question& question) const {
  run::PictureKinds kinds;
  for (const Part& part : question.parts) {
    const auto bytes = std::as_bytes(std::span(part.content));
    if (!part.array && run::IsPicture(bytes)) {
      kinds.files = true;
      continue;
    }
    const auto view = runtime::ViewNpy(bytes);
    if (!part.array && !view.ok()) continue;
    const runtime::ElementType type =
        part.array ? part.array->type : view->type;
    for (const run::NetworkInput& input : session_.Inputs()) {
      const bool its =
          part.input.empty() ? input.read : part.input == input.name;
      if (its && run::HoldsPixels(type, input, feed_.pictures)) {
        kinds.arrays = true;
      }
    }
  }
  const std::string doubt = run::DoubtsOf(kinds, feed_.pictures);
  return doubt.empty() ? std::vector<std::string>() : std::vector{doubt};
}

std::optional<Samples> Predictor::SamplesOf(const Question& question) const {
  if (!input_) return std::nullopt;
  return Samples::Of(question, *input_, feed_.pictures);
}

std::vector<Answer> Predictor::Run(std::span<const Samples> samples) {
  int64_t count = 0;
  for (const Samples& one : samples) count += one.count();
  return RunBatches(run::EntryFor(session_.model, session_.entry, count),
                    samples);
}

std::vector<Answer> Predictor::RunBatches(size_t entry,
                                          std::span<const Samples> samples) {
  struct Place {
    size_t question;
    int64_t sample;
  };
  const auto outputs = session_.model.outputs(entry);
  const int64_t batch = session_.model.entry(entry).batch;
  std::vector<Answer> answers;
  std::vector<Place> places;
  for (const Samples& one : samples) {
    Answer& answer = answers.emplace_back();
    answer.outputs = AllocateOutputs(outputs, one.count());
    if (const auto warning = run::DescribeNonFinite(input_->name, one.type,
                                                    one.elements, one.shape)) {
      answer.warnings.push_back(*warning);
    }
    for (int64_t k = 0; k < one.count(); ++k) {
      places.push_back({answers.size() - 1, k});
    }
  }
  Lease lease(*this, entry);
  api::Executor& executor = lease.get();
  for (size_t first = 0; first < places.size();
       first += static_cast<size_t>(batch)) {
    // The last sample again fills up the last batch.
    for (const auto memory = executor.MapInput(input_->name);
         const int64_t k : std::views::iota(int64_t{0}, batch)) {
      const Place& place =
          places[std::min(first + static_cast<size_t>(k), places.size() - 1)];
      samples[place.question].Copy(place.sample, run::TypeOf(*input_),
                                   Row(memory.span(), batch, k));
    }
    executor.Run();
    for (size_t k = 0; k < outputs.size(); ++k) {
      const auto result = executor.Output(k);
      const size_t row = result.size() / static_cast<size_t>(batch);
      for (size_t i = first;
           i < std::min(first + static_cast<size_t>(batch), places.size());
           ++i) {
        runtime::Array& array = answers[places[i].question].outputs[k].array;
        std::memcpy(Row(array.bytes(), array.shape[0], places[i].sample).data(),
                    result.data() + (i - first) * row, row);
      }
    }
  }
  for (Answer& answer : answers) WarnOfOutputs(answer);
  return answers;
}

Answer Predictor::RunAlone(const Question& question) {
  RequireParts(question.parts);
  PartFiles files(question.parts);
  run::Feed feed = feed_;
  feed.files = files.inputs();
  Answer answer;
  files.Try([&] {
    const size_t entry = run::ChooseEntry(session_, feed);
    const auto inputs = run::InputsOf(session_.model, entry);
    Lease lease(*this, entry);
    api::Executor& executor = lease.get();
    run::FillInputs(executor, session_.model.Lengths(entry), inputs, feed);
    for (const run::NetworkInput& input : inputs) {
      if (!input.read) continue;
      const auto warning = run::DescribeNonFinite(
          input.name, run::TypeOf(input), executor.MapInput(input.name).span(),
          api::Shape(input));
      if (warning) answer.warnings.push_back(*warning);
    }
    executor.Run();
    answer.outputs = run::Results(executor, session_.model.outputs(entry));
  });
  WarnOfOutputs(answer);
  return answer;
}

}  // namespace mxc::serve
