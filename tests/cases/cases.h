// SPDX-License-Identifier: Apache-2.0
// mxc-cases: runs folders of cases that were computed by somebody else. Each
// function takes a folder of the form that its file describes, and returns the
// exit code.
#pragma once

#include <string>
#include <vector>

#include "tests/cases/engine.h"

namespace mxc {

struct CaseOptions {
  std::string folder;
  std::string only;  // names that begin so
  bool verbose = false;
  std::string part;  // operators: "outputs" or "gradients" alone
  EngineOptions engine;
  std::string device;  // "cuda:emulated"; empty: the CPU
  std::vector<std::string> targets = {"x86-64-v3"};  // models
  std::vector<int> threads = {1};
};

int RunOperatorCases(const CaseOptions& options);
int RunModelCases(const CaseOptions& options);
int RunSymbolCases(const CaseOptions& options);
int RunTrainingCases(const CaseOptions& options);
int RunBadCases(const CaseOptions& options);
int RunKvstoreCases(const CaseOptions& options);
int RunOnnxCases(const CaseOptions& options);

}  // namespace mxc
