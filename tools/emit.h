// SPDX-License-Identifier: Apache-2.0
// What `mxc compile` writes of a plan: the artifact, and what --emit names beside
// it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/support/result.h"
#include "tools/driver/compile.h"
#include "tools/output_file.h"
#include "tools/terminal.h"

namespace mxc {

struct EmitOptions {
  ReportStyle style;
  std::string output;                        // the artifact, or a page's folder
  std::vector<std::string> kinds = {"mxa"};  // as --emit has them

  bool Emits(std::string_view kind) const {
    return std::ranges::find(kinds, kind) != kinds.end();
  }
};

// What was written, and what it took.
struct Outcome {
  struct Phase {
    std::string name;
    double seconds;
  };
  std::vector<Phase> phases;
  ArtifactSizes sizes;
  int64_t kernels = 0, cached = 0;  // of them from the object cache
  std::vector<std::string> files;
  OutputSet texts;       // all of them but the artifact
  std::string artifact;  // empty: not written

  // For an error that came meanwhile.
  std::string WhatIsWritten() const;
};

// Generates code for the plan and writes all kinds, named after the output. A
// kind that the target has not is refused before anything is written; where a
// file fails `outcome` says what is there already.
Status Emit(const EmitOptions& options, const CompileRequest& request,
            const Plan& plan, Outcome& outcome);

}  // namespace mxc
