// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal.h"

#include <fmt/format.h>

#include "tools/command.h"

namespace mxc {

void PrintLines(std::FILE* out, std::string_view lines) {
  const std::string text = runtime::VisibleLines(lines);
  std::fwrite(text.data(), 1, text.size(), out);
}

void AddJsonOption(CLI::App& app, Manners& manners) {
  app.add_flag("--json", manners.json, "report as JSON on stdout");
}

void AddQuietOption(CLI::App& app, Manners& manners) {
  app.add_flag("--quiet", manners.quiet, "no progress lines");
}

std::string FormatBytes(int64_t bytes) {
  if (bytes < 1024) return fmt::format("{} B", bytes);
  const double kib = static_cast<double>(bytes) / 1024;
  if (kib < 1023.95) return fmt::format("{:.1f} KiB", kib);
  if (kib < 1023.95 * 1024) return fmt::format("{:.1f} MiB", kib / 1024);
  return fmt::format("{:.2f} GiB", kib / 1024 / 1024);
}

std::string FormatSeconds(double seconds) {
  if (seconds < 0.00095) return fmt::format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.00995) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 0.9995) return fmt::format("{:.0f} ms", seconds * 1e3);
  return fmt::format("{:.1f} s", seconds);
}

std::string Count(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

void PrintPhase(const Manners& manners, std::string_view phase,
                std::string_view text, double seconds) {
  if (manners.quiet || manners.json) return;
  PrintErr("  {:<9} {:<61} {:>7}\n", phase, text, FormatSeconds(seconds));
}

void PrintPhase(const Manners& manners, std::string_view phase,
                std::string_view text) {
  if (manners.quiet || manners.json) return;
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

int Fail(const Manners& manners, const Diagnostics& errors,
         std::string_view consequence) {
  if (manners.json) {
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

Diagnostic Complaint(std::string message) {
  return {{}, std::move(message), {}};
}

}  // namespace mxc
