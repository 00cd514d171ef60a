// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/step/artifact_facts.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>

#include "runtime/artifact/manifest.h"
#include "runtime/data/label_names.h"

namespace mxc::train {
namespace {

using runtime::ManifestValues;

std::string FirstOf(const std::vector<std::string>& values) {
  return values.empty() ? "" : values.front();
}

// "sgd momentum=0.9 wd=0.0001"
void ReadOptimizer(const std::string& text, TrainFacts& facts) {
  std::istringstream words(text);
  words >> facts.optimizer;
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == word.npos) continue;
    facts.optimizer_options.emplace_back(word.substr(0, equals),
                                         word.substr(equals + 1));
  }
}

// "10 none softmax_label": see runtime/artifact/manifest.h.
std::vector<ClassLabels> ReadClassLabels(
    const std::string& manifest, const std::vector<std::string>& inputs) {
  std::vector<ClassLabels> read;
  for (const std::string& text : ManifestValues(manifest, "classes")) {
    std::istringstream words(text);
    ClassLabels labels;
    std::string ignored, input;
    words >> labels.classes >> ignored >> std::ws;
    std::getline(words, input);
    const auto found = std::ranges::find(inputs, input);
    if (labels.classes < 1 || found == inputs.end()) continue;
    labels.index = static_cast<size_t>(found - inputs.begin());
    if (ignored != "none") labels.ignored = std::atof(ignored.c_str());
    read.push_back(labels);
  }
  return read;
}

// Names by their index.
using Names = std::map<uint32_t, std::string>;

std::vector<std::string> ListOf(const Names& names) {
  std::vector<std::string> list;
  for (const auto& [index, name] : names) list.push_back(name);
  return list;
}

// Of the rows of a role.
template <class Rows>
void AddNames(const runtime::Tables& tables, const Rows& rows,
              mxc_tensor_role role, Names& names) {
  for (const auto& row : rows) {
    if (row.role == role) names[row.index] = tables.Text(row.name);
  }
}

std::vector<std::string> StatesOf(const Models& models, mxc_tensor_role role) {
  Names names;
  for (const auto& model : models) {
    AddNames(model->tables(), model->tables().states(), role, names);
  }
  return ListOf(names);
}

std::vector<std::string> LabelsOf(const Models& models) {
  Names names;
  for (const auto& model : models) {
    const runtime::Tables& tables = model->tables();
    AddNames(tables, tables.Buffers(tables.entries().front()), MXC_TENSOR_LABEL,
             names);
  }
  return ListOf(names);
}

}  // namespace

TrainFacts TrainFactsOf(const Models& models) {
  const std::string& manifest = models.front()->manifest();
  TrainFacts facts;
  facts.network = FirstOf(ManifestValues(manifest, "network"));
  ReadOptimizer(FirstOf(ManifestValues(manifest, "optimizer")), facts);
  facts.optimizer_state = FirstOf(ManifestValues(manifest, "optimizer_state"));
  facts.copied_state = FirstOf(ManifestValues(manifest, "copied_state"));
  const std::string rate = FirstOf(ManifestValues(manifest, "learning_rate"));
  if (!rate.empty()) facts.learning_rate = std::atof(rate.c_str());
  facts.label_smoothing = FirstOf(ManifestValues(manifest, "label_smoothing"));
  facts.parameters = StatesOf(models, MXC_TENSOR_PARAMETER);
  facts.auxiliaries = StatesOf(models, MXC_TENSOR_AUXILIARY);
  facts.loss_scale = FirstOf(StatesOf(models, MXC_TENSOR_LOSS_SCALE));
  facts.begun = FirstOf(StatesOf(models, MXC_TENSOR_BEGUN));
  facts.class_labels = ReadClassLabels(manifest, LabelsOf(models));
  for (const std::string& text : ManifestValues(manifest, "head")) {
    const auto head = ParseHead(text);
    if (head.ok()) facts.heads.push_back(*head);
  }
  const std::string precision = FirstOf(ManifestValues(manifest, "precision"));
  if (!precision.empty()) facts.precision = precision;
  facts.preprocessing = FirstOf(ManifestValues(manifest, "preprocess"));
  return facts;
}

runtime::StatusOr<std::vector<std::string>> LabelNamesOf(
    const runtime::Model& model) {
  return data::ParseLabelNames(
      FirstOf(ManifestValues(model.manifest(), "label_names")));
}

}  // namespace mxc::train
