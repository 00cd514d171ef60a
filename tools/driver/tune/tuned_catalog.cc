// SPDX-License-Identifier: Apache-2.0
#include "tools/driver/tune/tuned_catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/program/contraction_text.h"

namespace mxc {
namespace {

// The model is wrong by less than this factor.
constexpr double kDoubt = 1.5;
constexpr size_t kMostKernels = 4;
// What the model prefers stays unless another is faster by more than noise.
constexpr double kNoise = 0.98;

// One number for one thread and for all: either counts as much.
double Score(const KernelTimes& times) {
  return std::sqrt(static_cast<double>(times.one)) *
         std::sqrt(static_cast<double>(times.all));
}

bool SameLayouts(const KernelCandidate& a, const KernelCandidate& b) {
  return a.data_block == b.data_block && a.data_axis == b.data_axis &&
         a.output_block == b.output_block && a.output_axis == b.output_axis;
}

}  // namespace

std::vector<KernelCandidate> WorthMeasuring(
    std::span<const KernelCandidate> candidates) {
  std::vector<KernelCandidate> worth;
  for (const KernelCandidate& candidate : candidates) {
    if (worth.size() == kMostKernels) break;
    if (candidate.cost <= kDoubt * candidates[0].cost &&
        SameLayouts(candidate, candidates[0])) {
      worth.push_back(candidate);
    }
  }
  return worth;
}

bool TunedCatalog::MayAsk(const Contraction& c, const std::string& text,
                          std::span<const KernelCandidate> kernels) const {
  const bool tried =
      c.types == ContractionTypes() || model_.trials().of_all_types;
  return kernels.size() >= 2 && tried && !parts_.contains(text);
}

double TunedCatalog::KernelSeconds(const Program& program,
                                   const Step& step) const {
  const ContractionStep* body = step.contraction();
  if (body == nullptr || body->choice.algorithm.empty()) {
    return model_.KernelSeconds(program, step);
  }
  const Contraction& c = body->contraction;
  std::vector<KernelCandidate> candidates = model_.Candidates(c);
  const auto worth = WorthMeasuring(candidates);
  const std::string text = ToString(c);
  if (MayAsk(c, text, worth)) {
    if (const TuningEntry* entry = Answer(text, worth)) {
      TakeTimes(*entry, candidates);
    }
  }
  return CostOfChoice(*body, candidates);
}

std::vector<KernelCandidate> TunedCatalog::Candidates(
    const Contraction& c) const {
  std::vector<KernelCandidate> candidates = model_.Candidates(c);
  const auto worth = WorthMeasuring(candidates);
  const std::string text = ToString(c);
  if (!MayAsk(c, text, worth)) return candidates;
  for (const KernelCandidate& kernel : worth) {
    if (kernel.parts > 1) parts_.insert(ToString(InParts(c, kernel.parts)));
  }
  Question& question = questions_[text];
  question.contraction = c;
  question.kernels = worth;
  question.seconds += candidates[0].cost;
  if (const TuningEntry* entry = Answer(text, worth)) {
    TakeTimes(*entry, candidates);
  }
  return candidates;
}

// A library does not compute every step of the contraction: those are left to the
// best kernel.
void TunedCatalog::KeepBestBesideLibrary(
    std::vector<KernelCandidate>& candidates) const {
  for (KernelCandidate& candidate : candidates) {
    if (!candidate.library) continue;
    const auto best =
        std::ranges::find_if(candidates, [&](const KernelCandidate& other) {
          return !other.library && other.parts == 0 &&
                 SameLayouts(other, candidate);
        });
    if (best == candidates.end()) continue;
    candidate.choice = WithLibrary(best->choice);
  }
}

// Costs stay seconds of the model, so that they can be compared with those of
// other contractions and with what it costs to pack a weight: the model's first
// choice keeps its cost. What was not measured is not better than what was.
void TunedCatalog::TakeTimes(const TuningEntry& entry,
                             std::vector<KernelCandidate>& candidates) const {
  const KernelCandidate preferred = candidates[0];
  const double first = preferred.cost;
  const double scale = first / Score(entry.kernels.at(NameOf(preferred)));
  double slowest = first;
  for (KernelCandidate& candidate : std::span(candidates).subspan(1)) {
    const auto times = entry.kernels.find(NameOf(candidate));
    if (times == entry.kernels.end() || !SameLayouts(candidate, preferred)) {
      candidate.cost = std::max(candidate.cost, slowest);
      continue;
    }
    candidate.cost = scale * Score(times->second);
    if (candidate.cost > kNoise * first) {
      candidate.cost = std::max(candidate.cost, first);
    }
    slowest = std::max(slowest, candidate.cost);
  }
  std::ranges::stable_sort(candidates, {}, &KernelCandidate::cost);
  KeepBestBesideLibrary(candidates);
}

bool TunedCatalog::Knows(const std::string& contraction) const {
  return Answer(contraction, questions_.at(contraction).kernels) != nullptr;
}

const TuningEntry* TunedCatalog::Answer(
    const std::string& contraction,
    std::span<const KernelCandidate> kernels) const {
  const TuningEntry* entry = cache_.Find(target_, contraction);
  if (entry == nullptr) return nullptr;
  // Where it was measured there may have been no library.
  const bool complete =
      std::ranges::all_of(kernels, [&](const KernelCandidate& kernel) {
        return kernel.library || entry->kernels.contains(NameOf(kernel));
      });
  return complete ? entry : nullptr;
}

}  // namespace mxc
