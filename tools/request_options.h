// SPDX-License-Identifier: Apache-2.0
// The options that say what is compiled, and how.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "ir/support/result.h"
#include "tools/driver/request.h"
#include "tools/model_options.h"

namespace mxc {

struct RequestOptions {
  // Complete but for what follows.
  CompileRequest request;
  InputTexts inputs;
  std::vector<int64_t> bucket_lengths;  // stand for L in inputs.shapes
  // The most of open lengths, for which the buckets then are rungs.
  Lengths lengths;
  std::string dump_after;   // a pass, "all", or empty
  std::string dump_folder;  // empty: stdout
};

// MODEL, --input-shape and --input-type.
void AddModelOptions(CLI::App& app, RequestOptions& options);
// --batch, --target, -O, --winograd, --strassen, --tuning-cache,
// --disable-pass, --dump-after, --dump-dir.
// --functions: what a network calls; the interpreter can compute it then.
void AddFunctionsOption(CLI::App& app);
void AddPlanOptions(CLI::App& app, RequestOptions& options);
// --tuning-seconds: kernels are measured at -O3. --object-cache: where those
// that were compiled are kept.
void AddKernelOptions(CLI::App& app, CompileRequest& request);
// --optimizer, --opt, --label-smoothing, --fixed, --lr-mult, --wd-mult,
// --memory-budget.
void AddTrainingOptions(CLI::App& app, TrainingOptions& training);
// --stages, --place.
void AddStageOptions(CLI::App& app, StageRequest& cut);
// --length, whose help is `what`.
void AddLengthOption(CLI::App& app, RequestOptions& options,
                     const std::string& what);
// --entry, --bucket, --length, --streams, --prefill.
void AddEntryOptions(CLI::App& app, RequestOptions& options);

// Puts what AddPlanOptions, AddKernelOptions and AddTrainingOptions declared
// into one group of names, for commands that plan as `mxc compile` does and
// have more to say than how.
void ReferToCompile(CLI::App& app);

// The request with all that the texts say, or all that is wrong with them.
Result<CompileRequest> RequestOf(const RequestOptions& options);

}  // namespace mxc
