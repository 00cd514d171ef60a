// SPDX-License-Identifier: Apache-2.0
// The training loop is mxc-run's, and so are its options. `mxc train` knows them
// for --help, and to find mistakes before anything is compiled.
#pragma once

#include <CLI/CLI.hpp>
#include <set>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "tools/run/subcommand.h"

namespace mxc {

class TrainLoop {
 public:
  TrainLoop();

  // Declares on `app` what it does not have.
  void Declare(CLI::App& app);
  bool Knows(const std::string& name) const { return names_.contains(name); }

  // Throws what mxc-run would say of these words.
  void Check(std::vector<std::string> words);

  // What the words said, after Check.
  bool Says(const std::string& option) const;
  std::string Value(const std::string& option) const;  // empty: nothing
  std::vector<std::string> Values(const std::string& option) const;

 private:
  CLI::App app_;
  run::Reporting reporting_;
  run::Command command_;
  std::set<std::string> names_;
};

// What mxc-run is told of the words that `app` has parsed: what was said to both
// and what was not said to the compiler.
std::vector<std::string> WordsForRun(const CLI::App& app,
                                     const TrainLoop& loop);
// Refuses what only whoever compiles can settle.
Status RequireNoPlan(const CLI::App& app, const TrainLoop& loop,
                     const std::string& artifact);

}  // namespace mxc
