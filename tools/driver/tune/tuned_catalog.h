// SPDX-License-Identifier: Apache-2.0
// TunedCatalog: a target's catalog, in the order that measuring found.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "ir/program/kernel_catalog.h"
#include "ir/program/steps/contraction.h"
#include "tools/driver/tune/tuning_cache.h"

namespace mxc {

// Those of the candidates, best first, that may well be the fastest in truth
// and work on the same layouts as the first: what other layouts cost depends on
// the steps around. Fewer than two: there is nothing to measure.
std::vector<KernelCandidate> WorthMeasuring(
    std::span<const KernelCandidate> candidates);

// Where the cache knows the times of all candidates that are worth measuring,
// their order and costs are those of the times; elsewhere they are the model's.
class TunedCatalog : public KernelCatalog {
 public:
  // Both must outlive the catalog; what the cache learns is used at once.
  TunedCatalog(const KernelCatalog& model, const TuningCache& cache,
               std::string target)
      : KernelCatalog(model.machine()),
        model_(model),
        cache_(cache),
        target_(std::move(target)) {}

  std::vector<KernelCandidate> Candidates(const Contraction& c) const override;
  std::string Describe(const KernelChoice& choice) const override {
    return model_.Describe(choice);
  }
  std::string NameOf(const KernelCandidate& kernel) const override {
    return model_.NameOf(kernel);
  }
  KernelChoice WithLibrary(const KernelChoice& kernel) const override {
    return model_.WithLibrary(kernel);
  }
  double RoundingBudget() const override { return model_.RoundingBudget(); }
  Trials trials() const override { return model_.trials(); }
  bool Finishes(const Program& program, const Step& step,
                const KernelCandidate& kernel) const override {
    return model_.Finishes(program, step, kernel);
  }
  // A kernel that was measured takes what was measured. Nothing is noted.
  double KernelSeconds(const Program& program, const Step& step) const override;
  bool RunsAtOnce(const Program& program,
                  std::span<const Step* const> steps) const override {
    return model_.RunsAtOnce(program, steps);
  }

  // A contraction that was asked for and has several candidates.
  struct Question {
    Contraction contraction;
    std::vector<KernelCandidate> kernels;  // worth measuring, the model's order
    double seconds = 0;  // by the model, of all times that it was asked for
  };
  // By the contraction's text.
  const std::map<std::string, Question>& questions() const {
    return questions_;
  }
  bool Knows(const std::string& contraction) const;

 private:
  // True if times of these kernels, the contraction's, are of use.
  bool MayAsk(const Contraction& c, const std::string& text,
              std::span<const KernelCandidate> kernels) const;
  void TakeTimes(const TuningEntry& entry,
                 std::vector<KernelCandidate>& candidates) const;
  void KeepBestBesideLibrary(std::vector<KernelCandidate>& candidates) const;
  const TuningEntry* Answer(const std::string& contraction,
                            std::span<const KernelCandidate> kernels) const;

  const KernelCatalog& model_;
  const TuningCache& cache_;
  const std::string target_;
  // What the passes ask is noted, although asking changes no answer.
  mutable std::map<std::string, Question> questions_;
  mutable std::set<std::string> parts_;  // of contractions that were asked for
};

}  // namespace mxc
