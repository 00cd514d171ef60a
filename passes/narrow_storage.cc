// SPDX-License-Identifier: Apache-2.0
// narrow-storage: what is kept between steps on the way to a contraction is
// kept in bf16, and so are the weights where the kernels are faster for it.
//
//   x  f32[…]                         x  bf16[…]
//   y  f32[…] = conv(x, w)       ⇒    y  bf16[…] = bf16(conv(x, bf16(w)))
//   z  f32[…] = y + 1                 z  f32[…]  = f32(y) + 1
//
// All arithmetic stays in f32: sums, epilogues, elementwise steps. Inputs,
// outputs and what follows the last contraction stay in f32, too; so does what
// contractions would widen before they read it (widen-data), if that takes
// longer than storing half of the bytes saves.
//
// Runs when fusion is done, so that nothing is rounded that is not stored, and
// for inference only: training needs the digits of f32 in its updates.
#include <algorithm>
#include <limits>
#include <map>

#include "ir/program/add_buffer.h"
#include "passes/kernel_seconds.h"
#include "passes/passes.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

constexpr DType kNarrow = DType::kBF16, kWide = DType::kF32;

Tensor Narrowed(const Tensor& tensor) {
  const TensorType type = {kNarrow, tensor.shape()};
  return Tensor::Deferred(type, [=] {
    std::byte* to = nullptr;
    Tensor narrow = Tensor::Allocate(type, &to);
    for (int64_t i = 0; i < type.shape.elements(); ++i) {
      StoreElement(to + i * SizeOf(kNarrow), kNarrow, tensor.At(i));
    }
    return narrow;
  });
}

// As what is stored: an element that was read as bf16 needs no way through f32.
Expr Narrowed(const Expr& value) {
  const bool widened =
      value->kind == ExprKind::kCast && value->args[0]->dtype == kNarrow;
  return widened ? value->args[0] : Cast(value, kNarrow);
}

class Narrowing {
 public:
  Narrowing(Program& program, const PassContext& context)
      : program_(program),
        catalog_(*context.catalog),
        machine_(context.machine()) {}

  bool Run() {
    FindNarrow();
    if (std::ranges::count(narrow_, true) == 0) return false;
    for (size_t b = 0; b < narrow_.size(); ++b) {
      if (narrow_[b]) program_.buffers[b].type.dtype = kNarrow;
    }
    for (Step& step : program_.steps) {
      if (step.map() != nullptr) NarrowMap(step);
      if (step.contraction() != nullptr) NarrowContraction(step);
    }
    return true;
  }

 private:
  // What leads to a contraction through steps that can be rewritten.
  void FindNarrow() {
    std::vector<bool> leads(program_.buffers.size(), false);
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
      const bool on_way =
          contracts ||
          std::ranges::any_of(step.outputs, [&](int b) { return leads[b]; });
      if (!on_way) continue;
      for (const int b : step.inputs) leads[b] = true;
    }
    const StepUses uses(program_);
    for (size_t b = 0; b < narrow_.size(); ++b) {
      narrow_[b] = narrow_[b] && leads[b] && Pays(static_cast<int>(b), uses);
    }
    // A view stays one where both sides are alike.
    for (size_t s = program_.steps.size(); s-- > 0;) {
      const Step& step = program_.steps[s];
      const bool wide = step.view && !narrow_[step.outputs[0]];
      if (wide && leads[step.outputs[0]]) narrow_[step.inputs[0]] = false;
    }
  }

  // Whether steps are as fast if the buffer is narrow.
  bool Pays(int buffer, const StepUses& uses) const {
    const TensorType& type = program_.buffers[buffer].type;
    const double cast = CastSeconds(machine_, {kNarrow, type.shape}, kWide);
    double narrow = 0, wide = 0;
    int64_t passes = 1;  // over the bytes: written and read
    for (const int s : uses.ReadersOf(buffer)) {
      const Step& step = program_.steps[static_cast<size_t>(s)];
      const ContractionStep* body = step.contraction();
      if (body == nullptr || step.inputs[0] != buffer) {
        ++passes;
        continue;
      }
      const Contraction& c = body->contraction;
      const double as_wide = Seconds(c, kWide, kWide, step.inputs[1]);
      const double as_narrow =
          std::min(Seconds(c, kNarrow, kWide, step.inputs[1]),
                   Seconds(c, kNarrow, kNarrow, step.inputs[1]));
      if (as_wide == kNever || as_narrow == kNever) continue;
      narrow += std::min(as_narrow, as_wide + cast);
      wide += as_wide;
    }
    const int64_t saved =
        passes * type.shape.elements() * (SizeOf(kWide) - SizeOf(kNarrow));
    return narrow <=
           wide + static_cast<double>(saved) / machine_.stream_bytes_per_second;
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
      return Cast(Load(node->index, kNarrow, node->args), kWide);
    });
  }

  void NarrowMap(Step& step) const {
    for (Store& store : step.map()->stores) {
      store.value = Reading(step, store.value);
      if (narrow_[step.outputs[store.output]]) {
        store.value = Narrowed(store.value);
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
      body.epilogue = Narrowed(body.epilogue);
      types.output = kNarrow;
    }
    if (narrow_[step.inputs[1]]) types.weight = kNarrow;
    if (!narrow_[step.inputs[0]]) return;
    types.data = kNarrow;
    if (Prefers(body.contraction, step.inputs[1])) {
      step.inputs[1] = NarrowConstant(step.inputs[1]);
      types.weight = kNarrow;
    }
  }

  // Whether the contraction of narrow data is faster by a narrow weight: wide
  // ones leave more kernels to choose from, for data that are widened.
  bool Prefers(const Contraction& c, int weight) const {
    const Buffer& buffer = program_.buffers[weight];
    if (buffer.kind != BufferKind::kConstant || buffer.type.dtype != kWide) {
      return false;
    }
    return Seconds(c, kNarrow, kNarrow, weight) <
           std::min(Seconds(c, kNarrow, kWide, weight),
                    Seconds(c, kWide, kWide, weight));
  }

  int NarrowConstant(int wide) {
    const auto [found, is_new] = constants_.try_emplace(wide, -1);
    if (is_new) {
      const Buffer from = program_.buffers[wide];
      found->second =
          AddBuffer(program_, from.name + "/narrow", {kNarrow, from.type.shape},
                    BufferKind::kConstant);
      program_.buffers[found->second].constant = Narrowed(from.constant);
      narrow_.push_back(false);
    }
    return found->second;
  }

  static constexpr double kNever = std::numeric_limits<double>::infinity();

  Program& program_;
  const KernelCatalog& catalog_;
  const Machine& machine_;
  std::vector<bool> narrow_;      // by buffer: it was f32 and is narrow now
  std::map<int, int> constants_;  // the narrow one of each
};

}  // namespace

Result<bool> NarrowStorage(Program& program, PassContext& context) {
  const bool asked = context.storage == kNarrow;
  if (!asked || context.training != nullptr || context.catalog == nullptr) {
    return false;
  }
  return Narrowing(program, context).Run();
}

}  // namespace mxc
