// SPDX-License-Identifier: Apache-2.0
// One of Caffe's solvers in place of a network: the words of the training that it
// asks for, and what the command line says otherwise.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "ir/support/result.h"

namespace mxc {

struct SolverWords {
  std::vector<std::string> words;  // behind "mxc train"
  std::vector<std::string> notes;  // a sentence each
};

// Returns whether the file is a solver, by its content.
bool IsSolverFile(const std::string& path);

// What `app` has parsed wins: an option that was given takes the place of the
// solver's, --opt and its like name by name.
Result<SolverWords> WordsOfSolver(const CLI::App& app, const std::string& path);

// Has them begin with a .solverstate and the .caffemodel that it names, which
// may lie beside it.
Status BeginWith(const std::string& snapshot, SolverWords& words);

}  // namespace mxc
