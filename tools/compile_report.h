// SPDX-License-Identifier: Apache-2.0
// What `mxc compile` says when it is done, and of its pipeline.
#pragma once

#include <optional>

#include "tools/driver/compile.h"
#include "tools/emit.h"
#include "tools/quantize/within_budget.h"
#include "tools/terminal.h"

namespace mxc {

// The pipeline, in order.
void PrintPasses(const ReportStyle& style);

// How long each pass took, for a person.
void PrintPassTimes(const Plan& plan);

// All of it as JSON, with `time_passes` each pass's time.
void PrintReport(const EmitOptions& options, const Plan& plan,
                 const Outcome& outcome,
                 const std::optional<BudgetReport>& budget, bool time_passes,
                 double seconds);

// The next command that a person would type.
void PrintNext(const EmitOptions& options, const Plan& plan);

}  // namespace mxc
