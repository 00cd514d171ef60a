// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include "tools/command.h"

namespace mxc {

void PrintLines(std::FILE* out, std::string_view lines) {
  const std::string text = runtime::VisibleLines(lines);
  std::fwrite(text.data(), 1, text.size(), out);
}

void AddJsonOption(CLI::App& app, ReportStyle& style) {
  app.option_defaults()->group("Report");
  app.add_flag("--json", style.json, "report as JSON on stdout");
}

void AddQuietOption(CLI::App& app, ReportStyle& style) {
  app.option_defaults()->group("Report");
  app.add_flag("--quiet", style.quiet, "no progress lines");
}

void PrintPhase(const ReportStyle& style, std::string_view phase,
                std::string_view text, double seconds) {
  if (style.quiet || style.json) return;
  PrintErr("  {:<9} {:<61} {:>7}\n", phase, text, FormatSeconds(seconds));
}

void PrintPhase(const ReportStyle& style, std::string_view phase,
                std::string_view text) {
  if (style.quiet || style.json) return;
  PrintErr("  {:<9} {}\n", phase, text);
}

void PrintWarning(std::string_view text) {
  PrintLines(stderr, fmt::format("warning: {}\n", text));
}

void PrintJson(const Json& json) {
  const auto replace = Json::error_handler_t::replace;
  // What is hidden is escaped as JSON escapes it.
  PrintLines(stdout, json.dump(2, ' ', false, replace) + "\n");
}

int Fail(const ReportStyle& style, const Diagnostics& errors,
         std::string_view consequence) {
  if (style.json) {
    Json list = Json::array();
    for (const Diagnostic& error : errors) {
      list.push_back({{"file", error.loc.file ? error.loc.file->path : ""},
                      {"line", error.loc.line},
                      {"column", error.loc.column},
                      {"path", error.loc.path},
                      {"message", error.message},
                      {"notes", error.notes}});
    }
    PrintJson({{"errors", list}, {"count", errors.size()}});
    return kFailure;
  }
  for (const Diagnostic& error : errors) {
    PrintLines(stderr, Render(error));
  }
  if (const std::string more = NotShown(errors); !more.empty()) {
    PrintErr("{}\n", more);
  }
  PrintErr("{}{}{}\n", Count(std::ssize(errors), "error"),
           consequence.empty() ? "" : "; ", consequence);
  return kFailure;
}

void TerminalProgress::Phase(std::string_view name, std::string_view text,
                             std::optional<double> seconds) {
  if (seconds) {
    PrintPhase(style_, name, text, *seconds);
  } else {
    PrintPhase(style_, name, text);
  }
}

void TerminalProgress::Measuring(std::string_view text) {
  constexpr size_t kWidth = 68;  // as a phase's line
  if (style_.quiet || style_.json || !isatty(STDERR_FILENO)) return;
  std::fputs("\r\x1b[K", stderr);
  if (text.empty()) return;
  PrintErr("  {:<9} {}", "measure", text.substr(0, kWidth));
  std::fflush(stderr);
}

}  // namespace mxc
