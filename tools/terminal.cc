// SPDX-License-Identifier: Apache-2.0
#include "tools/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "runtime/base/terminal.h"
#include "tools/command.h"
#include "tools/usage/errors_json.h"

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

namespace {

constexpr size_t kPhaseColumns = 12;  // before the text of a phase

// Columns for the text of a phase; as many as it likes where nobody looks.
size_t TextColumns() {
  constexpr size_t kFewest = 24, kTime = 8, kMost = 61;
  const size_t columns = runtime::TerminalColumns(STDERR_FILENO);
  if (columns == 0) return std::string::npos;
  if (columns <= kPhaseColumns + kTime + kFewest) return kFewest;
  return std::min(kMost, columns - kPhaseColumns - kTime);
}

// What a line of a terminal cannot hold goes on below, at the same column.
// Leaves the last line in `text`.
std::string FirstLines(std::string& text) {
  const size_t columns = TextColumns();
  std::string lines;
  while (columns != std::string::npos && text.size() > columns) {
    const size_t space = text.rfind(' ', columns);
    if (space == std::string::npos || space == 0) break;
    lines += text.substr(0, space) + "\n" + std::string(kPhaseColumns, ' ');
    text.erase(0, space + 1);
  }
  return lines;
}

}  // namespace

void PrintPhase(const ReportStyle& style, std::string_view phase,
                std::string_view text, double seconds) {
  if (style.quiet || style.json) return;
  std::string last = runtime::Visible(text);
  const std::string first = FirstLines(last);
  const size_t width = std::min<size_t>(61, TextColumns());
  PrintLines(stderr, fmt::format("  {:<9} {}{:<{}} {:>7}\n", phase, first, last,
                                 width, FormatSeconds(seconds)));
}

void PrintPhase(const ReportStyle& style, std::string_view phase,
                std::string_view text) {
  if (style.quiet || style.json) return;
  std::string last = runtime::Visible(text);
  const std::string first = FirstLines(last);
  PrintLines(stderr, fmt::format("  {:<9} {}{}\n", phase, first, last));
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
      list.push_back({{"file", error.loc.file ? error.loc.file->path
                                              : FileNamedBy(error.message)},
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

Working::Working(const ReportStyle& style, std::string phase,
                 const WorkCount* count)
    : phase_(std::move(phase)), count_(count) {
  if (style.quiet || style.json || !runtime::RedrawsLines(STDERR_FILENO)) {
    return;
  }
  try {
    thread_ = std::thread([this] { Tick(); });
  } catch (const std::system_error&) {  // then nothing is shown
  }
}

Working::~Working() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

// "12 of 39, "; nothing where nobody counts.
std::string Working::Come() const {
  if (const std::string what = saying_.load(); !what.empty()) {
    return what + ", ";
  }
  const int64_t total = count_ == nullptr ? 0 : count_->total.load();
  if (total == 0) return "";
  const int64_t done = count_->done.load();
  if (!count_->bytes) return fmt::format("{} of {}, ", done, total);
  return fmt::format("{} of {}, ", FormatBytes(done), FormatBytes(total));
}

void Working::Tick() {
  using Clock = std::chrono::steady_clock;
  constexpr auto kEvery = std::chrono::milliseconds(200);
  const Clock::time_point begin = Clock::now();
  bool shown = false;
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, kEvery, [this] { return done_; })) {
    const std::chrono::duration<double> spent = Clock::now() - begin;
    // Whoever prints lines for people shows a "\r" instead of obeying it.
    std::fputs("\r\x1b[K", stderr);
    PrintErr("  {:<9} {}{:.0f} s", phase_, Come(), spent.count());
    std::fflush(stderr);
    shown = true;
  }
  if (shown) std::fputs("\r\x1b[K", stderr);
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
  if (style_.quiet || style_.json || !runtime::RedrawsLines(STDERR_FILENO))
    return;
  std::fputs("\r\x1b[K", stderr);
  if (text.empty()) return;
  PrintErr("  {:<9} {}", "measure", text.substr(0, kWidth));
  std::fflush(stderr);
}

}  // namespace mxc
