// SPDX-License-Identifier: Apache-2.0
// What the trainer tells its journal.
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "runtime/train/floats.h"
#include "runtime/train/trainer.h"

namespace mxc::train {

Status Trainer::OpenJournal() {
  if (options_.log_folder.empty()) return {};
  const TrainFacts& facts = step_.facts();
  Report report;
  report.title = "Training " + facts.network;
  std::string optimizer = facts.optimizer;
  for (const auto& [name, value] : facts.optimizer_options) {
    optimizer += " " + name + "=" + value;
  }
  report.facts = {{"network", facts.network},
                  {"optimizer", optimizer},
                  {"data", samples_.summary()},
                  {"epochs", std::to_string(options_.epochs)}};
  if (!options_.schedule.empty()) {
    report.facts.emplace_back("schedule", options_.schedule);
  }
  StatusOr<Journal> journal =
      Journal::Open(options_.log_folder, steps_, std::move(report));
  if (!journal.ok()) return journal.status();
  journal_.emplace(std::move(*journal));
  if (steps_ == 0) journal_->OnNetwork(step_.network());
  return {};
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
    const std::span<const std::byte> bytes = step_.State(i);
    values.resize(bytes.size() /
                  static_cast<size_t>(runtime::ElementBytes(state.type)));
    ToFloats(state.type, bytes, values);
    journal_->OnWeights(steps_, state.name, values);
  }
}

}  // namespace mxc::train
