// SPDX-License-Identifier: Apache-2.0
// Completion for zsh, by its function _arguments.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/command_tree.h"

namespace mxc::manual {
namespace {

// Within single quotes of zsh's language; `special` is escaped, too.
std::string Escaped(const std::string& text, const std::string& special) {
  std::string out;
  for (const char c : text) {
    if (c == '\'') {
      out += "'\\''";
    } else if (special.find(c) != special.npos) {
      out += std::string("\\") + c;
    } else {
      out += c;
    }
  }
  return out;
}

std::string OptionLines(const Command& command) {
  std::string lines;
  for (const Option& option : command.options) {
    std::string action;
    if (!option.words.empty()) {
      const auto words = fmt::format("{}", fmt::join(option.words, " "));
      action = fmt::format(":{}:({})", Escaped(option.value, ":"),
                           Escaped(words, ":()\\"));
    } else if (!option.value.empty()) {
      action = fmt::format(":{}:_files", Escaped(option.value, ":"));
    }
    for (const std::string& name : option.names) {
      lines += fmt::format("      '*{}[{}]{}' \\\n", name,
                           Escaped(option.prose, "[]:\\"), action);
    }
  }
  return lines;
}

}  // namespace

std::string ZshCompletion(const Command& program) {
  std::string verbs, cases;
  for (const Command& command : program.subcommands) {
    verbs += fmt::format("    '{}:{}'\n", command.name,
                         Escaped(command.prose, ":\\"));
    const std::vector<std::string> first = command.FirstWords();
    cases += fmt::format(
        "    {}) _arguments \\\n{}{}      '*:file:_files' ;;\n", command.name,
        OptionLines(command),
        first.empty()
            ? ""
            : fmt::format(
                  "      '1:word:({})' \\\n",
                  Escaped(fmt::format("{}", fmt::join(first, " ")), ":()\\")));
  }
  return fmt::format(
      "#compdef {0}\n"
      "# SPDX-License-Identifier: Apache-2.0\n"
      "local -a verbs\n"
      "verbs=(\n{1})\n"
      "if (( CURRENT == 2 )); then\n"
      "  _describe subcommand verbs\n"
      "else\n"
      "  local verb=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $verb in\n{2}  esac\n"
      "fi\n",
      program.name, verbs, cases);
}

}  // namespace mxc::manual
