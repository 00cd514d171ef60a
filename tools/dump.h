// SPDX-License-Identifier: Apache-2.0
// Writes the program after a pass, for --dump-after.
#pragma once

#include <string>
#include <utility>

#include "ir/support/result.h"
#include "passes/pass.h"

namespace mxc {

// Writes what passes leave to FOLDER/03-fuse.program, or to stdout: for
// CompileRequest::after_pass.
class Dump {
 public:
  // After the pass of that name, or "all"; without a folder: to stdout.
  Dump(std::string pass, std::string folder)
      : pass_(std::move(pass)), folder_(std::move(folder)) {}

  // After every pass of a pipeline, in order.
  Status operator()(const PassOptions::Report& report);

 private:
  std::string pass_, folder_;
  int number_ = 0;
};

}  // namespace mxc
