// SPDX-License-Identifier: Apache-2.0
// narrow-storage: what is kept between steps on the way to a contraction is
// kept in bf16 or f16, and so are the weights where the kernels are faster for
// it.
//
//   x  f32[…]                         x  bf16[…]
//   y  f32[…] = conv(x, w)       ⇒    y  bf16[…] = bf16(conv(x, bf16(w)))
//   z  f32[…] = y + 1                 z  f32[…]  = f32(y) + 1
//
// What layers that PassContext::kept_layers names read is f32 all the way from the
// contractions before them.
//
// All arithmetic stays in f32: sums, epilogues, elementwise steps. Inputs,
// outputs and what follows the last contraction stay in f32, too, but for copies
// of inputs that contractions read where that is faster; so does what
// contractions would widen before they read it (widen-data), if that takes
// longer than storing half of the bytes saves.
//
// Where the network trains, activations and what flows back through them lead
// to contractions; gradients of parameters do not, so that updates have all
// digits of f32, and the parameters themselves stay as they are: contractions
// read copies that are made in each run. What adds up elements and what follows
// from such sums alone (the moments of a batch norm) stays in f32, too.
//
// Runs when fusion is done, so that nothing is rounded that is not stored.
#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "ir/program/add_buffer.h"
#include "ir/program/copy_step.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/support/wildcard.h"
#include "passes/kernel_seconds.h"
#include "passes/narrowed_layers.h"
#include "passes/passes.h"
#include "passes/step_readers.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

constexpr DType kWide = DType::kF32;

Tensor InType(DType dtype, const Tensor& tensor) {
  const TensorType type = {dtype, tensor.shape()};
  return Tensor::Deferred(type, [=] {
    std::byte* to = nullptr;
    Tensor narrow = Tensor::Allocate(type, &to);
    for (int64_t i = 0; i < type.shape.elements(); ++i) {
      StoreElement(to + i * SizeOf(dtype), dtype, tensor.At(i));
    }
    return narrow;
  });
}

// As what is stored: an element that was read as that needs no way through f32.
Expr InType(DType dtype, const Expr& value) {
  const bool widened =
      value->kind == ExprKind::kCast && value->args[0]->dtype == dtype;
  return widened ? value->args[0] : Cast(value, dtype);
}

// Returns whether a pattern names one of the step's layers.
bool IsKept(const Step& step, const std::set<std::string>& patterns) {
  return std::ranges::any_of(step.origins, [&](const std::string& layer) {
    return MatchesAny(patterns, layer);
  });
}

bool AddsUp(const Expr& e) {
  std::vector<Expr> found;
  CollectOutermostReductions(e, found);
  return std::ranges::any_of(found, [](const Expr& reduce) {
    return reduce->reduce == ReduceOp::kSum || AddsUp(reduce->args[0]);
  });
}

class Narrowing {
 public:
  Narrowing(Program& program, const PassContext& context)
      : program_(program),
        catalog_(*context.catalog),
        machine_(context.machine()),
        type_(context.storage),
        kept_layers_(context.kept_layers),
        stores_all_(context.stores_all),
        trains_(context.training != nullptr) {}

  bool Run() {
    FindNarrow();
    if (std::ranges::count(narrow_, true) == 0) return false;
    for (size_t b = 0; b < narrow_.size(); ++b) {
      if (narrow_[b]) program_.buffers[b].type.dtype = type_;
    }
    for (Step& step : program_.steps) {
      if (step.map() != nullptr) NarrowMap(step);
      if (step.contraction() != nullptr) NarrowContraction(step);
    }
    program_.steps.insert(program_.steps.begin(), copies_.begin(),
                          copies_.end());
    return true;
  }

 private:
  // What leads to a contraction through steps that can be rewritten.
  void FindNarrow() {
    std::vector<bool> leads(program_.buffers.size(), false);
    std::vector<bool> keeps = leads;  // leads to a layer that reads f32
    for (const Buffer& b : program_.buffers) {
      narrow_.push_back(b.kind == BufferKind::kInternal && b.alias_of < 0 &&
                        b.type.dtype == kWide);
    }
    for (size_t s = program_.steps.size(); s-- > 0;) {
      const Step& step = program_.steps[s];
      const bool contracts = step.contraction() != nullptr;
      if (!contracts && step.map() == nullptr) {
        for (const int b : step.operands()) narrow_[b] = false;
      }
      const auto is_kept = [&](int b) { return bool{keeps[b]}; };
      const bool reads_wide = contracts && IsKept(step, kept_layers_);
      if (reads_wide || std::ranges::any_of(step.outputs, is_kept)) {
        // What is multiplied is of a precision of its own.
        const size_t factors = contracts && !reads_wide ? 2 : 0;
        for (size_t i = factors; i < step.inputs.size(); ++i) {
          keeps[step.inputs[i]] = true;
        }
      }
      const bool on_way =
          contracts ||
          std::ranges::any_of(step.outputs, [&](int b) { return leads[b]; });
      if (!on_way) continue;
      for (const int b : step.inputs) leads[b] = true;
    }
    KeepIndices();
    if (trains_) KeepSums();
    const StepUses uses(program_);
    for (size_t b = 0; b < narrow_.size(); ++b) {
      narrow_[b] = narrow_[b] && leads[b] && !keeps[b] &&
                   Pays(static_cast<int>(b), uses);
    }
    // A view stays one where both sides are alike.
    for (size_t s = program_.steps.size(); s-- > 0;) {
      const Step& step = program_.steps[s];
      const bool wide = step.view && !narrow_[step.outputs[0]];
      if (wide && leads[step.outputs[0]]) narrow_[step.inputs[0]] = false;
    }
  }

  // The numbers of elements.
  void KeepIndices() {
    for (const Step& step : program_.steps) {
      if (step.map() == nullptr) continue;
      const auto keep = [&](const ExprNode& load) {
        for (const Expr& index : load.args) {
          VisitLoads(index, [&](const ExprNode& inner) {
            narrow_[step.inputs[inner.index]] = false;
          });
        }
      };
      for (const Store& store : step.map()->stores) {
        VisitLoads(store.value, keep);
      }
    }
  }

  // Sums of elements, and what follows from them and from parameters alone.
  void KeepSums() {
    std::vector<bool> sums;
    for (const Buffer& b : program_.buffers) {
      sums.push_back(b.kind == BufferKind::kConstant ||
                     b.kind == BufferKind::kState);
    }
    for (const Step& step : program_.steps) {
      if (step.map() == nullptr) continue;
      for (const Store& store : step.map()->stores) {
        bool only_sums = true;
        VisitLoads(store.value, [&](const ExprNode& load) {
          only_sums &= sums[step.inputs[load.index]];
        });
        if (!only_sums && !AddsUp(store.value)) continue;
        sums[step.outputs[store.output]] = true;
        narrow_[step.outputs[store.output]] = false;
      }
    }
  }

  // Returns whether steps are as fast if the buffer is narrow, or whether that
  // is not asked.
  bool Pays(int buffer, const StepUses& uses) const {
    const TensorType& type = program_.buffers[buffer].type;
    const double cast = CastSeconds(machine_, {type_, type.shape}, kWide);
    double narrow = 0, wide = 0;
    int64_t passes = 1;  // over the bytes: written and read
    for (const int s : uses.ReadersOf(buffer)) {
      const Step& step = program_.steps[static_cast<size_t>(s)];
      const ContractionStep* body = step.contraction();
      const bool weight = body != nullptr && step.inputs[1] == buffer;
      if (weight && !CanBeWeight(*body, buffer)) return false;
      if (body == nullptr || step.inputs[0] != buffer) {
        ++passes;
        continue;
      }
      const Contraction& c = body->contraction;
      const double as_wide = Seconds(c, kWide, kWide, step.inputs[1]);
      if (as_wide == kNever) continue;
      const double as_narrow =
          std::min(Seconds(c, type_, kWide, step.inputs[1]),
                   Seconds(c, type_, type_, step.inputs[1]));
      narrow += std::min(as_narrow, as_wide + cast);
      wide += as_wide;
    }
    const int64_t saved =
        passes * type.shape.elements() * (SizeOf(kWide) - SizeOf(type_));
    return stores_all_ || narrow <= wide + static_cast<double>(saved) /
                                               machine_.stream_bytes_per_second;
  }

  // Nothing widens a weight: there is a kernel for narrow ones, or for none.
  bool CanBeWeight(const ContractionStep& body, int buffer) const {
    const Contraction& c = body.contraction;
    return Seconds(c, kWide, kWide, buffer) == kNever ||
           Seconds(c, kWide, type_, buffer) != kNever;
  }

  // Of the fastest kernel for operands of those types; kNever: there is none.
  double Seconds(Contraction c, DType data, DType weights, int weight) const {
    c.types.data = data;
    c.types.weight = weights;
    const bool constant =
        program_.buffers[weight].kind == BufferKind::kConstant;
    return KernelSeconds(catalog_, c, constant).value_or(kNever);
  }

  // The same value of operands as they are kept now.
  Expr Reading(const Step& step, const Expr& e) const {
    return Rewrite(e, [&](const Expr& node) -> Expr {
      if (node->kind != ExprKind::kLoad) return {};
      if (!narrow_[step.inputs[node->index]]) return {};
      return Cast(Load(node->index, type_, node->args), kWide);
    });
  }

  void NarrowMap(Step& step) const {
    for (Store& store : step.map()->stores) {
      store.value = Reading(step, store.value);
      if (narrow_[step.outputs[store.output]]) {
        store.value = InType(type_, store.value);
      }
    }
    const auto narrow = [&](int b) { return bool{narrow_[b]}; };
    step.view = step.view && std::ranges::all_of(step.operands(), narrow);
  }

  void NarrowContraction(Step& step) {
    ContractionStep& body = *step.contraction();
    body.epilogue = Reading(step, body.epilogue);
    ContractionTypes& types = body.contraction.types;
    if (narrow_[step.outputs[0]]) {
      body.epilogue = InType(type_, body.epilogue);
      types.output = type_;
    }
    if (narrow_[step.inputs[1]]) types.weight = type_;
    if (ReadsNarrowInput(step)) {
      step.inputs[0] = NarrowCopy(step.inputs[0]);
    } else if (!narrow_[step.inputs[0]]) {
      return;
    }
    types.data = type_;
    if (Prefers(body.contraction, step.inputs[1])) {
      step.inputs[1] = NarrowCopy(step.inputs[1]);
      types.weight = type_;
    }
  }

  // Returns whether the step reads what the caller gives it, and is faster by
  // more than it takes to round that.
  bool ReadsNarrowInput(const Step& step) const {
    const ContractionStep& body = *step.contraction();
    const Buffer& data = program_.buffers[step.inputs[0]];
    bool is_operand = false;
    VisitLoads(body.epilogue,
               [&](const ExprNode& load) { is_operand |= load.index == 0; });
    if (data.kind != BufferKind::kInput || data.type.dtype != kWide ||
        trains_ || is_operand || IsKept(step, kept_layers_)) {
      return false;
    }
    const Contraction& c = body.contraction;
    const double narrow = Seconds(c, type_, type_, step.inputs[1]);
    if (stores_all_) return narrow != kNever;
    // An input has no border, so that windows beyond it take a copy as well.
    const bool copies =
        std::ranges::any_of(c.pad, [](int64_t padding) { return padding > 0; });
    const double copy = copies ? CastSeconds(machine_, data.type, kWide) : 0.0;
    return narrow + CastSeconds(machine_, data.type, type_) <
           Seconds(c, kWide, kWide, step.inputs[1]) + copy;
  }

  // Returns whether the contraction of narrow data is faster by a narrow
  // weight: wide ones leave more kernels to choose from, for data that are
  // widened.
  bool Prefers(const Contraction& c, int weight) const {
    const Buffer& buffer = program_.buffers[weight];
    const bool parameter = buffer.kind == BufferKind::kConstant ||
                           (trains_ && buffer.kind == BufferKind::kState);
    if (!parameter || buffer.type.dtype != kWide) return false;
    const double narrow = Seconds(c, type_, type_, weight);
    if (stores_all_) return narrow != kNever;
    return narrow < std::min(Seconds(c, type_, kWide, weight),
                             Seconds(c, kWide, kWide, weight));
  }

  // Of a constant, of a parameter that is a state, or of an input.
  int NarrowCopy(int wide) {
    const auto [found, is_new] = narrow_copies_.try_emplace(wide, -1);
    if (!is_new) return found->second;
    const Buffer from = program_.buffers[wide];
    const bool constant = from.kind == BufferKind::kConstant;
    const std::string name = from.name + "/narrow";
    const int copy = found->second =
        AddBuffer(program_, name, {type_, from.type.shape},
                  constant ? BufferKind::kConstant : BufferKind::kInternal);
    narrow_.push_back(false);
    if (constant) {
      program_.buffers[copy].constant = InType(type_, from.constant);
    } else {
      copies_.push_back(CopyStep(program_, wide, copy, name, {}, SourceLoc()));
      Store& store = copies_.back().map()->stores[0];
      store.value = Cast(store.value, type_);
    }
    return copy;
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();

  Program& program_;
  const KernelCatalog& catalog_;
  const Machine& machine_;
  const DType type_;
  const std::set<std::string>& kept_layers_;
  const bool stores_all_, trains_;
  std::vector<bool> narrow_;          // by buffer: it was f32 and is narrow now
  std::map<int, int> narrow_copies_;  // of what stays wide
  std::vector<Step> copies_;          // that make those of states and inputs
};

}  // namespace

std::vector<NarrowedLayers> LayersToNarrow(const Program& program) {
  std::vector<NarrowedLayers> found;
  std::map<int, size_t> readers;  // by what they read
  for (const Step& step : program.steps) {
    StepBody body = step.body;
    body.VisitPrograms([&](std::shared_ptr<const Program>& inner) {
      for (NarrowedLayers& layers : LayersToNarrow(*inner)) {
        found.push_back(std::move(layers));
      }
    });
    if (step.contraction() == nullptr || step.origins.empty()) continue;
    const auto [at, is_new] = readers.try_emplace(step.inputs[0], found.size());
    if (is_new) found.emplace_back();
    NarrowedLayers& layers = found[at->second];
    const std::string& name = step.origins.front();
    if (std::ranges::count(layers, name) == 0) layers.push_back(name);
  }
  return found;
}

Result<bool> NarrowStorage(Program& program, PassContext& context) {
  if (context.storage == kWide || context.catalog == nullptr) return false;
  return Narrowing(program, context).Run();
}

}  // namespace mxc
