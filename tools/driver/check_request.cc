// SPDX-License-Identifier: Apache-2.0
// What a request may say.
#include <algorithm>
#include <string_view>
#include <utility>

#include "codegen/codegen.h"
#include "ir/target/target.h"
#include "tools/driver/request.h"

namespace mxc {
namespace {

constexpr std::string_view kEntries[] = {"infer", "train", "score", "grad",
                                         "update"};

// Updates are those of the gradients.
void CheckUpdate(const std::vector<std::string>& entries, Diagnostics& errors) {
  const auto update = std::ranges::find(entries, "update");
  if (update == entries.end()) return;
  if (std::find(entries.begin(), update, "grad") != update) return;
  errors.push_back(
      Error({}, "entry 'update' needs 'grad' before it: grad,update"));
}

void CheckWriting(const CompileRequest& request, Diagnostics& errors) {
  constexpr int64_t kMost = 1 << 16;
  for (const auto& [option, count] : {std::pair("streams", request.streams),
                                      std::pair("prefill", request.prefill)}) {
    if (count >= 0 && count <= kMost) continue;
    errors.push_back(
        Error({}, "--{} {}, expected 1 to {}", option, count, kMost));
  }
  if (request.streams <= 0) {
    if (request.prefill > 0) {
      errors.push_back(Error({},
                             "--prefill is for networks that write texts; "
                             "--streams says how many"));
    }
    return;
  }
  const bool others = request.entries.size() != 1 ||
                      request.entries[0] != "infer" ||
                      !request.batches.empty() || !request.buckets.empty();
  if (others) {
    errors.push_back(Error({},
                           "--streams makes the entries decode and prefill; "
                           "it goes with no --entry, --batch or --bucket"));
  }
}

void CheckWeights(const CompileRequest& request, Diagnostics& errors) {
  const WeightStorage& weights = request.weights;
  if (weights.kind == WeightKind::kF32) {
    if (weights.kept.empty()) return;
    errors.push_back(
        Error({},
              "--keep-weight '{}' without --weights, which says what the "
              "others become",
              *weights.kept.begin()));
    return;
  }
  if (request.trains()) {
    errors.push_back(Error(
        {}, "--weights is for weights that are constant; an entry trains"));
  }
  if (request.precision != DType::kF32) {
    errors.push_back(Error({}, "--weights goes with --precision f32 alone"));
  }
}

void CheckPrecision(const CompileRequest& request, Diagnostics& errors) {
  if (request.kept_layers.empty() || request.precision != DType::kF32) return;
  errors.push_back(Error({},
                         "--keep-layer '{}' without --precision, which says "
                         "what is kept of the others",
                         *request.kept_layers.begin()));
}

void CheckPasses(const CompileRequest& request, Diagnostics& errors) {
  for (const std::string& name : request.disabled) {
    const auto passes = AllPasses();
    const auto pass = std::ranges::find(passes, name, &PassDescription::name);
    if (pass == passes.end()) {
      errors.push_back(Error({}, "pass '{}' is unknown", name));
    } else if (pass->required) {
      errors.push_back(Error({}, "pass '{}' is required", name));
    }
  }
}

void CheckSizes(const CompileRequest& request, Diagnostics& errors) {
  for (const int64_t batch : request.batches) {
    if (batch > 0) continue;
    errors.push_back(Error({}, "batch size {}, expected 1 or more", batch));
  }
  std::vector<int64_t> batches = request.batches;
  std::ranges::sort(batches);
  const auto twice = std::ranges::adjacent_find(batches);
  if (twice != batches.end()) {
    errors.push_back(Error({}, "batch size {} is given twice", *twice));
  }
  for (const Bucket& bucket : request.buckets) {
    for (const auto& [name, length] : bucket.lengths) {
      if (length > 0) continue;
      errors.push_back(
          Error({}, "bucket length {}, expected 1 or more", length));
    }
  }
}

void CheckReplicas(const CompileRequest& request, const Target& target,
                   Diagnostics& errors) {
  const int replicas = request.training.replicas, most = target.most_replicas;
  if (replicas <= most) return;
  if (most > 1) {
    errors.push_back(
        Error({}, "{} replicas, expected 1 to {}", replicas, most));
  } else {
    errors.push_back(
        Error({}, "--replicas {} is for targets of a GPU, not for '{}'",
              replicas, request.target));
  }
}

}  // namespace

Status CheckRequest(const CompileRequest& request) {
  Diagnostics errors;
  if (request.network.classes < 0 || request.network.classes == 1) {
    errors.push_back(
        Error({}, "{} classes, expected 2 or more", request.network.classes));
  }
  if (request.network.model.empty() && request.network.text == nullptr) {
    errors.push_back(Error({}, "no network is given"));
  }
  if (request.entries.empty()) {
    errors.push_back(Error({}, "no entry is asked for"));
  }
  for (const std::string& entry : request.entries) {
    if (std::ranges::find(kEntries, entry) != std::end(kEntries)) continue;
    errors.push_back(Error(
        {},
        "entry '{}' is unknown; expected infer, train, score, grad or update",
        entry));
  }
  CheckUpdate(request.entries, errors);
  CheckWriting(request, errors);
  if (request.level < 0 || request.level > 3) {
    errors.push_back(
        Error({}, "optimization level {}, expected 0 to 3", request.level));
  }
  const double smoothing = request.training.label_smoothing;
  if (!(smoothing >= 0 && smoothing < 1)) {
    errors.push_back(Error(
        {}, "label smoothing {}, expected from 0 to less than 1", smoothing));
  }
  CheckSizes(request, errors);
  CheckPasses(request, errors);
  CheckWeights(request, errors);
  CheckPrecision(request, errors);
  const auto target = ResolveTarget(request.target, request.precision);
  if (!target.ok()) {
    errors.Append(target.errors());
  } else if (request.tf32 && !TakesOption(*target, "tf32")) {
    errors.push_back(
        Error({}, "--precision tf32 is for targets of a GPU, not for '{}'",
              request.target));
  }
  if (target.ok() && request.level > 2 &&
      request.target.find(kOrderMark) != std::string::npos) {
    errors.push_back(
        Error({},
              "-O3 chooses kernels by times of this machine, which "
              "'{}' does not; expected at most -O2",
              request.target));
  }
  if (target.ok()) CheckReplicas(request, *target, errors);
  if (target.ok() && !request.assembler.empty() &&
      !TakesOption(*target, "assembler")) {
    errors.push_back(Error({}, "--cubin is for targets of a GPU, not for '{}'",
                           request.target));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

}  // namespace mxc
