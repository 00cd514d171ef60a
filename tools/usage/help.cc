// SPDX-License-Identifier: Apache-2.0
// Help in the columns that there are: names on the left, prose beside them.
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string_view>

#include "runtime/base/terminal.h"
#include "runtime/base/visible.h"
#include "tools/usage/usage.h"

namespace mxc {
namespace {

constexpr size_t kNarrowest = 40, kWidest = 79;

// Columns of the terminal that stdout is, if it is narrower than kWidest.
size_t Width() {
  const size_t columns = runtime::TerminalColumns(STDOUT_FILENO);
  if (columns == 0) return kWidest;
  return std::clamp(columns, kNarrowest, kWidest);
}

// `text` in lines of at most `width` columns: the first begins at column
// `begin`, the others at `indent`. A line ends behind `separator`, which stays
// unless it is a space.
std::string Flow(std::string_view text, char separator, size_t begin,
                 size_t indent, size_t width) {
  std::string out;
  size_t column = begin;
  while (!text.empty()) {
    const size_t end = std::min(text.find(separator), text.size() - 1) + 1;
    const std::string_view piece = text.substr(0, end);
    const bool space = piece.back() == ' ';
    const size_t columns = runtime::CharactersIn(piece) - (space ? 1 : 0);
    if (column > begin && column + columns > width) {
      if (out.back() == ' ') out.pop_back();
      out += "\n" + std::string(indent, ' ');
      column = begin = indent;
    }
    out += piece;
    column += columns + (space ? 1 : 0);
    text.remove_prefix(end);
  }
  return out;
}

// "  digits    drawn digits": its prose goes on below itself.
std::string Row(const std::string& line, size_t width) {
  const size_t name = line.find_first_not_of(' ');
  const size_t gap = line.find("  ", name);
  const size_t prose = line.find_first_not_of(' ', gap);
  if (gap == std::string::npos || prose == std::string::npos) return line;
  return line.substr(0, prose) +
         Flow(std::string_view(line).substr(prose), ' ', prose, prose, width);
}

// Each option and its value as one word, whose blank is this character.
constexpr char kJoint = '\x01';
std::string Joined(std::string line) {
  bool option = false;
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find(' ', begin), line.size());
    const bool next = line[begin] == '-';
    if (option && !next && begin > 0) line[begin - 1] = kJoint;
    option = next && line.compare(begin, end - begin, "--") != 0;
    begin = end + 1;
  }
  return line;
}

// An example, which stays one that can be copied: where it goes on below, its
// line ends with a backslash.
std::string CommandLine(std::string_view line, size_t width) {
  constexpr size_t kFurther = 6;
  constexpr std::string_view kGoesOn = " \\";
  if (runtime::CharactersIn(line) <= width) return std::string(line);
  const bool goes_on = line.ends_with(kGoesOn);
  if (goes_on) line.remove_suffix(kGoesOn.size());
  const size_t indent = line.find_first_not_of(' ');
  std::string text = std::string(indent, ' ') +
                     Flow(Joined(std::string(line.substr(indent))), ' ', indent,
                          kFurther, width - kGoesOn.size());
  std::ranges::replace(text, kJoint, ' ');
  for (size_t end = text.find('\n'); end != text.npos;
       end = text.find('\n', end + kGoesOn.size() + 1)) {
    text.insert(end, kGoesOn);
  }
  return text + (goes_on ? std::string(kGoesOn) : "");
}

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option,
                          bool is_positional) const override {
    return Entry(
        make_option_name(option, is_positional) + make_option_opts(option),
        make_option_desc(option));
  }
  std::string make_group(
      std::string group, bool is_positional,
      std::vector<const CLI::Option*> options) const override {
    std::string text = (is_positional ? "\n" : "") + group + ":\n";
    if (group == kAsForCompile) return text + Names(options);
    for (const CLI::Option* option : options) {
      text += make_option(option, is_positional);
    }
    return is_positional ? text + "\n" : text;
  }
  std::string make_usage(const CLI::App* app, std::string name) const override {
    const bool positional = !make_positionals(app).empty();
    return Formatter::make_usage(app, name) + (positional ? "" : "\n");
  }
  std::string make_subcommand(const CLI::App* command) const override {
    return Entry(command->get_name(), command->get_description());
  }
  std::string make_description(const CLI::App* app) const override {
    return Flow(app->get_description(), ' ', 0, 0, width_) + "\n";
  }
  std::string make_footer(const CLI::App* app) const override {
    std::istringstream lines(app->get_footer());
    std::string text;
    for (std::string line; std::getline(lines, line);) {
      const bool example = line.starts_with(' ');
      text += (example ? CommandLine(line, width_)
                       : Flow(line, ' ', 0, 0, width_)) +
              "\n";
    }
    return text;
  }

 private:
  std::string Names(const std::vector<const CLI::Option*>& options) const {
    constexpr size_t kIndent = 2;
    std::string names;
    for (const CLI::Option* option : options) {
      names += (names.empty() ? "" : ", ") + option->get_name();
    }
    return std::string(kIndent, ' ') +
           Flow(names, ' ', kIndent, kIndent, width_) + "\n";
  }

  std::string Entry(const std::string& name, const std::string& prose) const {
    constexpr size_t kIndent = 2, kFurther = 6;
    std::string text = "  " + Flow(name, ',', kIndent, kFurther, width_);
    if (prose.empty()) return text + "\n";
    const bool below = runtime::CharactersIn(text) + 2 > prose_;
    text += below ? "\n" + std::string(prose_, ' ')
                  : std::string(prose_ - runtime::CharactersIn(text), ' ');
    return text + Prose(prose) + "\n";
  }

  // Lines that are indented are rows of a table.
  std::string Prose(const std::string& prose) const {
    std::string text;
    std::istringstream lines(prose);
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with("  ")) {
        text += "\n" + Row("  " + line, width_);
        continue;
      }
      if (!text.empty()) text += "\n" + std::string(prose_, ' ');
      text += Flow(line, ' ', prose_, prose_, width_);
    }
    return text;
  }

  const size_t width_ = Width();
  const size_t prose_ = width_ < 70 ? 18 : 28;  // where it begins
};

}  // namespace

void SettleHelp(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
}

}  // namespace mxc
