// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/trainer_notes.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "runtime/base/joined.h"

namespace mxc::train {

std::string NumbersText(const std::vector<double>& numbers) {
  std::string text;
  for (const double number : numbers) {
    text += Format(text.empty() ? "%a" : " %a", number);
  }
  return text;
}

std::vector<double> NumbersOf(const std::string& text) {
  std::vector<double> numbers;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    numbers.push_back(std::strtod(word.c_str(), nullptr));
  }
  return numbers;
}

std::string NoteOf(const Checkpoint& checkpoint, const char* word) {
  const auto found = checkpoint.notes.find(word);
  return found == checkpoint.notes.end() ? "" : found->second;
}

std::string ScheduleText(const TrainerOptions& options) {
  return options.schedule +
         (options.learning_rate ? Format(" %a", *options.learning_rate) : "");
}

std::string WorkersText(const TrainerOptions& options) {
  return options.workers > 1 ? std::to_string(options.workers) : "";
}

RuleFacts RulesOf(const TrainerOptions& options, const TrainFacts& facts) {
  std::vector<std::string> more;
  for (const auto& [name, value] : facts.optimizer_options) {
    more.push_back(name + "=" + value);
  }
  std::ranges::sort(more);
  return {{"--lr",
           options.learning_rate ? Format("%g", *options.learning_rate) : ""},
          {"--lr-schedule", options.schedule},
          {"--accumulate", std::to_string(options.accumulate)},
          {"--precision", facts.precision},
          {"--optimizer", facts.optimizer},
          {"--opt", runtime::Joined(more, " ")},
          {"--label-smoothing", facts.label_smoothing},
          {"--ema", options.ema > 0 ? Format("%g", options.ema) : ""}};
}

}  // namespace mxc::train
