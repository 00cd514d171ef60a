// SPDX-License-Identifier: Apache-2.0
// An artifact with all that is said about it, as compile and train write it.
#pragma once

#include <span>
#include <string>

#include "codegen/codegen.h"
#include "ir/support/result.h"
#include "tools/plan.h"

namespace mxc {

// Whether an artifact holds golden digests (tools/golden.h). They take a run of
// its code, which another processor may not be able to do; so that the same
// command gives the same bytes on every machine, or an error, they are there
// where the target is this machine's own, and for a named one if asked for.
enum class Golden { kAuto, kOn, kOff };

Result<ArtifactSizes> WriteModel(const std::string& path,
                                 const PlanOptions& options, const Plan& plan,
                                 std::span<const Program> entries,
                                 const CodeImage& code, Golden golden);

}  // namespace mxc
