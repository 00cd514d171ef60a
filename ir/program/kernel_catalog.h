// SPDX-License-Identifier: Apache-2.0
// KernelCatalog: the questions that passes may ask about a target's kernels, and
// how long steps take. Codegen answers; the tool hands it to the passes in
// PassContext, and to codegen, which writes the times into the tables.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/program/kernel_choice.h"
#include "ir/program/layout.h"
#include "ir/program/program.h"
#include "ir/target/machine.h"

namespace mxc {

// One way to compute a contraction.
struct KernelCandidate {
  KernelChoice choice;
  // Blocks of data and output, 1 is row-major or kWholeAxis, and the axes that
  // are cut.
  int64_t data_block = 1, output_block = 1;
  int data_axis = 1, output_axis = 1;
  // The result may be written in any other layout as well.
  bool any_output = false;
  // Border of zeros that data must at least carry, for each spatial axis.
  Extents halo_low, halo_high;
  // How the weight is packed; or, with a weight_block, the weight is taken as
  // other steps leave it, in blocks of weight_axis (as data's) and with any
  // border.
  Layout weight;
  int64_t weight_block = 0;
  int weight_axis = 1;
  // Outputs along each spatial axis that are finished together: maxima of
  // windows that divide them can be stored in their place. Empty: none.
  Extents tile;
  // The weight is packed with its kernels flipped, so that the contraction that
  // the kernel computes is not (Contraction::flip).
  bool flipped_weight = false;
  // What packing, or laying out, costs where the weight is no constant; seconds.
  double packing_cost = 0;
  // Above 0: the kernel computes sums over so many equal parts of `in`, which
  // a step of its own adds and finishes. See SumsOfParts (select_kernels.cc).
  int64_t parts = 0;
  int64_t scratch_bytes = 0;  // for each thread
  double cost = 0;            // estimated seconds on one thread
  // The variance of the errors that the algorithm adds to its results by
  // rounding, relative to their variance; 0: as little as any algorithm.
  double rounding = 0;
  // Code that is not the artifact's may compute it, where there is such; the
  // choice is then of a kernel, too, for what that does not compute.
  bool library = false;
};

// How kernels are measured, where somebody does so.
struct Trials {
  // Of contractions of any types; else of f32 alone.
  bool of_all_types = false;
  // With the sums as they are, since some kernels store nothing else.
  bool of_sums = false;
};

// One that is not derived from has generic loop nests alone.
class KernelCatalog {
 public:
  explicit KernelCatalog(Machine machine = {}) : machine_(std::move(machine)) {}
  virtual ~KernelCatalog() = default;
  const Machine& machine() const { return machine_; }

  // About how long a step takes, with the kernel that was chosen for it and its
  // operands as they lie: on one core of a host, or on a whole device. Includes
  // its launch, and all runs of steps that it holds. There is no other estimate
  // of a step: passes decide by it, and the tables tell it.
  double Seconds(const Program& program, const Step& step) const;

  // The same without launches, which the runtime of a host pays itself.
  double WorkSeconds(const Program& program, const Step& step) const;

  // The part of it that the kernel takes where its operands come at once; 0: not
  // known. A contraction with a chosen algorithm has the candidate's cost.
  virtual double KernelSeconds(const Program& program, const Step& step) const;

  // Best first. The generic loop nest, with an empty algorithm, is not listed:
  // it is always there and takes any layout.
  virtual std::vector<KernelCandidate> Candidates(const Contraction&) const {
    return {};
  }
  // For people, in few words: "winograd4 16c", "mma 128x64 or library".
  virtual std::string Describe(const KernelChoice& choice) const {
    return choice.algorithm;
  }
  // What tells it from the other candidates of its contraction: so it is called
  // where its times are kept, from one version to the next.
  virtual std::string NameOf(const KernelCandidate& kernel) const;
  // The choice of a library that has this kernel beside it.
  virtual KernelChoice WithLibrary(const KernelChoice& kernel) const {
    return kernel;
  }
  // What the kernels along any way through a program may add (rounding_budget.h).
  virtual double RoundingBudget() const {
    return std::numeric_limits<double>::infinity();
  }
  // Returns whether the kernel finishes the sums of this step, a contraction,
  // as its epilogue says; else a step of its own does.
  virtual bool Finishes(const Program&, const Step&,
                        const KernelCandidate&) const {
    return true;
  }
  virtual Trials trials() const { return {}; }
  // Returns whether a device can be told to run these steps at once
  // (steps/launch.h). Each is ready when the first one is, but for what the
  // others compute.
  virtual bool RunsAtOnce(const Program&,
                          std::span<const Step* const> /*steps*/) const {
    return false;
  }

 private:
  Machine machine_;
};

// The cost of the candidate that is the step's choice; 0: it is none of them.
double CostOfChoice(const ContractionStep& step,
                    std::span<const KernelCandidate> candidates);

}  // namespace mxc
