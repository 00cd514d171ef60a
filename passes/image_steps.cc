// SPDX-License-Identifier: Apache-2.0
#include "passes/image_steps.h"

#include <algorithm>
#include <unordered_set>

#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "passes/step_operands.h"

namespace mxc {
namespace {

// How many images share an index of axis 0: i0 / n, or i0 for 1; 0 where it is
// another.
int64_t SharersOf(const Expr& index) {
  const int64_t divisor = ConstantOperand(index, BinaryOp::kDiv);
  const Expr& image = divisor != 0 ? index->args[0] : index;
  if (image->kind != ExprKind::kVar || image->index != 0) return 0;
  return divisor != 0 ? divisor : 1;
}

// Which operands an expression reads at the own image, and which whole.
class ImageReads {
 public:
  explicit ImageReads(size_t inputs) : sharers_(inputs, kUnread) {}

  // False where it does anything else with the image's number.
  bool Visit(const Expr& e) {
    if (!seen_.insert(e.get()).second) return true;
    if (e->kind == ExprKind::kVar) return e->index != 0;
    auto args = e->args.begin();
    if (e->kind == ExprKind::kLoad) {
      const int64_t sharers = e->args.empty() ? 0 : SharersOf(e->args[0]);
      Read(static_cast<size_t>(e->index), sharers);
      if (sharers > 0) ++args;
    }
    return std::all_of(args, e->args.end(),
                       [&](const Expr& arg) { return Visit(arg); }) &&
           std::ranges::all_of(e->ranges, [&](const Range& range) {
             return Visit(range.begin) && Visit(range.end);
           });
  }

  void Read(size_t input, int64_t sharers) {
    int64_t& known = sharers_[input];
    if (known != kUnread && known != sharers) in_two_ways_ = true;
    known = sharers;
  }

  // Nothing where one is read in two ways.
  std::optional<std::vector<int64_t>> Sharers() const {
    if (in_two_ways_) return std::nullopt;
    std::vector<int64_t> sharers = sharers_;
    std::ranges::replace(sharers, kUnread, 0);
    return sharers;
  }

 private:
  static constexpr int64_t kUnread = -1;

  std::vector<int64_t> sharers_;
  bool in_two_ways_ = false;
  std::unordered_set<const ExprNode*> seen_;
};

int64_t ImagesOf(const Buffer& buffer) {
  return buffer.type.shape.rank() > 0 ? buffer.type.shape[0] : 0;
}

// The contraction's weight and sums do not depend on the image, or the image is
// one of groups that have nothing in common.
bool VisitContraction(const Contraction& c, int64_t images, ImageReads& reads) {
  if (c.data_axes.empty() || c.data_axes[0] != c.output_axes[0]) return false;
  const bool by_batch = c.data_axes[0] == Role::kBatch && c.batch == images;
  const bool by_group = c.data_axes[0] == Role::kGroup &&
                        c.weight_axes[0] == Role::kGroup && c.groups == images;
  reads.Read(0, 1);
  reads.Read(1, by_group ? 1 : 0);
  return by_batch || by_group;
}

bool CoversImages(const Map& map, int64_t images) {
  return std::ranges::all_of(map.stores, [&](const Store& store) {
    return !store.begin.empty() && store.begin[0] == 0 &&
           store.extent[0] == images;
  });
}

// The layout's dim of an axis that is not cut into blocks and has no border; -1
// where it has none such.
int DimOf(const Layout& layout, int axis) {
  const auto found = std::ranges::find(layout.dims, axis, &Layout::Dim::axis);
  const auto at = static_cast<size_t>(axis);
  const bool plain =
      std::ranges::count(layout.dims, axis, &Layout::Dim::axis) == 1 &&
      layout.halo_low[at] == 0 && layout.halo_high[at] == 0;
  return plain ? static_cast<int>(found - layout.dims.begin()) : -1;
}

// `extent` positions of an axis that has a dim of its own.
void CutAxis(Buffer& part, int axis, int64_t extent) {
  part.type.shape[axis] = extent;
  part.layout.dims[static_cast<size_t>(DimOf(part.layout, axis))].extent =
      extent;
}

}  // namespace

bool CutsIntoImages(const Buffer& buffer, int64_t images) {
  return ImagesOf(buffer) == images && !buffer.layout.dims.empty() &&
         buffer.layout.dims[0].axis == 0 && DimOf(buffer.layout, 0) == 0;
}

Buffer PartOf(const Buffer& buffer, int64_t images) {
  Buffer part = buffer;
  CutAxis(part, 0, images);
  part.layout = part.layout.InStridesOf(buffer.layout);
  part.constant = {};
  part.alias_of = -1;
  part.alias_begin = 0;
  part.offset = -1;
  return part;
}

void CutRows(const Buffer& whole, int axis, int64_t rows, Buffer& part) {
  CutAxis(part, axis, rows);
  part.layout = part.layout.InStridesOf(whole.layout);
}

std::optional<ImageStep> ByImage(const Program& program, const Step& step) {
  if (step.outputs.empty()) return std::nullopt;
  ImageStep found;
  found.images = ImagesOf(program.buffers[step.outputs[0]]);
  ImageReads reads(step.inputs.size());
  if (const ContractionStep* body = step.contraction()) {
    if (!VisitContraction(body->contraction, found.images, reads)) return {};
  } else if (step.map() == nullptr ||
             !CoversImages(*step.map(), found.images)) {
    return {};
  }
  bool separate = true;
  VisitExprs(step,
             [&](const Expr& e) { separate = separate && reads.Visit(e); });
  const auto sharers = reads.Sharers();
  if (!separate || !sharers) return std::nullopt;
  found.sharers = *sharers;
  const auto fits = [&](int b, int64_t parts) {
    return CutsIntoImages(program.buffers[b], parts);
  };
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    const int64_t n = found.sharers[i];
    if (n == 0) continue;
    if (found.images % n != 0 || !fits(step.inputs[i], found.images / n)) {
      return std::nullopt;
    }
  }
  const bool written = std::ranges::all_of(step.outputs, [&](int b) {
    return fits(b, found.images) &&
           program.buffers[b].kind != BufferKind::kNextState;
  });
  return written ? std::optional(found) : std::nullopt;
}

std::optional<ImageStepTile> TileOf(const Program& program, const Step& step,
                                    const TileSize& size,
                                    const KernelCatalog* catalog) {
  const int64_t images = size.images;
  ImageStepTile tile = {step};
  if (Map* map = tile.step.map()) {
    for (Store& store : map->stores) {
      store.extent[0] = images;
      if (size.rows > 0) store.extent[1] = size.rows;
    }
    return tile;
  }
  ContractionStep& body = *tile.step.contraction();
  const bool by_group = body.contraction.data_axes[0] == Role::kGroup;
  (by_group ? body.contraction.groups : body.contraction.batch) = images;
  if (size.rows > 0) body.contraction.batch = size.rows;
  if (body.choice.algorithm.empty()) return tile;
  if (catalog == nullptr) return std::nullopt;
  const Buffer& whole = program.buffers[step.inputs[1]];
  const Layout weight = by_group ? PartOf(whole, images).layout : whole.layout;
  for (const KernelCandidate& kernel : catalog->Candidates(body.contraction)) {
    const bool same = size.rows > 0
                          ? kernel.choice.algorithm == body.choice.algorithm
                          : kernel.choice == body.choice;
    if (!same || kernel.parts > 0) continue;
    if (kernel.weight_block == 0 && kernel.weight != weight) continue;
    body.choice = kernel.choice;
    tile.step.scratch_bytes = kernel.scratch_bytes;
    tile.seconds = kernel.cost;
    return tile;
  }
  return std::nullopt;
}

namespace {

// Finds along which axis each buffer of some steps has their rows.
class RowFinder {
 public:
  explicit RowFinder(const Program& program) : program_(program) {}

  bool Visit(const Step& step) {
    return step.contraction() ? VisitProduct(step) : VisitMap(step);
  }

  std::optional<RowSteps> Found() const {
    const bool fits = std::ranges::all_of(found_.axes, [&](const auto& entry) {
      const Buffer& buffer = program_.buffers[entry.first];
      return buffer.type.shape[entry.second] == found_.rows &&
             DimOf(buffer.layout, entry.second) >= 0;
    });
    return fits ? std::optional(found_) : std::nullopt;
  }

 private:
  bool VisitProduct(const Step& step) {
    const Contraction& c = step.contraction()->contraction;
    const std::vector<Role> in = {Role::kGroup, Role::kBatch, Role::kIn};
    const std::vector<Role> out = {Role::kGroup, Role::kBatch, Role::kOut};
    return c.data_axes == in && c.output_axes == out && Writes(step, c.batch) &&
           Mark(step.inputs[0], 1) && Mark(step.inputs[1], -1) &&
           VisitLoadsOf(step, step.contraction()->epilogue);
  }

  bool VisitMap(const Step& step) {
    const Map* map = step.map();
    if (map == nullptr || step.outputs.size() != 1 || map->stores.size() != 1) {
      return false;
    }
    const Store& store = map->stores[0];
    return store.extent.size() > 1 && Writes(step, store.extent[1]) &&
           VisitLoadsOf(step, store.value);
  }

  bool Writes(const Step& step, int64_t rows) {
    if (found_.rows == 0) found_.rows = rows;
    return rows == found_.rows && Mark(step.outputs[0], 1);
  }

  // Nothing but loads may depend on the row, and those on the own one.
  bool VisitLoadsOf(const Step& step, const Expr& e) {
    if (e->kind == ExprKind::kVar) return e->index != 1;
    int axis = -1;
    for (size_t a = 0; a < e->args.size(); ++a) {
      const Expr& arg = e->args[a];
      const bool own = e->kind == ExprKind::kLoad && axis < 0 &&
                       arg->kind == ExprKind::kVar && arg->index == 1;
      if (own) {
        axis = static_cast<int>(a);
      } else if (!VisitLoadsOf(step, arg)) {
        return false;
      }
    }
    for (const Range& range : e->ranges) {
      if (!VisitLoadsOf(step, range.begin) || !VisitLoadsOf(step, range.end)) {
        return false;
      }
    }
    return e->kind != ExprKind::kLoad ||
           Mark(step.inputs[static_cast<size_t>(e->index)], axis);
  }

  // False where the buffer is known otherwise. -1: it has no rows.
  bool Mark(int buffer, int axis) {
    const auto [known, fresh] = marks_.emplace(buffer, axis);
    if (!fresh) return known->second == axis;
    if (axis >= 0) found_.axes.emplace(buffer, axis);
    return true;
  }

  const Program& program_;
  std::map<int, int> marks_;
  RowSteps found_;
};

}  // namespace

std::optional<RowSteps> ByRow(const Program& program, size_t first,
                              size_t end) {
  RowFinder rows(program);
  for (size_t s = first; s < end; ++s) {
    if (!rows.Visit(program.steps[s])) return std::nullopt;
  }
  return rows.Found();
}

}  // namespace mxc
