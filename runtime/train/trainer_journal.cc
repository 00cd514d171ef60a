// SPDX-License-Identifier: Apache-2.0
// What the trainer tells its journal.
#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/train/floats.h"
#include "runtime/train/trainer.h"

namespace mxc::train {

// All that a run beside this one may have been told otherwise.
RunSettings Trainer::Settings() const {
  const TrainFacts& facts = step_.facts();
  RunSettings settings = {{"network", facts.network},
                          {"precision", facts.precision},
                          {"optimizer", facts.optimizer}};
  const auto add = [&](const std::string& name, const std::string& text) {
    const auto there =
        std::ranges::find(settings, name, &RunSettings::value_type::first);
    if (there == settings.end()) settings.emplace_back(name, text);
  };
  if (options_.learning_rate) {
    add("learning_rate", Format("%g", *options_.learning_rate));
  }
  if (!options_.schedule.empty()) add("schedule", options_.schedule);
  for (const auto& [name, text] : facts.optimizer_options) add(name, text);
  if (!facts.label_smoothing.empty()) {
    add("label_smoothing", facts.label_smoothing);
  }
  const std::vector<data::Field>& fields = samples_.provides().data;
  if (!fields.empty() && !fields[0].shape.empty()) {
    add("batch_size", std::to_string(fields[0].shape[0]));
  }
  if (options_.ema > 0) add("ema", Format("%g", options_.ema));
  if (options_.accumulate > 1) {
    add("accumulate", std::to_string(options_.accumulate));
  }
  if (options_.workers > 1) add("workers", std::to_string(options_.workers));
  add("epochs", std::to_string(options_.epochs));
  add("data", samples_.summary());
  for (const auto& [name, text] : options_.settings) add(name, text);
  return settings;
}

Status Trainer::OpenJournal() {
  if (options_.log_folder.empty()) return {};
  // What is there tells more than what begins with a run that makes no step.
  const bool nothing_left =
      MadeAll() || epochs_ >= options_.epochs || best_->Stops();
  if (nothing_left && options_.resume) return {};
  Report report;
  report.title = "Training " + step_.facts().network;
  report.settings = Settings();
  StatusOr<Journal> journal = Journal::Open(
      options_.log_folder, steps_, std::move(report), options_.log_norms);
  if (!journal.ok()) return journal.status();
  journal_.emplace(std::move(*journal));
  if (steps_ == 0) journal_->OnNetwork(step_.network());
  const std::vector<Head>& heads = step_.facts().heads;
  if (validation_ != nullptr && ClassCounter::CanCount(heads)) {
    classes_.emplace(heads);
  }
  return {};
}

void Trainer::JournalClasses() {
  if (!classes_) return;
  const std::vector<std::string>& names = validation_->label_names();
  journal_->OnClasses(
      {epochs_, classes_->Take(names.empty() ? samples_.label_names() : names)},
      best_->epoch() == epochs_);
}

// Of a job each process has not all of them.
void Trainer::JournalWeights() {
  if (options_.workers > 1) return;
  const TrainFacts& facts = step_.facts();
  std::set<std::string_view> names(facts.parameters.begin(),
                                   facts.parameters.end());
  names.insert(facts.auxiliaries.begin(), facts.auxiliaries.end());
  const std::vector<data::Field>& states = step_.states();
  std::vector<float> values;
  for (size_t i = 0; i < states.size(); ++i) {
    const data::Field& state = states[i];
    if (!names.contains(state.name) || !runtime::IsFloat(state.type)) continue;
    ToFloats(state.type, step_.State(i), values);
    journal_->OnWeights(steps_, state.name, values);
  }
}

}  // namespace mxc::train
