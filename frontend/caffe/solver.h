// SPDX-License-Identifier: Apache-2.0
// A solver as the options of the `mxc train` that does the same.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/caffe/schema.h"
#include "frontend/network_source.h"
#include "ir/support/result.h"

namespace mxc::caffe {

// An option of `mxc train`.
struct SaidOption {
  std::string name, value;  // "--opt", "momentum=0.9"; no value: a flag
};

struct SolverCommand {
  std::string net;  // a file
  std::vector<SaidOption> options;
  // What is otherwise than in Caffe, or left out, a sentence each.
  std::vector<std::string> notes;
};

struct Solver {
  std::shared_ptr<const SourceFile> source;
  protobuf::Storage storage;
  SolverParameter solver;
};

// Returns whether the file is one, by its first field.
bool IsSolver(const NetworkSource& source);

// The type is the newest generation's word.
Result<std::shared_ptr<const Solver>> ReadSolver(
    std::shared_ptr<const SourceFile> source);

// Reads the solver and the net that it names. Caffe looks for files from where
// it is started, at the root of its tree; so here files lie where the solver
// says, seen from where mxc is started, from a folder above the solver, or beside
// it. Source: solver.cpp, sgd_solver.cpp of BVLC/caffe.
Result<SolverCommand> CommandOf(const NetworkSource& source);

}  // namespace mxc::caffe
