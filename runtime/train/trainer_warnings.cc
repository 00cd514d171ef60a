// SPDX-License-Identifier: Apache-2.0
// What a trainer says of data and results that look wrong.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/train/trainer.h"

namespace mxc::train {
namespace {

// Returns whether a network that guesses would have done as well. The accuracy
// of guesses varies; three standard deviations and a tenth are its due.
bool IsGuessing(const EpochSummary& summary, double labels, double classes) {
  if (!(summary.loss >= 0.998 * std::log(classes))) return false;
  const double chance = 1 / classes;
  const double due =
      1.1 * chance + 3 * std::sqrt(chance * (1 - chance) / labels);
  for (const auto& [name, value] : summary.metrics) {
    if (name == "accuracy") return value <= due;
  }
  return true;
}

// The last layer before the network's output, if its outputs are the classes.
NetworkNode LayerOfClasses(const std::vector<NetworkNode>& nodes) {
  if (nodes.empty()) return {};
  const NetworkNode* node = &nodes.back();
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (node->op == "FullyConnected" || node->op == "Convolution") return *node;
    if (node->inputs.empty()) return {};
    const auto input =
        std::ranges::find(nodes, node->inputs[0], &NetworkNode::name);
    if (input == nodes.end()) return {};
    node = &*input;
  }
  return {};
}

}  // namespace

// What all workers of a job would say alike, worker 0 says.
void Trainer::WarnOfLargeBatch() {
  if (options_.worker != 0) return;
  const std::vector<data::Field>& fields = samples_.provides().data;
  if (fields.empty() || fields[0].shape.empty()) return;
  const int64_t batch = fields[0].shape[0], workers = samples_.workers();
  if (batch * workers <= samples_.samples()) return;
  const std::string sharing = workers == 1
                                  ? ""
                                  : Format(" for each of %lld workers",
                                           static_cast<long long>(workers));
  reporter_.Warn(
      Format("a batch of %lld%s is more than the %lld samples that there are: "
             "every step repeats some",
             static_cast<long long>(batch), sharing.c_str(),
             static_cast<long long>(samples_.samples())));
}

// A network that tells more classes apart than there are names learns those
// alone, but its accuracy of guesses and its outputs are of more.
void Trainer::WarnOfMoreClasses() {
  if (options_.worker != 0) return;
  const std::vector<ClassLabels>& labels = step_.facts().class_labels;
  const int64_t names = std::ssize(samples_.label_names());
  if (labels.empty() || names < 1 || names >= labels[0].classes) return;
  // A text's symbols are not classes to be told apart: some may be missing.
  const std::vector<data::Field>& fields = samples_.provides().labels;
  if (fields.size() != 1 || fields[0].shape.size() != 1) return;
  if (names == 1) {
    reporter_.Warn("all samples are of one class, '" +
                   samples_.label_names()[0] +
                   "': nothing tells what is none of it");
    return;
  }
  std::string text = Format(
      "the data have %lld classes, the network %lld outputs",
      static_cast<long long>(names), static_cast<long long>(labels[0].classes));
  const NetworkNode layer = LayerOfClasses(step_.network());
  if (!layer.name.empty()) {
    text += ": '" + layer.name + "' " +
            (layer.op == "Convolution" ? "num_filter" : "num_hidden");
  }
  reporter_.Warn(text +
                 "; --classes auto of 'mxc train NETWORK' makes them as many");
}

// The first of what is wrong is told at once; how much there is, later.
Status Trainer::CheckBatch() {
  const data::BadRecords& bad = samples_.bad_records();
  if (bad.count > 0 && !said_bad_record_) {
    said_bad_record_ = true;
    reporter_.Warn("skipped " + (bad.sentences.empty()
                                     ? std::string("a damaged record")
                                     : bad.sentences[0]));
  }
  const bool none_before = labels_.count() == 0;
  labels_.Look(batch_, samples_);
  if (labels_.count() == 0) return {};
  if (options_.stop_at_bad_label) {
    return Fail(StatusCode::kInvalidArgument, "%s", labels_.first().c_str());
  }
  if (none_before) {
    reporter_.Warn(labels_.first() + "; " + labels_.consequence());
  }
  return {};
}

// "; y.csv: line 3 holds inf" of the batch, if one does.
std::string Trainer::NonFiniteRecord() const {
  for (const data::NamedArray& named : batch_.data) {
    if (named.array.type != runtime::ElementType::kF32) continue;
    const std::span<const std::byte> bytes = named.array.bytes();
    const std::span values(reinterpret_cast<const float*>(bytes.data()),
                           bytes.size() / sizeof(float));
    const auto bad = std::ranges::find_if(
        values, [](float value) { return !std::isfinite(value); });
    if (bad == values.end() || batch_.index.empty()) continue;
    const auto at = static_cast<size_t>(bad - values.begin());
    const size_t row = at / (values.size() / batch_.index.size());
    return Format("; %s holds %g",
                  samples_.SampleName(batch_.index[row]).c_str(),
                  static_cast<double>(*bad));
  }
  return "";
}

void Trainer::WarnOfEpoch(const EpochSummary& summary) {
  if (epochs_ == 1 && labels_.count() > 1) {
    reporter_.Warn(labels_.Counted() + " in this epoch");
  }
  const std::vector<ClassLabels>& labels = step_.facts().class_labels;
  if (options_.worker != 0 || said_chance_ || labels.empty() ||
      labels[0].classes < 2) {
    return;
  }
  // A few steps or samples tell nothing.
  constexpr int64_t kLeastSteps = 10, kLeastOfClass = 5;
  const int64_t names = std::ssize(samples_.label_names());
  const int64_t told = labels[0].classes;  // apart
  const int64_t there = names < 2 ? told : std::min(names, told);
  if (epoch_stretch_.samples < kLeastOfClass * there ||
      (steps_ < kLeastSteps && epochs_ < options_.epochs)) {
    return;
  }
  const auto classes = static_cast<double>(there);
  const auto samples = static_cast<double>(epoch_stretch_.samples);
  if (!IsGuessing(summary, samples, classes)) return;
  said_chance_ = true;
  std::string text =
      Format("epoch %lld ended no better than guessing: loss %.4g",
             static_cast<long long>(summary.epoch), summary.loss);
  for (const auto& [name, value] : summary.metrics) {
    if (name == "accuracy") text += Format(", accuracy %.4g", value);
  }
  reporter_.Warn(
      text + Format(" (%lld classes at random: %.4g, %.4g); often the learning "
                    "rate is too high or too low, inputs are not scaled, or "
                    "labels belong to other samples",
                    static_cast<long long>(there), std::log(classes),
                    1 / classes));
}

std::optional<double> Trainer::LossScale() {
  const std::vector<data::Field>& states = step_.states();
  const std::string& name = step_.facts().loss_scale;
  const auto found = std::ranges::find(states, name, &data::Field::name);
  if (name.empty() || found == states.end()) return std::nullopt;
  float scale = 0;
  const auto bytes = step_.State(static_cast<size_t>(found - states.begin()));
  if (bytes.size() != sizeof scale) return std::nullopt;
  std::memcpy(&scale, bytes.data(), sizeof scale);
  return scale;
}

// It is halved by each step whose gradients are not finite, and doubled by many
// others in a row.
void Trainer::TellOfLossScale() {
  const auto before = std::exchange(loss_scale_, LossScale());
  if (!before || !loss_scale_ || !(*loss_scale_ < *before)) return;
  const double skipped = std::log2(*before / *loss_scale_);
  reporter_.Say(Format(
      "epoch %lld: the loss scale fell from %g to %g: %.0f steps or more had "
      "gradients that float16 cannot hold, and updated nothing",
      static_cast<long long>(epochs_), *before, *loss_scale_, skipped));
}

}  // namespace mxc::train
