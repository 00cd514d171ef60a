// SPDX-License-Identifier: Apache-2.0
// A page for man(1), in roff's macros "man" (man(7)).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "tools/manual/command_tree.h"

namespace mxc::manual {
namespace {

// Text that roff prints as it is.
std::string Roff(const std::string& text) {
  std::string out;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      out += c;
    }
    starts_line = c == '\n';
  }
  return out;
}

std::string Upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) {
    return static_cast<char>(std::toupper(c));
  });
  return text;
}

std::string OptionText(const Option& option) {
  std::string head;
  for (const std::string& name : option.names) {
    head += fmt::format("{}\\fB{}\\fR", head.empty() ? "" : ", ", Roff(name));
  }
  if (!option.value.empty()) {
    head += fmt::format("{}\\fI{}\\fR", head.empty() ? "" : " ",
                        Roff(option.value));
  }
  std::string prose = option.prose;
  if (!option.choices.empty()) {
    prose += fmt::format("; one of {}", fmt::join(option.choices, ", "));
  }
  if (!option.otherwise.empty()) {
    prose += fmt::format("; {} by default", option.otherwise);
  }
  return fmt::format(".TP\n{}\n{}\n", head, Roff(prose));
}

// "mxc compile [options] MODEL"
std::string Usage(const std::string& program, const Command& command) {
  std::string usage = fmt::format("\\fB{} {}\\fR [\\fIoptions\\fR]",
                                  Roff(program), Roff(command.name));
  for (const Option& option : command.options) {
    if (!option.names.empty()) continue;
    const std::string value = "\\fI" + Roff(option.value) + "\\fR";
    usage += option.required ? " " + value : " [" + value + "]";
  }
  return usage;
}

std::string Subcommand(const std::string& program, const Command& command) {
  std::string text = fmt::format(".SH {}\n{}\n.PP\n{}.\n", Upper(command.name),
                                 Usage(program, command), Roff(command.prose));
  for (const Option& option : command.options) text += OptionText(option);
  if (!command.footer.empty()) {
    text += fmt::format(".PP\n.nf\n{}\n.fi\n", Roff(command.footer));
  }
  return text;
}

std::string Synopsis(const Command& program) {
  std::string text;
  for (const Command& command : program.subcommands) {
    text += Usage(program.name, command) + "\n.br\n";
  }
  return text;
}

}  // namespace

std::string ManPage(const Command& program) {
  std::string text = fmt::format(
      ".\\\" SPDX-License-Identifier: Apache-2.0\n"
      ".TH {} 1 \"\" \"mxc {}\" \"User Commands\"\n"
      ".SH NAME\n{} \\- {}\n.SH SYNOPSIS\n{}",
      Roff(Upper(program.name)), MXC_VERSION, Roff(program.name),
      Roff(program.prose), Synopsis(program));
  text += ".SH OPTIONS\n";
  for (const Option& option : program.options) text += OptionText(option);
  for (const Command& command : program.subcommands) {
    text += Subcommand(program.name, command);
  }
  text +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nsuccess\n"
      ".TP\n1\nerrors in the input or in its surroundings\n"
      ".TP\n2\nbad usage\n";
  text += fmt::format(".SH SEE ALSO\n\\fB{}\\fR(1)\n",
                      program.name == "mxc" ? "mxc\\-run" : "mxc");
  return text;
}

}  // namespace mxc::manual
