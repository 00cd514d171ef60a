// SPDX-License-Identifier: Apache-2.0
// What a setting of a training may be. A struct describes its settings once to
// whatever takes `Fields`: the reader of name=value (settings.h), the
// options of a command line, a list of them for people.
//
//   template <class Fields>
//   void Describe(Fields& f) {
//     f.Group("Training");
//     f.Number("epochs", epochs, kAtLeast1, "in all", {.shown = true});
//     f.Flag("resume", resume, "go on from the newest checkpoint");
//     f.Text("save", save, "PREFIX", "write checkpoints");
//     f.List("data-opt", settings, "NAME=VALUE", "an option of the source");
//   }
//
// Number takes int, int64_t, uint32_t, uint64_t, double and std::optional of
// double.
#pragma once

#include <optional>
#include <string>

namespace mxc::fit {

// What a number may be: both ends included, unless it is `inside` them.
struct Limits {
  std::optional<double> least = {}, most = {};
  bool inside = false;
};
inline constexpr Limits kAtLeast0{0}, kAtLeast1{1}, kInsideUnit{0, 1, true};

// How a setting is told to people.
struct Told {
  bool shown = false;          // with its default
  const char* type = nullptr;  // "N"; null: what numbers are called
};

// What is wrong with a text, as a sentence; empty: nothing.
using Check = std::string (*)(const std::string& text);

}  // namespace mxc::fit
