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
// Outputs of the network and states are needed whole, contractions can skip
// positions of their spatial axes, and rows of their batch, of whose data a step
// takes those that are left. So of a network that says what the next word is only
// the last rows go through its last layers:
//
//   y[64, 50257] = product (x[64, 768])      x'[1, 768] = x[63, k]
//   z[50257] = y[63, m]                   ⇒  y[1, 50257] = product (x')
//                                            z[50257] = y[0, m]
//
// A step is left as it is where computing less would take longer, as when only
// all positions together have a fast algorithm.
#include <algorithm>
#include <iterator>
#include <list>
#include <numeric>
#include <optional>
#include <ranges>
#include <utility>
#include <vector>

#include "ir/program/add_buffer.h"
#include "ir/program/definition.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/dead_code.h"
#include "passes/evaluation_cost.h"
#include "passes/kernel_seconds.h"
#include "passes/lattice.h"
#include "passes/passes.h"
#include "passes/reshaped_view.h"
#include "passes/step_operands.h"
#include "passes/step_readers.h"

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

// The axis of an operand whose rows the contraction computes one by one; -1
// where there is none.
int BatchAxisOf(const std::vector<Role>& axes) {
  const auto first = std::ranges::find(axes, Role::kBatch);
  return std::ranges::count(axes, Role::kBatch) == 1
             ? static_cast<int>(first - axes.begin())
             : -1;
}

class Skipping {
 public:
  Skipping(Program& program, const PassContext& context)
      : program_(program),
        catalog_(context.catalog),
        machine_(context.machine()),
        steps_(std::make_move_iterator(program.steps.begin()),
               std::make_move_iterator(program.steps.end())),
        readers_(program.buffers.size()),
        writers_(program.buffers.size()) {
    for (Step& step : steps_) Enter(step);
  }

  bool Run() {
    bool changed = false;
    for (auto step = steps_.end(); step != steps_.begin();) {
      --step;
      changed |= DropUnread(*step);
      for (size_t k = 0; k < step->outputs.size(); ++k) {
        changed |= Skip(step, static_cast<int>(k));
      }
    }
    for (Step* step : copies_) ShowIfWhole(*step);
    program_.steps.assign(std::make_move_iterator(steps_.begin()),
                          std::make_move_iterator(steps_.end()));
    if (changed) RemoveUnusedBuffers(program_);
    return changed;
  }

 private:
  using Lattices = std::vector<Lattice>;  // by axis
  using Place = std::list<Step>::iterator;

  void Enter(Step& step) {
    for (const int input : step.inputs) {
      std::vector<Step*>& readers = readers_[input];
      if (readers.empty() || readers.back() != &step) readers.push_back(&step);
    }
    for (const int output : step.outputs) writers_[output] = &step;
  }

  // Outputs that nobody reads ask for nothing.
  bool DropUnread(Step& step) {
    Map* map = step.map();
    const size_t outputs = step.outputs.size();
    if (map == nullptr) return false;
    for (auto k = static_cast<int>(outputs); k-- > 0;) {
      const Buffer& value = program_.buffers[step.outputs[k]];
      const bool unread = value.kind == BufferKind::kInternal &&
                          value.state < 0 && readers_[step.outputs[k]].empty();
      if (!unread || step.outputs.size() == 1) continue;
      std::erase_if(map->stores,
                    [&](const Store& store) { return store.output == k; });
      for (Store& store : map->stores) store.output -= store.output > k ? 1 : 0;
      step.outputs.erase(step.outputs.begin() + k);
    }
    if (step.outputs.size() == outputs) return false;
    const std::vector<int> inputs = step.inputs;
    TidyOperands(step);
    for (const int input : inputs) {
      if (std::ranges::count(step.inputs, input) > 0) continue;
      std::erase(readers_[input], &step);
    }
    return true;
  }

  // Computes less of output `k` of the step if its readers allow it.
  bool Skip(Place place, int k) {
    Step& producer = *place;
    const int buffer = producer.outputs[k];
    const bool internal =
        program_.buffers[buffer].kind == BufferKind::kInternal;
    if (!internal || readers_[buffer].empty()) return false;
    const Shape whole = program_.buffers[buffer].type.shape;
    Lattices read = ReadOf(buffer);
    bool skips = false;
    for (size_t axis = 0; axis < read.size(); ++axis) {
      const int64_t extent = whole[static_cast<int>(axis)];
      const int64_t count = read[axis].Count(extent);
      const bool possible = count > 0 && count < extent &&
                            MaySkip(producer, static_cast<int>(axis));
      if (!possible) read[axis] = {};
      skips |= possible;
    }
    if (producer.view && !(skips && MayCopy(producer, read))) return false;
    if (!skips || !Compute(place, k, read)) return false;
    SetShape(buffer, ShapeAt(whole, read));
    for (Step* reader : readers_[buffer]) ReadPositions(*reader, buffer, read);
    return true;
  }

  static Shape ShapeAt(const Shape& whole, const Lattices& at) {
    Extents dims = whole.dims();
    for (size_t axis = 0; axis < dims.size(); ++axis) {
      dims[axis] = at[axis].Count(dims[axis]);
    }
    return Shape(dims);
  }

  void SetShape(int buffer, Shape shape) {
    Buffer& value = program_.buffers[buffer];
    value.layout = Layout::RowMajor(shape);
    value.type.shape = std::move(shape);
  }

  // Returns whether a view may take what is read of what it shows, since steps
  // before it may then compute less.
  bool MayCopy(const Step& view, const Lattices& read) const {
    const int seen = view.inputs[0];
    const Step* writer = writers_[seen];
    const auto part = StoreAt(view.map()->stores[0], read);
    const bool alone = program_.buffers[seen].kind == BufferKind::kInternal &&
                       readers_[seen].size() == 1;
    if (!alone || writer == nullptr || !part) return false;
    const auto less = [&](int axis) {
      const Expr& index = part->value->args[static_cast<size_t>(axis)];
      const int64_t extent = program_.buffers[seen].type.shape[axis];
      return MaySkip(*writer, axis) &&
             Lattice::Of(WithoutUnits(index, &*part)).Count(extent) < extent;
    };
    const int rank = program_.buffers[seen].type.shape.rank();
    return std::ranges::any_of(std::views::iota(0, rank), less);
  }

  // A step that takes elements of a value, where in the end it takes all of them
  // in their order, shows the value.
  void ShowIfWhole(Step& step) const {
    const int from = step.inputs[0], to = step.outputs[0];
    const Shape& shape = program_.buffers[to].type.shape;
    const Shape& seen = program_.buffers[from].type.shape;
    const Expr& taken = step.map()->stores[0].value;
    if (shape.elements() != seen.elements()) return;
    if (!Equal(Position(taken->args, seen, shape),
               Position(IdentityIndex(shape.rank()), shape, shape))) {
      return;
    }
    Step view = ViewStep(program_, from, to, step);
    view.part = step.part;
    step = std::move(view);
  }

  // The place in a tensor of shape `of`, for indices of shape `box`.
  static Expr Position(const std::vector<Expr>& index, const Shape& of,
                       const Shape& box) {
    const Expr position = SubstituteVars(
        Definition::Flatten(index, of),
        [&](int var) { return box[var] == 1 ? Expr(0) : Expr(); });
    return Simplify(position, BoxOf(Extents(box.rank(), 0), box.dims()));
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
    for (const Step* step : readers_[buffer]) {
      const Step& reader = *step;
      if (reader.view) return Lattices(rank);
      VisitReads(reader, [&](const ExprNode& load, const Store* store) {
        if (reader.inputs[load.index] != buffer) return;
        Lattices lattices;
        for (const Expr& index : load.args) {
          lattices.push_back(Lattice::Of(WithoutUnits(index, store)));
        }
        join(lattices);
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

  // Calls f(load, store that it is in, or null) for the Loads of a step.
  template <class F>
  static void VisitReads(const Step& reader, F f) {
    if (const Map* map = reader.map()) {
      for (const Store& store : map->stores) {
        VisitLoads(store.value, [&](const ExprNode& load) { f(load, &store); });
      }
      return;
    }
    VisitExprs(reader, [&](const Expr& e) {
      VisitLoads(e, [&](const ExprNode& load) { f(load, nullptr); });
    });
  }

  // The index, with their value for variables that have only one.
  static Expr WithoutUnits(const Expr& index, const Store* store) {
    if (store == nullptr) return index;
    return SubstituteVars(index, [&](int var) -> Expr {
      const auto axis = static_cast<size_t>(var);
      const bool unit = axis < store->extent.size() && store->extent[axis] == 1;
      return unit ? Expr(store->begin[axis]) : Expr();
    });
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
    if (body == nullptr) return false;
    const Contraction& c = body->contraction;
    return SpatialOf(c.output_axes[axis]) >= 0 ||
           (BatchAxisOf(c.output_axes) == axis &&
            BatchAxisOf(c.data_axes) >= 0);
  }

  // The step computes its output at these positions only. False if it takes no
  // less time.
  bool Compute(Place place, int k, const Lattices& at) {
    Step& producer = *place;
    if (producer.map() == nullptr) return ComputeContraction(place, at);
    if (!ComputeMap(*producer.map(), k, at)) return false;
    if (std::exchange(producer.view, false)) copies_.push_back(&producer);
    return true;
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

  bool ComputeContraction(Place place, const Lattices& at) {
    Step& step = *place;
    ContractionStep& body = *step.contraction();
    Contraction c = body.contraction;
    const Extents extent =
        ShapeAt(program_.buffers[step.outputs[0]].type.shape, at).dims();
    for (size_t axis = 0; axis < at.size(); ++axis) {
      const int d = SpatialOf(c.output_axes[axis]);
      if (d < 0) continue;
      c.pad[d] -= at[axis].first * c.stride[d];
      c.stride[d] *= std::max<int64_t>(1, at[axis].step);
      c.output[d] = extent[axis];
    }
    std::optional<Step> rows;
    const int batch = BatchAxisOf(c.output_axes);
    if (batch >= 0 && !at[batch].all()) {
      c.batch = extent[batch];
      rows = RowsOfData(step, BatchAxisOf(c.data_axes), at[batch]);
    }
    const bool constant =
        program_.buffers[step.inputs[1]].kind == BufferKind::kConstant;
    double taking = 0;
    if (rows) {
      taking = machine_.launch_seconds + HoistedCost(rows->map()->stores[0]) /
                                             machine_.elements_per_second;
    }
    if (Seconds(c, constant) + taking >= Seconds(body.contraction, constant)) {
      return false;
    }
    body.contraction = std::move(c);
    body.epilogue = Simplify(At(body.epilogue, at),
                             BoxOf(Extents(extent.size(), 0), extent));
    if (rows) ReadRows(place, std::move(*rows));
    return true;
  }

  // A step that takes rows of the data of `product`, without a buffer for them.
  Step RowsOfData(const Step& product, int axis, const Lattice& at) const {
    const TensorType& data = program_.buffers[product.inputs[0]].type;
    Lattices rows(data.shape.dims().size());
    rows[static_cast<size_t>(axis)] = at;
    const Extents dims = ShapeAt(data.shape, rows).dims();
    Step take;
    take.name = product.name + "/rows";
    take.origins = product.origins;
    take.loc = product.loc;
    take.part = product.part;
    take.inputs = {product.inputs[0]};
    take.body =
        Map{{{0, Extents(dims.size(), 0), dims,
              Simplify(At(Load(0, data.dtype, IdentityIndex(data.shape.rank())),
                          rows),
                       BoxOf(Extents(dims.size(), 0), dims))}}};
    return take;
  }

  // The product reads what `rows` takes, which is visited next.
  void ReadRows(Place product, Step rows) {
    const int data = product->inputs[0];
    const TensorType type = {program_.buffers[data].type.dtype,
                             Shape(rows.map()->stores[0].extent)};
    const int taken =
        AddBuffer(program_, program_.buffers[data].name + "/rows", type);
    readers_.emplace_back();
    writers_.emplace_back();
    product->inputs[0] = taken;
    readers_[taken].push_back(&*product);
    if (std::ranges::find(product->inputs, data) == product->inputs.end()) {
      std::erase(readers_[data], &*product);
    }
    rows.outputs = {taken};
    Step& step = *steps_.insert(product, std::move(rows));
    Enter(step);
    copies_.push_back(&step);
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
    const auto read = [&](const Expr& value, const Store* store) {
      return Rewrite(value, [&](const Expr& node) -> Expr {
        if (node->kind != ExprKind::kLoad) return {};
        if (reader.inputs[node->index] != buffer) return {};
        std::vector<Expr> index = node->args;
        for (size_t axis = 0; axis < at.size(); ++axis) {
          if (at[axis].all()) continue;
          index[axis] = at[axis].Number(WithoutUnits(index[axis], store));
        }
        return Load(node->index, node->dtype, std::move(index));
      });
    };
    if (Map* map = reader.map()) {
      for (Store& store : map->stores) {
        store.value = read(store.value, &store);
        store.value = WithIdentityUnitIndices(store);
      }
    } else {
      VisitExprs(reader, [&](Expr& e) { e = read(e, nullptr); });
    }
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
  std::list<Step> steps_;
  std::vector<std::vector<Step*>> readers_;  // by buffer, each once
  std::vector<Step*> writers_;               // by buffer; null: none
  std::vector<Step*> copies_;  // of parts of values, which views may be
};

}  // namespace

Result<bool> SkipUnreadPositions(Program& program, PassContext& context) {
  return Skipping(program, context).Run();
}

}  // namespace mxc
