// SPDX-License-Identifier: Apache-2.0
#include "tools/usage/usage.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string_view>

#include "runtime/base/nearest.h"
#include "runtime/base/visible.h"
#include "tools/usage/errors_json.h"
#include "tools/usage/synonyms.h"
#include "tools/usage/values.h"

namespace mxc {
namespace {

// The subcommand that was being read, else the program.
const CLI::App& Innermost(const CLI::App& app) {
  const auto chosen = app.get_subcommands();
  return chosen.empty() ? app : *chosen.front();
}

std::string NearestTo(const std::string& word,
                      const std::vector<std::string>& known) {
  const std::vector<std::string_view> names(known.begin(), known.end());
  std::string_view nearest = runtime::Nearest(word, names);
  // "--batch" for "--batch-size", and the other way round.
  for (const std::string_view name : names) {
    if (!nearest.empty()) break;
    if (name.starts_with(word + "-") ||
        word.starts_with(std::string(name) + "-")) {
      nearest = name;
    }
  }
  return runtime::NearestNote(nearest);
}

std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
  }
  return names;
}

std::string InsteadOf(const std::string& option, const CLI::App& command) {
  const std::string_view synonym = SynonymOf(command, option);
  if (!synonym.empty()) return "; instead: " + std::string(synonym);
  return NearestTo(option, OptionNames(command));
}

std::vector<std::string> SubcommandNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) {
    names.push_back(command->get_name());
  }
  return names;
}

bool IsNumber(const std::string& word) {
  double value = 0;
  return CLI::detail::lexical_cast(word, value);
}

// Words that nothing takes. Those behind an unknown option are probably its
// values.
std::vector<std::string> Unexpected(const CLI::App& command) {
  std::vector<std::string> errors;
  bool behind_unknown = false;
  for (const std::string& word : command.remaining()) {
    if (word == "--") continue;
    if (word.size() > 1 && word[0] == '-' &&
        !(behind_unknown && IsNumber(word))) {
      const std::string name = word.substr(0, word.find('='));
      errors.push_back("no option " + name + InsteadOf(name, command));
      behind_unknown = true;
    } else if (!behind_unknown) {
      errors.push_back("'" + word + "' was not expected");
    }
  }
  return errors;
}

// CLI11's sentence in plain words.
std::string Sentence(const CLI::ParseError& error) {
  const std::string text = error.what();
  constexpr std::string_view kConvert = "Could not convert: ";
  const size_t equals = text.find(" = ");
  if (text.starts_with(kConvert) && equals != std::string::npos) {
    const std::string value = text.substr(equals + 3);
    return text.substr(kConvert.size(), equals - kConvert.size()) + ": '" +
           value + (IsDigits(value) ? "' is too large" : "' cannot be read");
  }
  // "--html: 1 required FILE missing"
  constexpr std::string_view kMissing = " missing", kOne = ": 1 required ";
  const size_t one = text.find(kOne);
  if (text.ends_with(kMissing) && one != std::string::npos) {
    const size_t begin = one + kOne.size();
    std::string what =
        text.substr(begin, text.size() - kMissing.size() - begin);
    // "TEXT:{mxa,so,obj}": one of these.
    const size_t list = what.find(":{");
    if (list != std::string::npos && what.ends_with('}')) {
      what = "one of " +
             CLI::detail::join(
                 CLI::detail::split(
                     what.substr(list + 2, what.size() - list - 3), ','),
                 ", ");
    }
    return text.substr(0, one) + " needs " + what;
  }
  // "--lr: At Most 1 required but received 2"
  constexpr std::string_view kAtMost = ": At Most 1 required but received ";
  const size_t at_most = text.find(kAtMost);
  if (at_most != std::string::npos) {
    return text.substr(0, at_most) + " is given " +
           text.substr(at_most + kAtMost.size()) + " times, expected once";
  }
  if (text == "A subcommand is required") return "a subcommand is required";
  return text;
}

void RequireItemsOf(const CLI::App& command,
                    const std::vector<std::string>& words) {
  for (size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const size_t equals = words[i].find('=');
    const std::string name = words[i].substr(0, equals);
    const CLI::Option* option =
        name.starts_with("-") ? command.get_option_no_throw(name) : nullptr;
    if (option == nullptr || option->get_delimiter() == '\0') continue;
    std::string list;
    if (equals != name.npos) {
      list = words[i].substr(equals + 1);
    } else if (i + 1 < words.size()) {
      list = words[i + 1];
    }
    const char comma = option->get_delimiter();
    const std::string closed = comma + list + comma;
    if (list.empty() || closed.find({comma, comma}) == closed.npos) continue;
    throw CLI::ValidationError(name, "'" + list + "' has an empty item");
  }
}

void PrintUsageJson(const std::vector<std::string>& errors) {
  const auto replace = nlohmann::ordered_json::error_handler_t::replace;
  std::fputs((ErrorsJson(errors).dump(2, ' ', false, replace) + "\n").c_str(),
             stdout);
}

}  // namespace

void RequireItems(CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> words(argv + std::min(argc, 2), argv + argc);
  for (CLI::App* command : app.get_subcommands({})) {
    command->preparse_callback(
        [command, words](size_t) { RequireItemsOf(*command, words); });
  }
}

std::vector<std::string> UsageErrors(const CLI::App& app,
                                     const CLI::ParseError& error) {
  const CLI::App& command = Innermost(app);
  const std::vector<std::string> words = command.remaining();
  const std::vector<std::string> below = SubcommandNames(command);
  if (!below.empty() && !words.empty() && words[0][0] != '-') {
    const std::string nearest = NearestTo(words[0], below);
    return {"'" + words[0] + "' is no subcommand" +
            (nearest.empty() ? "; expected " + CLI::detail::join(below, ", ")
                             : nearest)};
  }
  std::vector<std::string> errors = Unexpected(command);
  const bool about_words =
      dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (!about_words && !(!below.empty() && !errors.empty())) {
    errors.push_back(Sentence(error));
  }
  return errors;
}

int ReportUsage(const CLI::App& app, const CLI::ParseError& error, int argc,
                char** argv) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  const std::vector<std::string> errors = UsageErrors(app, error);
  const CLI::App& command = Innermost(app);
  std::string name = app.get_name();
  if (&command != &app) name += " " + command.get_name();
  if (std::find(argv, argv + argc, std::string_view("--json")) != argv + argc) {
    PrintUsageJson(errors);
    return kUsageExitCode;
  }
  for (const std::string& message : errors) {
    std::fprintf(stderr, "%s: %s\n", name.c_str(),
                 runtime::Visible(message).c_str());
  }
  std::fprintf(stderr, "see '%s --help'\n", name.c_str());
  return kUsageExitCode;
}

}  // namespace mxc
