// SPDX-License-Identifier: Apache-2.0
#include "tools/tune/trial_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

// What the loop knows and the compiler asks, too.
const std::set<std::string>& CompiledLoopOptions() {
  static const std::set<std::string> names = {"--accumulate", "--device"};
  return names;
}

// What a search settles for all of its trials.
const std::set<std::string>& SettledOptions() {
  static const std::set<std::string> names = {
      "MODEL", "--epochs", "--steps", "--save", "--val", "--val-opt", "--help"};
  return names;
}

}  // namespace

std::string TextOf(const tune::Texts& parameters) {
  std::string text;
  for (const auto& [name, value] : parameters) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

Result<TrialWords> TrialWords::Of(const Training& training,
                                  const std::set<std::string>& own,
                                  const tune::Space& space) {
  TrialWords words;
  const CLI::App& app = training.app();
  words.given_.push_back(training.options().request.request.network.model);
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (name == "MODEL" || own.contains(name) || option->count() == 0) continue;
    if (option->get_expected_max() == 0) {
      words.given_.push_back(name);
      continue;
    }
    for (const std::string& value : option->results()) {
      words.given_.push_back(name);
      words.given_.push_back(value);
    }
  }
  Diagnostics errors;
  for (const tune::Dimension& dimension : space) {
    const size_t dot = dimension.name.find('.');
    Spelling spelling{"--" + dimension.name.substr(0, dot), "", false};
    const CLI::Option* option = app.get_option_no_throw(spelling.option);
    if (option == nullptr && dot == std::string::npos) {  // the optimizer's
      spelling = {"--opt", dimension.name + "=", false};
    } else if (dot != std::string::npos) {
      spelling.before = dimension.name.substr(dot + 1) + "=";
    }
    const std::string& name = spelling.option;
    if (app.get_option_no_throw(name) == nullptr || own.contains(name) ||
        SettledOptions().contains(name)) {
      errors.push_back(UnplacedError(fmt::format(
          "search '{}': '{}' is no setting that trials may have each its own",
          dimension.ToString(), dimension.name)));
      continue;
    }
    if (spelling.before.empty() && option != nullptr && option->count() > 0) {
      errors.push_back(UnplacedError(
          fmt::format("{} is given, and it is searched, too", name)));
    }
    const bool of_loop =
        training.loop().Knows(name) && !CompiledLoopOptions().contains(name);
    spelling.compiled = !of_loop && name != "--seed";
    words.searches_seed_ = words.searches_seed_ || name == "--seed";
    words.spellings_.push_back(std::move(spelling));
  }
  if (!errors.empty()) return errors;
  return words;
}

std::vector<std::string> TrialWords::For(const tune::Texts& parameters) const {
  std::vector<std::string> words = given_;
  for (size_t i = 0; i < spellings_.size(); ++i) {
    words.push_back(spellings_[i].option);
    words.push_back(spellings_[i].before + parameters[i].second);
  }
  return words;
}

std::string TrialWords::ArtifactOf(const tune::Texts& parameters) const {
  std::string text;
  for (size_t i = 0; i < spellings_.size(); ++i) {
    if (!spellings_[i].compiled) continue;
    text += parameters[i].first + "=" + parameters[i].second + "\n";
  }
  return text;
}

}  // namespace mxc
