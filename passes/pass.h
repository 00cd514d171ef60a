// SPDX-License-Identifier: Apache-2.0
// Passes: one file, one function each. passes.def lists them in order.
//
//   Result<bool> FoldBatchNorm(Graph& graph, PassContext& context);
//
// true = changed. A pass keeps Verify() satisfied and the numbers equal; the
// pipeline verifies after every pass and names the pass in the error.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph/graph.h"
#include "ir/optimizers/lazy_rows.h"
#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"
#include "ir/support/diagnostic.h"
#include "ir/support/result.h"
#include "ir/target/target.h"
#include "passes/weight_storage.h"

namespace mxc {

struct Repeat;

// How a network is trained. With Graph::training the compiled step computes
// gradients and updates the parameters; without, it is the forward pass of the
// same network, for scoring. Both yield the network's outputs, then `loss`.
struct TrainingOptions {
  // Name and attributes of an optimizer (ir/optimizers). Empty: nothing is
  // updated, and the gradients follow the loss as outputs `grad:NAME`.
  std::string optimizer = "sgd";
  std::vector<AttrText> optimizer_attrs;
  // Parameters that are not trained (grad_req null), as wildcards.
  std::set<std::string> fixed;
  // By wildcards of parameters: set_lr_mult and set_wd_mult of MXNet, which win
  // over the annotations __lr_mult__ and __wd_mult__.
  std::map<std::string, double> lr_mult, wd_mult;
  // Only …_weight and …_gamma decay (MXNet's Module); else every parameter
  // does (Gluon's Trainer).
  bool decay_by_name = true;
  // Where nothing is updated: a gradient of some rows alone is followed by an
  // output `rows:NAME`, the numbers of these.
  LazyRows names_rows = LazyRows::kNone;
  // How many devices train together, each on a part of the batch. Gradients are
  // summed over them; of the loss and of what the network itself computes
  // (moving statistics) they take the mean. A head that divides its gradient by
  // the batch divides by its part, as in MXNet's Module on several contexts.
  int replicas = 1;
  // In how many equal parts, one after the other, a batch passes through the
  // step before anything is updated. The graph that is given is that of a part:
  // its declared inputs have its rows. Gradients are added up; of the
  // loss the mean is taken; what the network itself computes goes from part to
  // part. A head that divides its gradient by the batch divides by its part.
  int micro_batches = 1;
  // On how many devices, one after the other, the layers are (a pipeline), and
  // which of them this program is for.
  int stages = 1, stage = 0;
  // The stage of each node of the network, by its name; those that are not named
  // are where their inputs are.
  std::map<std::string, int> stage_of;
  // What of each label's 1 the other classes share, where loss heads can smooth
  // labels; 0: as the network says.
  double label_smoothing = 0;
  // Whether outputs `norm:NAME` tell the norm of each parameter's gradient.
  bool gradient_norms = false;
  // Most bytes of activations, outputs included; see recompute.
  std::optional<int64_t> memory_budget;
};

struct PassContext {
  const Target* target = nullptr;             // null: an unknown Machine
  const KernelCatalog* catalog = nullptr;     // null: only generic loop nests
  const TrainingOptions* training = nullptr;  // null: inference
  // In which type what leads to contractions is kept: f32, bf16 or f16.
  DType storage = DType::kF32;
  // Layers of which what they read stays in f32, as wildcards.
  std::set<std::string> kept_layers = {};
  // Whether whatever can be kept in `storage` is, also where that takes longer:
  // no batch and no target rounds more.
  bool stores_all = false;
  WeightStorage weights = {};  // of constants that products multiply with
  // By nodes of which data decide the length: the most rows that there is room
  // for.
  std::map<std::string, int64_t> bounds = {};
  Diagnostics* notes = nullptr;  // what the user may want to know; may be null
  // The repeat whose body is being worked on; null for an entry.
  const Repeat* around = nullptr;
  // Lowers a graph inside of an operator (ScanForm, BranchForm), as the pipeline
  // does what is around it. Never null while one runs.
  std::function<Result<Program>(Graph)> lower_inside = nullptr;
  // What the passes behind `recompute` make of a program. Null where a pass runs
  // alone.
  std::function<Result<Program>(Program, PassContext)> plan_rest = nullptr;

  const Machine& machine() const {
    static const Machine unknown;
    return target != nullptr ? target->machine : unknown;
  }

  // About how long a step takes: KernelCatalog::Seconds.
  double Seconds(const Program& program, const Step& step) const {
    return catalog != nullptr ? catalog->Seconds(program, step)
                              : KernelCatalog(machine()).Seconds(program, step);
  }
};

// For which targets a pass runs: those whose steps the host's threads run, or
// those whose steps are told to a device one by one.
enum class Where { kAny, kHost, kDevice };

struct PassOptions {
  int level = 2;                   // -O0 … -O3; -O0 runs required passes only
  std::set<std::string> disabled;  // names; required ones cannot be disabled
  // Compare hashes to see that a pass reported truly whether it changed
  // something.
#ifdef NDEBUG
  bool check_changed = false;
#else
  bool check_changed = true;
#endif
  // Called after each pass that ran.
  struct Report {
    std::string name;
    bool changed;
    double seconds;
    const Graph* graph;  // one of the two is null
    const Program* program;
  };
  std::function<void(const Report&)> after_pass;
};

struct PassDescription {
  std::string_view name;
  std::string_view stage;  // "graph", "lower" or "program"
  bool required;
  Where where;
  std::string_view prose;
};

std::span<const PassDescription> AllPasses();

// Runs the program pass of that name, of which there is one, on this program
// alone. Nothing changes where it is not for the context's target.
Result<bool> RunProgramPass(std::string_view name, Program& program,
                            PassContext& context);

// The whole pipeline: types of all variables that the caller fixes are set.
Result<Program> RunPipeline(Graph graph, PassContext context,
                            const PassOptions& options);

// The graph passes alone (for `mxc dot --after`, `inspect --ops`).
Status RunGraphPasses(Graph& graph, PassContext context,
                      const PassOptions& options);
// The lowering and the program passes alone.
Result<Program> LowerAndPlan(const Graph& graph, PassContext context,
                             const PassOptions& options);

}  // namespace mxc
