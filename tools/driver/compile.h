// SPDX-License-Identifier: Apache-2.0
// The driver: a request becomes an artifact.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "codegen/codegen.h"
#include "ir/support/result.h"
#include "tools/driver/plan.h"
#include "tools/driver/progress.h"
#include "tools/driver/request.h"

namespace mxc {

// A compiled network in memory.
struct Artifact {
  Plan plan;
  // The plan's programs, and what transforms weights when it is opened.
  std::vector<Program> entries;
  CodeImage code;
  double generate_seconds = 0;
};

// What the plan's network says of its tensors.
TensorRoles RolesOf(const Plan& plan);

// Plans the network and generates its code. The same request gives the same
// artifact. Several threads may compile at once, each for itself.
Result<Artifact> Compile(const CompileRequest& request, Progress& progress);

// The second half, of a plan that was made for the request.
Result<Artifact> Generate(const CompileRequest& request, Plan plan,
                          WorkCount* count = nullptr);

// The file with all that is said about it: the manifest, digests, the network.
// Whole or not at all. `stage` is told what begins ("running it once"), an
// empty text when the bytes are written, which `count` counts; both may be
// null.
Result<ArtifactSizes> Save(
    const CompileRequest& request, const Artifact& artifact,
    const std::string& path, WorkCount* count = nullptr,
    const std::function<void(const char*)>& stage = nullptr);

}  // namespace mxc
