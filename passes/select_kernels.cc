// SPDX-License-Identifier: Apache-2.0
// select-kernels: each contraction gets the fast kernel that the target's
// catalog estimates to be cheapest.
//
//   conv0: contraction 3x3      ⇒      conv0: contraction 3x3, direct 8c, 6x2
//   fc0: x · wᵀ, w a state      ⇒      fc0: (w · xᵀ)ᵀ, w not packed
//
// A contraction for which the catalog knows nothing keeps the generic loop
// nest. What the kernels ask of layouts is met by assign-layouts. Kernels that
// round more have a budget along each way through the program
// (rounding_budget.h).
//
// Where a kernel computes sums of parts of a long reduction, to have enough
// tasks, a second step adds them, always in the same order:
//
//   dw: contraction {acc · s}   ⇒   dw/parts: contraction {acc} ─► p[4, …]
//                                   dw: (p[0] + p[1] + p[2] + p[3]) · s
//
// So does one where the kernel cannot do what the epilogue says: a library's.
//
// Where the weight's channels are exchanged within small groups, which no
// layout can pack, a step exchanges them:
//
//   dx: contraction dy, w       ⇒   e[g·M + m, k] = w[g·K + k, m]
//                                   dx: contraction dy, e
#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/repeat.h"
#include "passes/invariants.h"
#include "passes/kernel_seconds.h"
#include "passes/passes.h"
#include "passes/rounding_budget.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

namespace mxc {
namespace {

// What the cost of a kernel depends on beside its step, found in one look at
// the program as it came.
class Surroundings {
 public:
  // `repeat`: whose body it is, or null.
  Surroundings(const Program& program, const Repeat* repeat)
      : wanted_in_rows_(program.buffers.size()) {
    const std::vector<bool> same =
        repeat != nullptr ? InvariantsOf(*repeat, program)
                          : std::vector<bool>(program.buffers.size(), false);
    for (const Step& step : program.steps) {
      if (!step.contraction()) continue;
      sharers_[WeightOf(step)] += same[step.inputs[1]] ? repeat->turns : 1;
    }
    for (size_t b = 0; b < wanted_in_rows_.size(); ++b) {
      wanted_in_rows_[b] = program.buffers[b].kind == BufferKind::kOutput;
    }
    for (const Step& step : program.steps) NoteReducedRows(step);
    for (size_t s = program.steps.size(); s-- > 0;) {
      PassBackwards(program, program.steps[s]);
    }
  }

  // How often the same packed weight will be read: as often as a recurrent
  // network has steps in time, since hoist-invariants packs it before them. Parts
  // of a batch have a packed weight each (layout_copies.h).
  int64_t Sharers(const Step& step) const {
    const auto found = sharers_.find(WeightOf(step));
    return found == sharers_.end() ? 1 : found->second;
  }

  // Returns whether the caller gets the buffer, or a step reduces its rows, or
  // either what steps make of it element by element or row by row.
  bool IsWantedInRows(int buffer) const { return wanted_in_rows_[buffer]; }

 private:
  using Weight = std::tuple<int, std::vector<Role>, int>;

  static Weight WeightOf(const Step& step) {
    return {step.inputs[1], step.contraction()->contraction.weight_axes,
            step.part};
  }

  // Of a softmax: elements of a row that lie apart are gathered one by one.
  void NoteReducedRows(const Step& step) {
    if (step.map() == nullptr) return;
    for (const Store& store : step.map()->stores) {
      std::vector<Expr> reductions;
      CollectOutermostReductions(store.value, reductions);
      for (const Expr& reduction : reductions) {
        const auto note = [&](const ExprNode& load) {
          const auto runs = [&](const Range& range) {
            return !load.args.empty() && UsesVar(load.args.back(), range.var);
          };
          if (std::ranges::any_of(reduction->ranges, runs)) {
            wanted_in_rows_[step.inputs[load.index]] = true;
          }
        };
        VisitLoads(reduction->args[0], note);
      }
    }
  }

  void PassBackwards(const Program& program, const Step& step) {
    if (step.map() == nullptr || step.view) return;
    for (const int output : step.outputs) {
      if (!wanted_in_rows_[output]) continue;
      const Shape& shape = program.buffers[output].type.shape;
      for (const int input : step.inputs) {
        const bool alike = program.buffers[input].type.shape == shape;
        if (alike) wanted_in_rows_[input] = true;
      }
    }
  }

  std::map<Weight, int64_t> sharers_;
  std::vector<bool> wanted_in_rows_;  // by buffer
};

// Seconds of a step of its own that finishes the sums.
double FinishingCost(const Program& program, const Step& step,
                     const Machine& machine) {
  const auto elements = static_cast<double>(
      program.buffers[step.outputs[0]].type.shape.elements());
  return machine.launch_seconds + 2 * elements / machine.elements_per_second;
}

// Seconds, with what it takes to pack a weight in every run.
double CostOf(const Program& program, const Surroundings& around,
              const Step& step, const KernelCandidate& candidate) {
  const bool constant =
      program.buffers[step.inputs[1]].kind == BufferKind::kConstant;
  const bool packs = !constant && candidate.packing_cost > 0;
  return KernelSeconds(candidate, constant, packs ? around.Sharers(step) : 1);
}

// The same product with its operands exchanged, where both are row-major and
// summed along their rows: the weight's rows become the batch, and the weight
// is read as it is instead of packed. Or summed over the rows of both, as the
// gradient of a weight is: then neither is packed, and only the new data turned.
std::optional<Contraction> WithExchangedOperands(const Contraction& c) {
  using Axes = std::vector<Role>;
  const bool along_rows = c.data_axes == Axes{Role::kBatch, Role::kIn} &&
                          c.weight_axes == Axes{Role::kOut, Role::kIn};
  const bool across_rows = c.data_axes == Axes{Role::kIn, Role::kBatch} &&
                           c.weight_axes == Axes{Role::kIn, Role::kOut};
  const bool product = c.kernel.empty() && c.groups == 1 &&
                       (along_rows || across_rows) &&
                       c.output_axes == Axes{Role::kBatch, Role::kOut};
  if (!product) return std::nullopt;
  Contraction exchanged = c;
  std::swap(exchanged.batch, exchanged.out);
  std::swap(exchanged.types.data, exchanged.types.weight);
  exchanged.output_axes = {Role::kOut, Role::kBatch};
  return exchanged;
}

// Seconds to bring the result of an exchanged product, which has its rows in
// lanes, into the order in which the caller or a reader wants it.
double TurningCost(const Machine& machine, const Program& program,
                   const Surroundings& around, const Step& step) {
  const int result = step.outputs[0];
  if (!around.IsWantedInRows(result)) return 0;
  return static_cast<double>(program.buffers[result].type.shape.elements()) *
         machine.transpose_seconds;
}

// What the catalog has for the step as it is.
std::vector<KernelCandidate> KernelsOf(const Program& program, const Step& step,
                                       const PassContext& context) {
  const KernelCatalog& catalog = *context.catalog;
  auto candidates = catalog.Candidates(step.contraction()->contraction);
  for (KernelCandidate& candidate : candidates) {
    if (catalog.Finishes(program, step, candidate)) continue;
    candidate.parts = std::max<int64_t>(1, candidate.parts);
    candidate.cost += FinishingCost(program, step, context.machine());
  }
  return candidates;
}

// The cheapest kernel for the step as it is, of those that add no more rounding.
std::optional<KernelCandidate> BestKernel(const Program& program,
                                          const Surroundings& around,
                                          const Step& step, double rounding,
                                          const PassContext& context) {
  auto candidates = KernelsOf(program, step, context);
  std::erase_if(candidates, [&](const KernelCandidate& candidate) {
    return candidate.rounding > rounding;
  });
  const auto best = std::ranges::min_element(
      candidates, {}, [&](const KernelCandidate& candidate) {
        return CostOf(program, around, step, candidate);
      });
  if (best == candidates.end()) return std::nullopt;
  return *best;
}

// The cheapest kernel; the step takes the form that it is for.
std::optional<KernelCandidate> ChooseKernel(const Program& program,
                                            const Surroundings& around,
                                            Step& step, double rounding,
                                            const PassContext& context) {
  auto best = BestKernel(program, around, step, rounding, context);
  const bool constant =
      program.buffers[step.inputs[1]].kind == BufferKind::kConstant;
  const auto exchanged = WithExchangedOperands(step.contraction()->contraction);
  if (!best || constant || !exchanged) return best;
  Step other = step;
  other.contraction()->contraction = *exchanged;
  std::swap(other.inputs[0], other.inputs[1]);
  auto kernel = BestKernel(program, around, other, rounding, context);
  if (!kernel ||
      CostOf(program, around, other, *kernel) +
              TurningCost(context.machine(), program, around, step) >=
          CostOf(program, around, step, *best)) {
    return best;
  }
  step = std::move(other);
  return kernel;
}

// Of a step's kernels the fastest, and each that is more exact than all faster
// ones; none for other steps.
std::vector<RoundedKernel> RoundedKernels(const Program& program,
                                          const Surroundings& around,
                                          const Step& step,
                                          const PassContext& context) {
  std::vector<RoundedKernel> kernels, useful;
  if (!step.contraction()) return {};
  for (const KernelCandidate& candidate : KernelsOf(program, step, context)) {
    kernels.push_back(
        {candidate.rounding, CostOf(program, around, step, candidate)});
  }
  std::ranges::stable_sort(kernels, {}, &RoundedKernel::seconds);
  for (const RoundedKernel& kernel : kernels) {
    if (useful.empty() || kernel.rounding < useful.back().rounding) {
      useful.push_back(kernel);
    }
  }
  return useful;
}

// By step: the most that its kernel's rounding may add.
std::vector<double> Limits(const Program& program, const Surroundings& around,
                           const PassContext& context) {
  const double budget = context.catalog->RoundingBudget();
  if (std::isinf(budget)) {
    return std::vector<double>(program.steps.size(), budget);
  }
  std::vector<std::vector<RoundedKernel>> kernels;
  for (const Step& step : program.steps) {
    kernels.push_back(RoundedKernels(program, around, step, context));
  }
  return RoundingLimits(program, kernels, budget);
}

// The step in two: sums of `parts` parts into a new buffer, and a Map that adds
// and finishes them. A single part has no axis of its own.
std::pair<Step, Step> SumsOfParts(Program& program, const Step& step,
                                  const KernelCandidate& candidate) {
  const ContractionStep& body = *step.contraction();
  const int64_t parts = candidate.parts;
  const int output = step.outputs[0];
  Buffer buffer;
  buffer.name = program.buffers[output].name + "/parts";
  const DType sum_type = body.contraction.types.sum;
  buffer.type = {sum_type, program.buffers[output].type.shape};
  Extents dims = buffer.type.shape.dims();
  std::vector<Expr> index;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    index.push_back(Var(static_cast<int>(axis)));
  }
  if (parts > 1) dims.insert(dims.begin(), parts);
  buffer.type.shape = Shape(dims);
  buffer.layout = Layout::RowMajor(buffer.type.shape);
  const int sums = static_cast<int>(program.buffers.size());
  program.buffers.push_back(std::move(buffer));

  Step first = step, second = step;
  first.name += "/parts";
  first.inputs.resize(2);
  first.outputs = {sums};
  first.scratch_bytes = candidate.scratch_bytes;
  Contraction sums_of_parts =
      parts > 1 ? InParts(body.contraction, parts) : body.contraction;
  sums_of_parts.types.output = sum_type;
  first.body = ContractionStep{std::move(sums_of_parts), Acc(sum_type),
                               candidate.choice};
  second.inputs.push_back(sums);
  const int operand = static_cast<int>(second.inputs.size()) - 1;
  Expr total;
  for (int64_t part = 0; part < parts; ++part) {
    std::vector<Expr> at = index;
    if (parts > 1) at.insert(at.begin(), Expr(part));
    const Expr sum = Load(operand, sum_type, std::move(at));
    total = part == 0 ? sum : total + sum;
  }
  const Expr value = Rewrite(body.epilogue, [&](const Expr& e) -> Expr {
    return e->kind == ExprKind::kAcc ? total : Expr();
  });
  const Shape& shape = program.buffers[output].type.shape;
  second.body =
      Map{{{0, Extents(shape.dims().size(), 0), shape.dims(), value}}};
  TidyOperands(second);
  return {std::move(first), std::move(second)};
}

// The same with a weight f[G·M, K, …] where it is f[G·K, M, …].
Contraction WithExchangedWeights(const Contraction& c) {
  Contraction exchanged = c;
  exchanged.weight_axes[0] = Role::kGroupOut;
  exchanged.weight_axes[1] = Role::kIn;
  return exchanged;
}

bool HasExchangedGroups(const Contraction& c) {
  return c.groups > 1 && c.weight_axes.size() > 1 &&
         c.weight_axes[0] == Role::kGroupIn && c.weight_axes[1] == Role::kOut;
}

// The step that exchanges the channels of the weight of `step`, which then
// reads its result.
Step ExchangeWeight(Program& program, Step& step) {
  Contraction& c = step.contraction()->contraction;
  const int weight = step.inputs[1];
  Buffer buffer;
  buffer.name = program.buffers[weight].name + "/exchanged";
  buffer.type = program.buffers[weight].type;
  Extents dims = buffer.type.shape.dims();
  dims[0] = c.groups * c.out;
  dims[1] = c.in;
  buffer.type.shape = Shape(dims);
  buffer.layout = Layout::RowMajor(buffer.type.shape);
  std::vector<Expr> index;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    index.push_back(Var(static_cast<int>(axis)));
  }
  index[0] = Var(0) / Expr(c.out) * Expr(c.in) + Var(1);
  index[1] = Var(0) % Expr(c.out);
  Step exchange;
  exchange.name = step.name + "/exchange";
  exchange.origins = step.origins;
  exchange.loc = step.loc;
  exchange.inputs = {weight};
  exchange.outputs = {static_cast<int>(program.buffers.size())};
  exchange.body = Map{{{0, Extents(dims.size(), 0), dims,
                        Load(0, buffer.type.dtype, std::move(index))}}};
  step.inputs[1] = exchange.outputs[0];
  c = WithExchangedWeights(c);
  program.buffers.push_back(std::move(buffer));
  return exchange;
}

}  // namespace

Result<bool> SelectKernels(Program& program, PassContext& context) {
  if (context.catalog == nullptr) return false;
  const Surroundings around(program, context.around);
  const std::vector<double> limits = Limits(program, around, context);
  bool changed = false;
  std::vector<Step> steps;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    steps.push_back(std::move(program.steps[s]));
    ContractionStep* body = steps.back().contraction();
    if (body == nullptr) continue;
    const KernelCatalog& catalog = *context.catalog;
    if (HasExchangedGroups(body->contraction) &&
        catalog.Candidates(body->contraction).empty() &&
        !catalog.Candidates(WithExchangedWeights(body->contraction)).empty()) {
      steps.insert(steps.end() - 1, ExchangeWeight(program, steps.back()));
    }
    const auto best =
        ChooseKernel(program, around, steps.back(), limits[s], context);
    if (!best) continue;
    body = steps.back().contraction();
    changed = true;
    if (best->parts > 0) {
      auto [parts, sum] = SumsOfParts(program, steps.back(), *best);
      steps.back() = std::move(parts);
      steps.push_back(std::move(sum));
      continue;
    }
    body->choice = best->choice;
    steps.back().scratch_bytes = best->scratch_bytes;
  }
  program.steps = std::move(steps);
  return changed;
}

}  // namespace mxc
