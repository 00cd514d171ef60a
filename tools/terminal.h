// SPDX-License-Identifier: Apache-2.0
// How the tools speak: progress and errors on stderr, reports on stdout.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "ir/support/diagnostic.h"
#include "runtime/base/visible.h"

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

struct Manners {
  bool json = false;
  bool quiet = false;
};

void AddJsonOption(CLI::App& app, Manners& manners);
void AddQuietOption(CLI::App& app, Manners& manners);

std::string FormatBytes(int64_t bytes);     // "712 B", "97.5 MiB"
std::string FormatSeconds(double seconds);  // "31 ms", "2.9 s"
// "1 error", "2 errors".
std::string Count(int64_t count, std::string_view noun);

class Stopwatch {
 public:
  double seconds() const {
    const std::chrono::duration<double> passed = Clock::now() - start_;
    return passed.count();
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

// "  read       437 nodes, 161 parameters, 97.5 MiB          31 ms"
void PrintPhase(const Manners& manners, std::string_view phase,
                std::string_view text, double seconds);
void PrintPhase(const Manners& manners, std::string_view phase,
                std::string_view text);

// "warning: …" on stderr, also with --quiet and --json.
void PrintWarning(std::string_view text);

void PrintJson(const Json& json);

// Prints the errors, with --json as {"errors": […]} on stdout, and returns the
// exit code. `consequence` ends the last line: "2 errors; nothing was written".
int Fail(const Manners& manners, const Diagnostics& errors,
         std::string_view consequence = "");

// An error about something that is no place in a file.
Diagnostic Complaint(std::string message);

}  // namespace mxc
