// SPDX-License-Identifier: Apache-2.0
// Completion for bash: by subcommand its options, by option its words, else
// files.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/command_tree.h"

namespace mxc::manual {
namespace {

std::string OptionNames(const Command& command) {
  std::string names;
  for (const Option& option : command.options) {
    for (const std::string& name : option.names) {
      names += (names.empty() ? "" : " ") + name;
    }
  }
  return names;
}

// The words after an option, or in a positional's place.
std::string ChoiceCases(const Command& command) {
  std::string cases;
  const auto add = [&](const std::string& after,
                       const std::vector<std::string>& words) {
    if (words.empty()) return;
    cases += fmt::format("    '{} {}') words='{}' ;;\n", command.name, after,
                         fmt::join(words, " "));
  };
  for (const Option& option : command.options) {
    for (const std::string& name : option.names) add(name, option.words);
  }
  add(command.name, command.FirstWords());
  return cases;
}

}  // namespace

std::string BashCompletion(const Command& program) {
  std::string verbs = OptionNames(program), options, choices;
  for (const Command& command : program.subcommands) {
    verbs += " " + command.name;
    options += fmt::format("    {}) words='{}' ;;\n", command.name,
                           OptionNames(command));
    choices += ChoiceCases(command);
  }
  std::string function = "_" + program.name;
  for (char& c : function) c = c == '-' ? '_' : c;
  return fmt::format(
      "# SPDX-License-Identifier: Apache-2.0\n"
      "{0}() {{\n"
      "  local cur=${{COMP_WORDS[COMP_CWORD]}} words=\n"
      "  local verb=${{COMP_WORDS[1]}} prev=${{COMP_WORDS[COMP_CWORD-1]}}\n"
      "  COMPREPLY=()\n"
      "  case $verb\\ $prev in\n{1}  esac\n"
      "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
      "    words='{2}'\n"
      "  elif [ -z \"$words\" ] && [ \"${{cur:0:1}}\" = - ]; then\n"
      "    case $verb in\n{3}    esac\n"
      "  fi\n"
      "  [ -z \"$words\" ] ||\n"
      "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
      "}}\n"
      "complete -o default -F {0} {4}\n",
      function, choices, verbs, options, program.name);
}

}  // namespace mxc::manual
