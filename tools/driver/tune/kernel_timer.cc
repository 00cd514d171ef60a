// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/tune/kernel_timer.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <fstream>
#include <memory>
#include <set>
#include <utility>

#include "codegen/codegen.h"
#include "ir/program/steps/contraction.h"
#include "runtime/base/cpu.h"
#include "runtime/device/device.h"
#include "runtime/executor/executor.h"
#include "runtime/executor/model.h"
#include "tools/driver/temporary_file.h"
#include "tools/driver/tune/trial.h"
#include "tools/driver/unplaced_error.h"

namespace mxc {
namespace {

namespace rt = runtime;

// Of each kernel on a number of threads: enough of short ones that one is not
// disturbed, few of long ones, where little matters little.
constexpr int kLeastRuns = 3, kMostRuns = 15;
constexpr double kSecondsOfRuns = 0.1;

// Twice the last cache; as much as large ones have where nobody knows.
int64_t EvictionBytes(const Target& target) {
  constexpr int64_t kLeast = 64 << 20, kMost = 512 << 20;
  int64_t last = target.machine.shared_cache_bytes;
#ifdef _SC_LEVEL3_CACHE_SIZE
  if (last == 0) last = sysconf(_SC_LEVEL3_CACHE_SIZE);
#endif
  return std::clamp(2 * last, kLeast, kMost);
}

// Weights that other steps leave, as all of a device's kernels take them, are
// activations to all kernels, or to none.
bool HasConstantWeight(std::span<const KernelCandidate> kernels) {
  return std::ranges::none_of(kernels, [](const KernelCandidate& kernel) {
    return kernel.weight_block != 0 || kernel.flipped_weight;
  });
}

std::string ProcessorName() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with("model name")) continue;
    const size_t colon = line.find(": ");
    if (colon != line.npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// One entry for each trial.
Result<std::shared_ptr<const rt::Model>> Compile(
    const std::vector<Program>& trials, const Target& target,
    const CodegenOptions& codegen) {
  MXC_ASSIGN(const rt::NamelessFile file, MakeTemporaryFile());
  MXC_RETURN_IF_ERROR(WriteArtifact(file.path(), trials, target, codegen));
  auto model = rt::Model::Open(file.path(), {});
  if (!model.ok()) return UnplacedError(model.status().message());
  return *model;
}

// A trial that is bound to threads.
class Contender {
 public:
  static Result<Contender> Bind(const std::shared_ptr<const rt::Model>& model,
                                size_t entry, const Program& trial, int threads,
                                const std::vector<std::byte>& eviction) {
    auto executor =
        rt::Executor::Bind(model, entry, {.threads = threads, .profile = true});
    if (!executor.ok()) return UnplacedError(executor.status().message());
    (*executor)->BindInput(0, eviction.data());
    return Contender(std::move(*executor), trial);
  }

  Status Run() {
    if (const rt::Status status = executor_->Run(); !status.ok()) {
      return UnplacedError(status.message());
    }
    int64_t time = 0;
    for (size_t s = 0; s < trial_->steps.size(); ++s) {
      if (IsTried(trial_->steps[s])) time += executor_->step_times()[s];
    }
    // What the clock does not see takes a nanosecond.
    best_ = std::min(best_, std::max<int64_t>(1, time));
    return Done{};
  }
  int64_t best() const { return best_; }

 private:
  Contender(std::unique_ptr<rt::Executor> executor, const Program& trial)
      : executor_(std::move(executor)), trial_(&trial) {}

  std::unique_ptr<rt::Executor> executor_;
  const Program* trial_;
  int64_t best_ = INT64_MAX;
};

}  // namespace

Result<TuningMachine> FindMachine(const Target& target) {
  const auto cannot = [&](const std::string& cause) {
    return UnplacedError(fmt::format("this machine cannot run code for {}{}",
                                     target.name, cause));
  };
  if ((target.required_features & ~rt::CpuFeatures()) != 0) return cannot("");
  if (target.runs_on_host()) return TuningMachine{ProcessorName()};
  const auto device = rt::FindDevice(target.device.c_str());
  if (!device.ok()) return cannot(": " + device.status().message());
  const auto facts = (*device)->Facts();
  if (!facts.ok()) return cannot(": " + facts.status().message());
  if (facts->generation < target.least_generation ||
      facts->generation > target.last_generation) {
    return cannot(fmt::format(": its device is of sm_{}", facts->generation));
  }
  return TuningMachine{facts->name, (*device)->HasLibraries()};
}

KernelTimer::KernelTimer(const Target& target, ObjectCache* objects)
    : target_(target),
      objects_(objects),
      threads_(target.runs_on_host() ? rt::AvailableThreads() : 1),
      eviction_(static_cast<size_t>(EvictionBytes(target))) {}

Result<std::optional<std::vector<KernelTimes>>> KernelTimer::Measure(
    const Contraction& contraction, std::span<const KernelCandidate> kernels,
    const KernelCatalog& catalog, const Stopwatch& watch, double deadline) {
  std::vector<Program> trials;
  for (size_t i = 0; i < kernels.size(); ++i) {
    MXC_ASSIGN(Program trial,
               MakeTrial(contraction, kernels[i], HasConstantWeight(kernels),
                         catalog, target_, std::ssize(eviction_)));
    trial.entry.of = fmt::format("kernel{}", i);
    trials.push_back(std::move(trial));
  }
  MXC_ASSIGN(
      const auto model,
      Compile(trials, target_, {.threads = threads_, .cache = objects_}));
  std::vector<KernelTimes> times(kernels.size());
  for (const int threads : std::set{1, threads_}) {
    std::vector<Contender> contenders;
    for (size_t i = 0; i < trials.size(); ++i) {
      MXC_ASSIGN(Contender contender,
                 Contender::Bind(model, i, trials[i], threads, eviction_));
      contenders.push_back(std::move(contender));
    }
    const Stopwatch round;
    for (int run = 0; run < kMostRuns; ++run) {
      if (run >= kLeastRuns && round.seconds() > kSecondsOfRuns) break;
      for (Contender& contender : contenders) {
        if (watch.seconds() > deadline) {
          return std::optional<std::vector<KernelTimes>>();
        }
        MXC_RETURN_IF_ERROR(contender.Run());
      }
    }
    for (size_t i = 0; i < trials.size(); ++i) {
      (threads == 1 ? times[i].one : times[i].all) = contenders[i].best();
    }
  }
  if (threads_ == 1) {
    for (KernelTimes& time : times) time.all = time.one;
  }
  return std::optional(std::move(times));
}

}  // namespace mxc
