// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/tune/tuning.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tools/driver/figures.h"
#include "tools/driver/tune/kernel_timer.h"
#include "tools/driver/tune/tuned_catalog.h"

namespace mxc {
namespace {

// Says what is measured for as long as it lives.
class MeasuringLine {
 public:
  explicit MeasuringLine(Progress& progress) : progress_(progress) {}
  ~MeasuringLine() { progress_.Measuring(""); }
  MeasuringLine(const MeasuringLine&) = delete;
  void Show(const std::string& text) const { progress_.Measuring(text); }

 private:
  Progress& progress_;
};

}  // namespace

Tuning::Tuning(const TuningOptions& options, const Target& target,
               const CatalogOptions& catalog)
    : options_(options),
      target_(target),
      path_(options.cache.empty() ? DefaultTuningCache() : options.cache),
      model_(MakeKernelCatalog(target, catalog)),
      cache_(std::make_unique<TuningCache>()),
      tuned_(std::make_unique<TunedCatalog>(*model_, *cache_, target.name)) {}

Result<Tuning> Tuning::Open(const TuningOptions& options, const Target& target,
                            const CatalogOptions& catalog) {
  Tuning tuning(options, target, catalog);
  if (!tuning.path_.empty()) {
    MXC_ASSIGN(*tuning.cache_, TuningCache::Read(tuning.path_));
  }
  return tuning;
}

Tuning::Tuning(Tuning&&) noexcept = default;
Tuning& Tuning::operator=(Tuning&&) noexcept = default;
Tuning::~Tuning() = default;

const KernelCatalog& Tuning::catalog() const { return *tuned_; }

// Longest first; equal ones in the order of their texts.
std::vector<std::string> Tuning::Unknown() const {
  std::vector<std::string> unknown;
  for (const auto& [contraction, question] : tuned_->questions()) {
    if (!tuned_->Knows(contraction) && !failed_.contains(contraction)) {
      unknown.push_back(contraction);
    }
  }
  std::ranges::stable_sort(unknown, std::greater(),
                           [&](const std::string& contraction) {
                             return tuned_->questions().at(contraction).seconds;
                           });
  return unknown;
}

Result<bool> Tuning::Measure(Progress& progress) {
  const std::vector<std::string> unknown = Unknown();
  if (!options_.measure || unknown.empty()) return false;
  const auto machine = FindMachine(target_);
  if (!machine.ok()) {
    note_ = machine.errors().front().message;
    return false;
  }
  const Stopwatch watch;
  const double before = seconds_;
  const bool changed = MeasureAll(unknown, *machine, progress);
  if (changed) MXC_RETURN_IF_ERROR(Keep());
  seconds_ = before + watch.seconds();
  return changed;
}

// A contraction with a kernel that the machine does not load, or run, keeps the
// model's guess.
bool Tuning::MeasureAll(const std::vector<std::string>& contractions,
                        const TuningMachine& machine, Progress& progress) {
  const MeasuringLine line(progress);
  const Stopwatch watch;
  const double deadline = options_.seconds - seconds_;
  KernelTimer timer(target_, options_.objects);
  int done = 0;
  for (size_t i = 0; i < contractions.size(); ++i) {
    if (watch.seconds() > deadline) break;
    line.Show(
        fmt::format("{}/{}  {}", i + 1, contractions.size(), contractions[i]));
    const auto& question = tuned_->questions().at(contractions[i]);
    std::vector<KernelCandidate> kernels = question.kernels;
    if (!machine.has_libraries) {
      std::erase_if(kernels, [](const KernelCandidate& kernel) {
        return kernel.library;
      });
    }
    const auto measured =
        timer.Measure(question.contraction, kernels, *model_, watch, deadline);
    if (!measured.ok()) {
      failed_.insert(contractions[i]);
      note_ = "not measured: " + measured.errors().front().message;
      continue;
    }
    const auto& times = *measured;
    if (!times) break;
    TuningEntry entry{machine.name, timer.threads(), {}};
    for (size_t k = 0; k < times->size(); ++k) {
      entry.kernels[model_->NameOf(kernels[k])] = (*times)[k];
    }
    cache_->Put(target_.name, contractions[i], std::move(entry));
    ++done;
  }
  measured_ += done;
  return done > 0;
}

// A file that the user did not name is a convenience.
Status Tuning::Keep() {
  if (path_.empty()) return Done{};
  const Status kept = cache_->Write(path_);
  if (kept.ok() || !options_.cache.empty()) return kept;
  note_ = "not kept: " + kept.errors().front().message;
  return Done{};
}

TuningReport Tuning::Report() const {
  TuningReport report;
  report.measured = measured_;
  report.seconds = seconds_;
  report.cache = path_;
  report.note = note_;
  int known = 0;
  for (const auto& [contraction, question] : tuned_->questions()) {
    ++report.contractions;
    known += tuned_->Knows(contraction);
    const auto best = tuned_->Candidates(question.contraction).front();
    report.changed +=
        model_->NameOf(best) != model_->NameOf(question.kernels.front());
  }
  report.cached = known - measured_;
  return report;
}

std::string Describe(const TuningReport& report) {
  std::string text = Count(report.contractions, "contraction");
  if (report.cached > 0) {
    text += fmt::format(", {} from the cache", report.cached);
  }
  if (report.measured > 0)
    text += fmt::format(", {} measured", report.measured);
  const int left = report.contractions - report.cached - report.measured;
  if (left > 0) text += fmt::format(", {} estimated", left);
  if (report.changed > 0) {
    text += fmt::format("; {} not as estimated", report.changed);
  }
  if (!report.note.empty()) text += "; " + report.note;
  return text;
}

}  // namespace mxc
