// SPDX-License-Identifier: Apache-2.0
// skip-unread-positions: a value of which all readers take only every s-th
// position of an axis is computed only there.
//
//   a[56, 56] = conv 3x3 (x)                 a[28, 28] = conv 3x3 / 2 (x)
//   b[56, 56] = conv 1x1 (a) + x[i, j]   ⇒   b[28, 28] = conv 1x1 (a) +
//   c[28, 28] = conv 1x1 / 2 (b)                         x[2·i, 2·j]
//   d[28, 28] = conv 1x1 / 2 (b)             c[28, 28] = conv 1x1 (b) …
//
// What is read of an axis is a lattice {first + k·step}, the smallest that
// holds what each reader takes. The producer takes over the stride, so that it
// reads a lattice in its turn: steps are visited from the last to the first.
// Outputs of the network, states and views are needed whole, contractions can
// skip positions of their spatial axes only. A step is left as it is where
// computing less would take longer, as when only all positions together have a
// fast algorithm.
#include <algorithm>
#include <numeric>
#include <optional>

#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/evaluation_cost.h"
#include "passes/kernel_seconds.h"
#include "passes/lattice.h"
#include "passes/passes.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"
#include "passes/step_uses.h"

namespace mxc {
namespace {

// The spatial dimension that an axis of a contraction's operand is; -1: none.
int SpatialOf(Role role) {
  return role < Role::kSpatial0
             ? -1
             : static_cast<int>(role) - static_cast<int>(Role::kSpatial0);
}

// What a contraction reads of its data along spatial axis `d`.
Lattice DataLattice(const Contraction& c, int d) {
  if (c.data_dilate[d] != 1) return {};
  int64_t step = c.output[d] > 1 ? c.stride[d] : 0;
  if (c.kernel[d] > 1) step = std::gcd(step, c.dilate[d]);
  return Lattice::Of(-c.pad[d], step);
}

class Skipping {
 public:
  Skipping(Program& program, const PassContext& context)
      : program_(program),
        catalog_(context.catalog),
        machine_(context.machine()),
        uses_(program) {}

  bool Run() {
    bool changed = false;
    for (size_t s = program_.steps.size(); s-- > 0;) {
      const size_t outputs = program_.steps[s].outputs.size();
      for (size_t k = 0; k < outputs; ++k) {
        changed |= Skip(program_.steps[s], static_cast<int>(k));
      }
    }
    return changed;
  }

 private:
  using Lattices = std::vector<Lattice>;  // by axis

  // Computes less of output `k` of `producer` if its readers allow it.
  bool Skip(Step& producer, int k) {
    const int buffer = producer.outputs[k];
    Buffer& value = program_.buffers[buffer];
    const bool internal = value.kind == BufferKind::kInternal;
    if (!internal || producer.view || uses_.ReadersOf(buffer).empty())
      return false;
    Lattices read = ReadOf(buffer);
    bool skips = false;
    for (size_t axis = 0; axis < read.size(); ++axis) {
      const int64_t extent = value.type.shape[static_cast<int>(axis)];
      const int64_t count = read[axis].Count(extent);
      const bool possible = count > 0 && count < extent &&
                            MaySkip(producer, static_cast<int>(axis));
      if (!possible) read[axis] = {};
      skips |= possible;
    }
    if (!skips || !Compute(producer, k, read)) return false;
    Extents dims = value.type.shape.dims();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      dims[axis] = read[axis].Count(dims[axis]);
    }
    value.type.shape = Shape(dims);
    value.layout = Layout::RowMajor(value.type.shape);
    for (const int r : uses_.ReadersOf(buffer)) {
      ReadPositions(program_.steps[r], buffer, read);
    }
    return true;
  }

  // What all readers take.
  Lattices ReadOf(int buffer) const {
    const int rank = program_.buffers[buffer].type.shape.rank();
    std::optional<Lattices> read;
    const auto join = [&](const Lattices& lattices) {
      if (!read) {
        read = lattices;
        return;
      }
      for (int axis = 0; axis < rank; ++axis)
        (*read)[axis].Join(lattices[axis]);
    };
    for (const int r : uses_.ReadersOf(buffer)) {
      const Step& reader = program_.steps[r];
      if (reader.view) return Lattices(rank);
      VisitExprs(reader, [&](const Expr& e) {
        VisitLoads(e, [&](const ExprNode& load) {
          if (reader.inputs[load.index] != buffer) return;
          Lattices lattices;
          std::ranges::transform(load.args, std::back_inserter(lattices),
                                 [](const Expr& i) { return Lattice::Of(i); });
          join(lattices);
        });
      });
      for (int i = 0; i < FixedOperands(reader); ++i) {
        if (reader.inputs[i] != buffer) continue;
        const bool is_data = reader.contraction() != nullptr && i == 0;
        if (!is_data) return Lattices(rank);
        join(DataLattices(reader));
      }
    }
    return read.value_or(Lattices(rank));
  }

  static Lattices DataLattices(const Step& reader) {
    const Contraction& c = reader.contraction()->contraction;
    Lattices lattices;
    for (const Role role : c.data_axes) {
      const int d = SpatialOf(role);
      lattices.push_back(d < 0 ? Lattice() : DataLattice(c, d));
    }
    return lattices;
  }

  static bool MaySkip(const Step& producer, int axis) {
    if (producer.map()) return true;
    const ContractionStep* body = producer.contraction();
    return body != nullptr &&
           SpatialOf(body->contraction.output_axes[axis]) >= 0;
  }

  // `producer` computes its output at these positions only. False if it takes
  // no less time.
  bool Compute(Step& producer, int k, const Lattices& at) const {
    return producer.map() ? ComputeMap(*producer.map(), k, at)
                          : ComputeContraction(producer, at);
  }

  // The value at the positions instead of at every index.
  static Expr At(const Expr& value, const Lattices& at) {
    return SubstituteVars(value, [&](int var) -> Expr {
      if (var >= static_cast<int>(at.size())) return {};
      return at[var].Position(Var(var));
    });
  }

  static bool ComputeMap(Map& map, int k, const Lattices& at) {
    std::vector<Store> stores;
    double before = 0, after = 0;
    for (const Store& store : map.stores) {
      if (store.output != k) {
        stores.push_back(store);
        continue;
      }
      before += HoistedCost(store);
      const auto part = StoreAt(store, at);
      if (!part) continue;
      after += HoistedCost(*part);
      stores.push_back(*part);
    }
    if (after >= before) return false;
    map.stores = std::move(stores);
    return true;
  }

  // The positions that lie in the store's box.
  static std::optional<Store> StoreAt(const Store& store, const Lattices& at) {
    Store part = store;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const int64_t begin = store.begin[axis];
      part.begin[axis] = at[axis].Count(begin);
      part.extent[axis] =
          at[axis].Count(begin + store.extent[axis]) - part.begin[axis];
      if (part.extent[axis] == 0) return std::nullopt;
    }
    part.value = Simplify(At(store.value, at), BoxOf(part.begin, part.extent));
    part.value = WithIdentityUnitIndices(part);
    return part;
  }

  bool ComputeContraction(Step& step, const Lattices& at) const {
    ContractionStep& body = *step.contraction();
    Contraction c = body.contraction;
    Extents extent = program_.buffers[step.outputs[0]].type.shape.dims();
    for (size_t axis = 0; axis < at.size(); ++axis) {
      extent[axis] = at[axis].Count(extent[axis]);
      const int d = SpatialOf(c.output_axes[axis]);
      if (d < 0) continue;
      c.pad[d] -= at[axis].first * c.stride[d];
      c.stride[d] *= std::max<int64_t>(1, at[axis].step);
      c.output[d] = extent[axis];
    }
    const bool constant =
        program_.buffers[step.inputs[1]].kind == BufferKind::kConstant;
    if (Seconds(c, constant) >= Seconds(body.contraction, constant)) {
      return false;
    }
    body.contraction = std::move(c);
    body.epilogue = Simplify(At(body.epilogue, at),
                             BoxOf(Extents(extent.size(), 0), extent));
    return true;
  }

  // With the fastest kernel for it.
  double Seconds(const Contraction& c, bool constant_weight) const {
    const double generic =
        static_cast<double>(c.flops()) / machine_.generic_flops_per_second;
    if (catalog_ == nullptr) return generic;
    return KernelSeconds(*catalog_, c, constant_weight).value_or(generic);
  }

  // `reader` finds the positions of `buffer` side by side.
  static void ReadPositions(Step& reader, int buffer, const Lattices& at) {
    VisitExprs(reader, [&](Expr& e) {
      e = Rewrite(e, [&](const Expr& node) -> Expr {
        if (node->kind != ExprKind::kLoad) return {};
        if (reader.inputs[node->index] != buffer) return {};
        std::vector<Expr> index = node->args;
        for (size_t axis = 0; axis < at.size(); ++axis) {
          index[axis] = at[axis].Number(index[axis]);
        }
        return Load(node->index, node->dtype, std::move(index));
      });
    });
    if (reader.contraction() == nullptr || reader.inputs[0] != buffer) return;
    Contraction& c = reader.contraction()->contraction;
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const int d = SpatialOf(c.data_axes[axis]);
      if (d < 0 || at[axis].all()) continue;
      const int64_t step = std::max<int64_t>(1, at[axis].step);
      c.input[d] = at[axis].Count(c.input[d]);
      c.pad[d] = -at[axis].Number(-c.pad[d]);
      // Where there is one position only, its distance to the next is free.
      c.stride[d] = std::max<int64_t>(1, c.stride[d] / step);
      c.dilate[d] = std::max<int64_t>(1, c.dilate[d] / step);
    }
  }

  Program& program_;
  const KernelCatalog* catalog_;
  const Machine& machine_;
  const StepUses uses_;
};

}  // namespace

Result<bool> SkipUnreadPositions(Program& program, PassContext& context) {
  return Skipping(program, context).Run();
}

}  // namespace mxc
