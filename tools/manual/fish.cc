// SPDX-License-Identifier: Apache-2.0
// Completion for fish.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tools/manual/command_tree.h"

namespace mxc::manual {
namespace {

// A word of fish's language.
std::string Quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string OptionLine(const std::string& program, const std::string& when,
                       const Option& option) {
  std::string line = fmt::format("complete -c {} -n {}", program, Quoted(when));
  for (const std::string& name : option.names) {
    const bool is_long = name.starts_with("--");
    line += fmt::format(" {} {}", is_long ? "-l" : "-s",
                        name.substr(is_long ? 2 : 1));
  }
  if (!option.words.empty()) {
    line += " -x -a " + Quoted(fmt::format("{}", fmt::join(option.words, " ")));
  } else if (!option.value.empty()) {
    line += " -r";
  }
  return line + " -d " + Quoted(option.prose) + "\n";
}

std::string OptionLines(const std::string& program, const std::string& when,
                        const Command& command) {
  std::string lines;
  for (const Option& option : command.options) {
    if (!option.names.empty()) lines += OptionLine(program, when, option);
  }
  return lines;
}

}  // namespace

std::string FishCompletion(const Command& program) {
  const std::string none = "__fish_use_subcommand";
  std::string text = "# SPDX-License-Identifier: Apache-2.0\n" +
                     OptionLines(program.name, none, program);
  for (const Command& command : program.subcommands) {
    text += fmt::format("complete -c {} -n {} -f -a {} -d {}\n", program.name,
                        none, command.name, Quoted(command.prose));
    const std::string seen = "__fish_seen_subcommand_from " + command.name;
    text += OptionLines(program.name, seen, command);
    const std::vector<std::string> first = command.FirstWords();
    if (first.empty()) continue;
    text += fmt::format("complete -c {} -n {} -f -a {}\n", program.name,
                        Quoted(seen),
                        Quoted(fmt::format("{}", fmt::join(first, " "))));
  }
  return text;
}

}  // namespace mxc::manual
