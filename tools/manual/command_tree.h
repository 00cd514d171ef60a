// SPDX-License-Identifier: Apache-2.0
// A program's subcommands and options as its parser knows them: what manual
// pages and completion are written from.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace mxc::manual {

struct Option {
  std::vector<std::string> names;    // "--target", "-o"; none: positional
  std::string value;                 // "TEXT"; empty: a flag
  std::vector<std::string> choices;  // where only these words are taken
  std::vector<std::string> words;    // what a shell offers: these, or others
  std::string prose, otherwise;      // what it does, its default
  bool required = false;
};

struct Command {
  std::string name, prose, footer;
  std::vector<Option> options;
  std::vector<Command> subcommands;

  // What a shell offers behind the command's own name: its subcommands, or the
  // words of its positional.
  std::vector<std::string> FirstWords() const;
};

// `mxc`, with the subcommands that it hands over, and `mxc-run`.
Command MxcTree();
Command MxcRunTree();

// The texts of files, each of which serves one program.
std::string ManPage(const Command& program);
std::string BashCompletion(const Command& program);
std::string FishCompletion(const Command& program);
std::string ZshCompletion(const Command& program);

}  // namespace mxc::manual
