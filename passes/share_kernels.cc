// SPDX-License-Identifier: Apache-2.0
// share-kernels: where contractions finish with different parts of one tensor,
// the parts become tensors, which lie in it: the steps then differ in where
// their operands lie, and share one kernel. So the code of a recurrent layer is
// that of one step in time.
//
//   h1 = contraction h0, w {acc + x[i0 + 32, i1]}
//   h2 = contraction h1, w {acc + x[i0 + 64, i1]}
//     ⇒
//   x1 = x[32…64]                                    nothing to do
//   h1 = contraction h0, w {acc + x1[i0, i1]}
//   x2 = x[64…96]                                    nothing to do
//   h2 = contraction h1, w {acc + x2[i0, i1]}
//
// A part is a range of the first axis, of whole blocks where that is cut, which
// comes first in memory; of a constant it is a constant. States stay whole:
// they are written again.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>

#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/passes.h"
#include "passes/step_operands.h"

namespace mxc {
namespace {

using IndexRange = Interval;  // of indices

// What an index may be where variable k runs over dims[k]; nothing if that is
// not seen at once.
std::optional<IndexRange> RangeOf(const Expr& index, const Extents& dims) {
  if (index->kind == ExprKind::kConst) {
    const auto value = static_cast<int64_t>(index->number);
    return IndexRange{value, value};
  }
  if (index->kind == ExprKind::kVar) {
    const auto var = static_cast<size_t>(index->index);
    if (var >= dims.size()) return std::nullopt;
    return IndexRange{0, dims[var] - 1};
  }
  if (index->kind != ExprKind::kBinary) return std::nullopt;
  const auto a = RangeOf(index->args[0], dims);
  const auto b = RangeOf(index->args[1], dims);
  if (!a || !b) return std::nullopt;
  if (index->binary == BinaryOp::kAdd) {
    return IndexRange{a->low + b->low, a->high + b->high};
  }
  if (index->binary != BinaryOp::kMul || a->low < 0 || b->low < 0) {
    return std::nullopt;
  }
  return IndexRange{a->low * b->low, a->high * b->high};
}

class PartsOfOperands {
 public:
  explicit PartsOfOperands(Program& program) : program_(program) {}

  bool Run() {
    for (const Step& step : program_.steps) CountParts(step);
    bool changed = false;
    std::vector<Step> steps;
    for (Step& step : program_.steps) {
      Step reading = std::move(step);
      for (const int operand : Epilogue(reading)) {
        const auto part = PartOf(reading, operand);
        if (!part || readers_.at(reading.inputs[operand]) < 2) continue;
        changed = true;
        ReadPart(reading, operand, *part, steps);
      }
      steps.push_back(std::move(reading));
    }
    program_.steps = std::move(steps);
    return changed;
  }

 private:
  // The operands of a contraction's epilogue.
  static std::vector<int> Epilogue(const Step& step) {
    std::vector<int> operands;
    if (step.contraction() == nullptr) return operands;
    const int count = static_cast<int>(step.inputs.size());
    for (int i = FixedOperands(step); i < count; ++i) operands.push_back(i);
    return operands;
  }

  void CountParts(const Step& step) {
    for (const int operand : Epilogue(step)) {
      if (PartOf(step, operand)) ++readers_[step.inputs[operand]];
    }
  }

  bool CanBeCut(const Step& step, int operand) const {
    const int read = step.inputs[operand];
    const Buffer& buffer = program_.buffers[read];
    const int root = program_.Root(read);
    const BufferKind kind = program_.buffers[root].kind;
    const bool steady = kind == BufferKind::kInternal ||
                        kind == BufferKind::kInput ||
                        (kind == BufferKind::kConstant && buffer.alias_of < 0);
    const Layout& layout = buffer.layout;
    const bool rows_first = !layout.dims.empty() && layout.dims[0].axis == 0 &&
                            !layout.has_halo() &&
                            layout.basis == KernelBasis::kPlain;
    return steady && rows_first && root != program_.Root(step.outputs[0]);
  }

  // The rows that the step reads, unless it reads them all.
  std::optional<IndexRange> PartOf(const Step& step, int operand) const {
    if (!CanBeCut(step, operand)) return std::nullopt;
    const Extents dims = OutputDims(step.contraction()->contraction);
    std::optional<IndexRange> all;
    bool known = true;
    VisitLoads(step.contraction()->epilogue, [&](const ExprNode& load) {
      if (load.index != operand) return;
      const auto range = RangeOf(load.args[0], dims);
      known = known && range;
      if (!known) return;
      if (!all) all = range;
      all->low = std::min(all->low, range->low);
      all->high = std::max(all->high, range->high);
    });
    if (!known || !all) return std::nullopt;
    const Buffer& buffer = program_.buffers[step.inputs[operand]];
    const int64_t rows = buffer.type.shape[0], block = buffer.layout.block(0);
    const int64_t count = all->high - all->low + 1;
    const bool inside = all->low >= 0 && all->high < rows && count < rows;
    const bool whole_blocks = all->low % block == 0 && count % block == 0;
    if (!inside || !whole_blocks) return std::nullopt;
    return all;
  }

  void ReadPart(Step& step, int operand, const IndexRange& rows,
                std::vector<Step>& steps) {
    const int whole = step.inputs[operand];
    int& part = parts_[{whole, rows.low, rows.high}];
    if (part == 0) {
      part = AddPart(whole, rows);
      if (program_.buffers[whole].kind != BufferKind::kConstant) {
        steps.push_back(Slice(step, whole, part, rows.low));
      }
    }
    step.inputs[operand] = part;
    Expr& epilogue = step.contraction()->epilogue;
    epilogue = Rewrite(epilogue, [&](const Expr& e) -> Expr {
      if (e->kind != ExprKind::kLoad || e->index != operand) return Expr();
      std::vector<Expr> index = e->args;
      index[0] = index[0] + Expr(-rows.low);
      return Load(operand, e->dtype, std::move(index));
    });
  }

  int AddPart(int whole, const IndexRange& rows) {
    Buffer part = program_.buffers[whole];
    const int64_t block = part.layout.block(0);
    const int64_t begin =
        rows.low / block * part.layout.strides()[0] * SizeOf(part.type.dtype);
    part.name += "/part";
    part.type.shape[0] = rows.high - rows.low + 1;
    part.layout.dims[0].extent = part.type.shape[0] / block;
    part.offset = -1;
    if (part.kind == BufferKind::kConstant) {
      const auto owner = std::make_shared<Tensor>(part.constant);
      part.constant = Tensor(part.type, owner, owner->bytes() + begin);
    } else {
      part.kind = BufferKind::kInternal;
      part.alias_of = whole;
      part.alias_begin = begin;
    }
    program_.buffers.push_back(std::move(part));
    return static_cast<int>(program_.buffers.size()) - 1;
  }

  Step Slice(const Step& reading, int whole, int part, int64_t first) const {
    const TensorType& type = program_.buffers[part].type;
    std::vector<Expr> index;
    for (int axis = 0; axis < type.shape.rank(); ++axis) {
      index.push_back(Var(axis));
    }
    index[0] = index[0] + Expr(first);
    Step slice;
    slice.name = reading.name + "/part";
    slice.origins = reading.origins;
    slice.loc = reading.loc;
    slice.inputs = {whole};
    slice.outputs = {part};
    slice.body =
        Map{{{0, Extents(type.shape.dims().size(), 0), type.shape.dims(),
              Load(0, type.dtype, std::move(index))}}};
    return slice;
  }

  Program& program_;
  std::map<int, int> readers_;  // steps that read a part, by buffer
  std::map<std::tuple<int, int64_t, int64_t>, int> parts_;
};

}  // namespace

Result<bool> ShareKernels(Program& program, PassContext&) {
  return PartsOfOperands(program).Run();
}

}  // namespace mxc
