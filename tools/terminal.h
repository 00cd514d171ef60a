// SPDX-License-Identifier: Apache-2.0
// How the tools speak: progress and errors on stderr, reports on stdout.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <concepts>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "ir/support/diagnostic.h"
#include "ir/support/work_count.h"
#include "runtime/base/visible.h"
#include "tools/driver/figures.h"
#include "tools/driver/progress.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {

// Keys stay in the order in which they are written.
using Json = nlohmann::ordered_json;

// A text of lines, as VisibleLines leaves it. Whatever the tools write to a
// terminal goes through here, so that no file can talk to it.
void PrintLines(std::FILE* out, std::string_view lines);

// What an argument of PrintTo is printed as: texts may hold names from files,
// in which even a line feed is not meant.
template <class T>
decltype(auto) Shown(T&& value) {
  if constexpr (std::convertible_to<T, std::string_view>) {
    return runtime::Visible(std::string_view(value));
  } else {
    return std::forward<T>(value);
  }
}

// Prints as fmt::print does, with arguments in which nothing is hidden.
template <class... Args>
void PrintTo(std::FILE* out, fmt::format_string<Args...> format,
             Args&&... args) {
  const auto print = [&](const auto&... shown) {
    PrintLines(out, fmt::vformat(format, fmt::make_format_args(shown...)));
  };
  print(Shown(std::forward<Args>(args))...);
}
template <class... Args>
void PrintOut(fmt::format_string<Args...> format, Args&&... args) {
  PrintTo(stdout, format, std::forward<Args>(args)...);
}
template <class... Args>
void PrintErr(fmt::format_string<Args...> format, Args&&... args) {
  PrintTo(stderr, format, std::forward<Args>(args)...);
}

struct ReportStyle {
  bool json = false;
  bool quiet = false;
};

void AddJsonOption(CLI::App& app, ReportStyle& style);
void AddQuietOption(CLI::App& app, ReportStyle& style);

// "  read       437 nodes, 161 parameters, 97.5 MiB          31 ms"
void PrintPhase(const ReportStyle& style, std::string_view phase,
                std::string_view text, double seconds);
void PrintPhase(const ReportStyle& style, std::string_view phase,
                std::string_view text);

// "warning: …" on stderr, also with --quiet and --json.
void PrintWarning(std::string_view text);

void PrintJson(const Json& json);

// Prints the errors, with --json as {"errors": […]} on stdout, and returns the
// exit code. `consequence` ends the last line: "2 errors; nothing was written".
int Fail(const ReportStyle& style, const Diagnostics& errors,
         std::string_view consequence = "");

// A phase that may take long. On a terminal, from a moment on until the end of
// the block, a line with what is being done, how far it has come and for how
// long: "  generate  12 of 39, 3 s". Nothing else is printed meanwhile.
class Working {
 public:
  // `count` may be null, and must outlive it.
  Working(const ReportStyle& style, std::string phase,
          const WorkCount* count = nullptr);
  ~Working();
  Working(const Working&) = delete;
  Working& operator=(const Working&) = delete;

  // What is being done before anything is counted: "running it once". The text
  // must outlive it.
  void Say(const char* what) { saying_ = what; }

 private:
  void Tick();
  std::string Come() const;

  const std::string phase_;
  const WorkCount* const count_;
  std::atomic<const char*> saying_ = "";
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;  // none where nobody looks
};

// Passes on what a compilation says, as the user wants to hear it.
class TerminalProgress : public Progress {
 public:
  explicit TerminalProgress(const ReportStyle& style) : style_(style) {}
  void Phase(std::string_view name, std::string_view text,
             std::optional<double> seconds) override;
  void Warning(std::string_view text) override { PrintWarning(text); }
  // One line that is written over and over, on a terminal.
  void Measuring(std::string_view text) override;

 private:
  const ReportStyle style_;
};

}  // namespace mxc
