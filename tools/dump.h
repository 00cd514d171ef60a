// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "passes/pass.h"
#include "tools/plan.h"

namespace mxc {

// Writes what a pass left to DIR/03-fuse.program, or to stdout.
class Dump {
 public:
  // Of the passes that the options name, perhaps none.
  explicit Dump(const PlanOptions& options) : options_(options) {}

  // After every pass of a pipeline, in order.
  void After(const PassOptions::Report& report);
  // Of the first file that could not be written; none was after it.
  const Status& status() const { return status_; }

 private:
  Status Write(const std::string& pass, const char* extension,
               const std::string& text) const;

  const PlanOptions& options_;
  int number_ = 0;
  Status status_ = Done{};
};

}  // namespace mxc
