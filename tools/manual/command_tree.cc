// SPDX-License-Identifier: Apache-2.0
#include "tools/manual/command_tree.h"

#include <algorithm>
#include <sstream>

#include "tools/command.h"
#include "tools/manual/words.h"
#include "tools/run/subcommand.h"

namespace mxc::manual {
namespace {

// "TEXT:{a,b}" is a value of two words, and so is "TEXT:{a->0,b->1}", where the
// program takes numbers for them.
void TakeValue(const std::string& type, Option& option) {
  const size_t open = type.find('{'), close = type.find('}');
  option.value =
      type.substr(0, std::min(type.find_first_of(":{ ["), type.size()));
  if (open == type.npos || close == type.npos || close < open) return;
  std::istringstream words(type.substr(open + 1, close - open - 1));
  for (std::string word; std::getline(words, word, ',');) {
    option.choices.push_back(word.substr(0, word.find("->")));
  }
}

Option OptionOf(const CLI::Option& from) {
  Option option;
  for (const std::string& name : from.get_lnames()) {
    option.names.push_back("--" + name);
  }
  for (const std::string& name : from.get_snames()) {
    option.names.push_back("-" + name);
  }
  if (from.get_expected_max() != 0 && from.get_type_size_max() != 0) {
    TakeValue(from.get_type_name(), option);
    if (option.names.empty()) option.value = from.get_name(true);
    if (option.value.empty()) option.value = "VALUE";
    option.otherwise = from.get_default_str();
  }
  option.prose = from.get_description();
  option.required = from.get_required();
  return option;
}

Command CommandOf(const CLI::App& app) {
  Command command{
      app.get_name(), app.get_description(), app.get_footer(), {}, {}};
  const auto shown = [](const CLI::Option* o) {
    return !o->get_group().empty();
  };
  for (const CLI::Option* option : app.get_options(shown)) {
    Option& taken = command.options.emplace_back(OptionOf(*option));
    taken.words = taken.choices;
    if (!taken.words.empty()) continue;
    taken.words = WordsOf(taken.names.empty() ? command.name + " " + taken.value
                                              : taken.names.front());
  }
  for (const CLI::App* sub : app.get_subcommands(
           [](const CLI::App* sub) { return !sub->get_group().empty(); })) {
    command.subcommands.push_back(CommandOf(*sub));
  }
  return command;
}

bool Has(const CLI::App& app, const std::string& name) {
  return !app.get_subcommands(
                 [&](const CLI::App* sub) { return sub->get_name() == name; })
              .empty();
}

// Those that `app` does not have.
void AddRunSubcommands(CLI::App& app, run::Reporting& reporting) {
#define MXC_RUN_SUBCOMMAND(name, Function, prose)               \
  if (!Has(app, name)) {                                        \
    run::Function(*app.add_subcommand(name, prose), reporting); \
  }
#include "tools/run/subcommands.def"
#undef MXC_RUN_SUBCOMMAND
}

}  // namespace

std::vector<std::string> Command::FirstWords() const {
  std::vector<std::string> words;
  for (const Command& command : subcommands) words.push_back(command.name);
  for (const Option& option : options) {
    if (option.names.empty() && words.empty()) words = option.words;
  }
  return words;
}

Command MxcTree() {
  CLI::App app("compiles symbolic neural networks into native code", "mxc");
  app.set_version_flag("-V,--version", MXC_VERSION);
#define MXC_SUBCOMMAND(group, name, Function, prose) \
  Function(*app.add_subcommand(name, prose));
#include "tools/subcommands.def"
#undef MXC_SUBCOMMAND
  run::Reporting reporting;
  AddRunSubcommands(app, reporting);
  return CommandOf(app);
}

Command MxcRunTree() {
  CLI::App app("runs, trains, scores and benchmarks compiled networks",
               "mxc-run");
  app.set_version_flag("-V,--version", MXC_VERSION);
  run::Reporting reporting;
  AddRunSubcommands(app, reporting);
  return CommandOf(app);
}

}  // namespace mxc::manual
