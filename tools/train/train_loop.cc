// SPDX-License-Identifier: Apache-2.0
#include "tools/train/train_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

// What mxc-run is told as well; the others are settled when it is compiled.
const std::set<std::string>& SharedOptions() {
  static const std::set<std::string> names = {
      "MODEL",  "--data",  "--data-opt", "--batch-size", "--seed",
      "--json", "--quiet", "--help",     "--functions",  "--kvstore"};
  return names;
}

bool Accept(const CLI::results_t&) { return true; }

}  // namespace

TrainLoop::TrainLoop() : command_(run::AddTrain(app_, reporting_)) {}

void TrainLoop::Declare(CLI::App& app) {
  for (const CLI::Option* option : app_.get_options()) {
    const std::string name = option->get_name();
    if (option->get_positional() || name == "--help" ||
        app.get_option_no_throw(name) != nullptr) {
      continue;
    }
    names_.insert(name);
    app.add_option(option->get_name(false, true), CLI::callback_t(Accept),
                   option->get_description())
        ->type_size(option->get_type_size_min(), option->get_type_size_max())
        ->expected(option->get_expected_min(), option->get_expected_max())
        ->allow_extra_args(option->get_allow_extra_args())
        ->type_name(option->get_type_name())
        ->default_str(option->get_default_str())
        ->group(option->get_group());
  }
}

void TrainLoop::Check(std::vector<std::string> words) {
  std::ranges::reverse(words);
  app_.parse(std::move(words));
}

bool TrainLoop::Says(const std::string& option) const {
  return app_.get_option(option)->count() > 0;
}

std::string TrainLoop::Value(const std::string& option) const {
  const std::vector<std::string> values = Values(option);
  return values.empty() ? "" : values.back();
}

std::vector<std::string> TrainLoop::Values(const std::string& option) const {
  return app_.get_option(option)->results();
}

std::vector<std::string> WordsForRun(const CLI::App& app,
                                     const TrainLoop& loop) {
  std::vector<std::string> words;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    const bool shared = SharedOptions().contains(name);
    if (name == "MODEL" || name == "--batch-size" || option->count() == 0 ||
        !(shared || loop.Knows(name))) {
      continue;
    }
    if (option->get_expected_max() == 0) {
      words.push_back(name);
      continue;
    }
    for (const std::string& value : option->results()) {
      words.push_back(name);
      words.push_back(value);
    }
  }
  return words;
}

Status RequireNoPlan(const CLI::App& app, const TrainLoop& loop,
                     const std::string& artifact) {
  Diagnostics errors;
  for (const CLI::Option* option : app.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || SharedOptions().contains(name) ||
        loop.Knows(name)) {
      continue;
    }
    errors.push_back(UnplacedError(fmt::format(
        "{} is settled when a network is compiled; '{}' is an artifact", name,
        artifact)));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace mxc
