// SPDX-License-Identifier: Apache-2.0
#include "passes/image_tiles.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_set>

#include "ir/program/in_place.h"
#include "ir/program/memory.h"
#include "ir/program/steps/contraction.h"
#include "ir/program/steps/map.h"
#include "ir/program/steps/tile_loop.h"
#include "passes/passes.h"
#include "passes/step_operands.h"

namespace mxc {
namespace {

// How many images share an index of axis 0: i0 / n, or i0 for 1; 0 where it is
// another.
int64_t SharersOf(const Expr& index) {
  const bool divides = index->kind == ExprKind::kBinary &&
                       index->binary == BinaryOp::kDiv &&
                       index->args[1]->kind == ExprKind::kConst;
  const Expr& image = divides ? index->args[0] : index;
  if (image->kind != ExprKind::kVar || image->index != 0) return 0;
  return divides ? static_cast<int64_t>(index->args[1]->number) : 1;
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

// The images lie one behind the other.
bool Cuts(const Layout& layout, int64_t images) {
  return !layout.dims.empty() && layout.dims[0] == Layout::Dim{0, images} &&
         layout.halo_low[0] == 0 && layout.halo_high[0] == 0 &&
         std::ranges::count(layout.dims, 0, &Layout::Dim::axis) == 1;
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

}  // namespace

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
    const Buffer& buffer = program.buffers[b];
    return ImagesOf(buffer) == parts && Cuts(buffer.layout, parts);
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

namespace {

class LoopBuilder {
 public:
  LoopBuilder(const Program& program, const BufferTimes& times, size_t first,
              size_t end, const TileSize& size, PassContext& context)
      : program_(program),
        times_(times),
        first_(first),
        end_(end),
        images_(size.images),
        rows_(size.rows),
        context_(context) {
    if (rows_ == 0) return;
    const RowSteps steps = *ByRow(program, first, end);
    row_axes_ = steps.axes;
    blocks_ = steps.rows / rows_;
  }

  std::optional<Step> Build() {
    FindOperands();
    if (loop_.outputs.empty() || !AddWindows() || !AddLocals())
      return std::nullopt;
    for (size_t s = first_; s < end_; ++s) {
      auto tile = TileOf(program_, program_.steps[s], {images_, rows_},
                         context_.catalog);
      if (!tile) return std::nullopt;
      for (int& b : tile->step.inputs) b = of_tile_.at(b);
      for (int& b : tile->step.outputs) b = of_tile_.at(b);
      tile_.steps.push_back(std::move(tile->step));
    }
    tile_.name = program_.name;
    tile_.entry = program_.entry;
    for (const Step& step : tile_.steps) {
      if (!SweepsKeepApart(tile_, step)) return std::nullopt;
    }
    if (!PlanMemory(tile_, context_).ok()) return std::nullopt;
    return Finish();
  }

 private:
  const Buffer& at(int buffer) const { return program_.buffers[buffer]; }

  // What comes from outside, and what is needed there.
  void FindOperands() {
    std::unordered_set<int> written;
    for (size_t s = first_; s < end_; ++s) {
      const Step& step = program_.steps[s];
      const ImageStep by_image = *ByImage(program_, step);
      for (size_t i = 0; i < step.inputs.size(); ++i) {
        const int b = step.inputs[i];
        const auto [cut, fresh] = sharers_.emplace(b, by_image.sharers[i]);
        if (cut->second != by_image.sharers[i]) both_ways_ = true;
        // A tile sees one part of what images share.
        const int64_t n = by_image.sharers[i];
        if (n > 1 && n % images_ != 0) both_ways_ = true;
        if (fresh && !written.contains(b)) loop_.inputs.push_back(b);
      }
      for (const int b : step.outputs) {
        written.insert(b);
        sharers_.emplace(b, 1);
        used_.push_back(b);
        const bool outside = at(b).kind == BufferKind::kOutput;
        const bool later = times_.last_reader[b] >= static_cast<int>(end_);
        if (outside || later) loop_.outputs.push_back(b);
      }
    }
  }

  // A buffer for each operand; those that share bytes, one of which is written,
  // must do so image by image.
  bool AddWindows() {
    if (both_ways_) return false;
    body_.tiles = at(loop_.outputs[0]).type.shape[0] / images_ * blocks_;
    const std::vector<int> operands = loop_.operands();
    for (size_t i = 0; i < operands.size(); ++i) {
      const int b = operands[i];
      const int64_t sharers = sharers_.at(b);
      const bool written = i >= loop_.inputs.size();
      Buffer window = at(b);
      if (sharers > 0) window = Part(b, sharers > 1 ? 1 : images_);
      if (sharers == 0 && HasRows(b)) CutRows(b, window);
      window.constant = {};
      window.alias_of = -1;
      window.alias_begin = 0;
      window.offset = -1;
      window.state = -1;
      window.kind = written ? BufferKind::kOutput : BufferKind::kInput;
      of_tile_[b] = static_cast<int>(i);
      tile_.buffers.push_back(std::move(window));
      body_.windows.push_back(WindowOf(b, sharers));
    }
    return LinkWindows();
  }

  // Tiles count images, and within them blocks of rows.
  mxc::Window WindowOf(int b, int64_t sharers) const {
    mxc::Window window;
    if (sharers == 1) window.slides = {{0, 0, images_, blocks_}};
    if (sharers > 1) window.slides = {{0, 0, 1, sharers / images_ * blocks_}};
    if (HasRows(b)) {
      window.slides.push_back({row_axes_.at(b), 0, rows_, 1, blocks_});
    }
    return window;
  }

  bool HasRows(int b) const { return row_axes_.contains(b); }

  void CutRows(int b, Buffer& part) const {
    CutAxis(part, row_axes_.at(b), rows_);
    part.layout = part.layout.InStridesOf(at(b).layout);
  }

  // What a tile sees of a buffer, of that many images.
  Buffer Part(int b, int64_t images) const {
    Buffer part = PartOf(at(b), images);
    if (HasRows(b)) CutRows(b, part);
    return part;
  }

  // Windows of one root, one of which is written, are aliases where they share
  // bytes: of one image only.
  bool LinkWindows() {
    const std::vector<int> operands = loop_.operands();
    std::set<int> written;  // roots
    for (const int b : loop_.outputs) written.insert(program_.Root(b));
    for (size_t i = 0; i < operands.size(); ++i) {
      for (size_t k = 0; k < operands.size(); ++k) {
        const int part = operands[i], whole = operands[k];
        if (i == k || program_.Root(part) != program_.Root(whole)) continue;
        if (!written.contains(program_.Root(part))) continue;
        if (rows_ > 0) return false;
        if (!SameImages(part, whole)) return false;
        if (Apart(part, whole)) continue;
        // Of two with the same bytes, the later one is the alias.
        const bool lies = LiesIn(part, whole);
        if (!lies && !LiesIn(whole, part)) return false;
        if (!lies || (LiesIn(whole, part) && i < k)) continue;
        if (tile_.buffers[i].alias_of < 0) LetLieIn(i, part, whole);
      }
    }
    return true;
  }

  int64_t ImageBytes(int b) const {
    return at(b).layout.strides()[0] * SizeOf(at(b).type.dtype);
  }

  // From the first byte of the root's first image to the end of the buffer's.
  int64_t EndInImage(int b) const {
    return program_.BytesIntoRoot(b) + PartOf(at(b), 1).reach_bytes();
  }

  // The images of two buffers of one root are equally far from each other, and
  // an image of one shares no bytes with another image of the other.
  bool SameImages(int a, int b) const {
    return sharers_.at(a) == 1 && sharers_.at(b) == 1 &&
           ImageBytes(a) == ImageBytes(b) &&
           std::max(EndInImage(a), EndInImage(b)) <= ImageBytes(a);
  }

  bool Apart(int a, int b) const {
    return EndInImage(a) <= program_.BytesIntoRoot(b) ||
           EndInImage(b) <= program_.BytesIntoRoot(a);
  }

  bool LiesIn(int part, int whole) const {
    return program_.BytesIntoRoot(part) >= program_.BytesIntoRoot(whole) &&
           EndInImage(part) <= EndInImage(whole);
  }

  void LetLieIn(size_t tile_buffer, int part, int whole) {
    Buffer& buffer = tile_.buffers[tile_buffer];
    buffer.alias_of = of_tile_.at(whole);
    buffer.alias_begin =
        program_.BytesIntoRoot(part) - program_.BytesIntoRoot(whole);
  }

  // Values that only these steps need lie in the scratch, or, where they have
  // their bytes from one that others need, in its window.
  bool AddLocals() {
    for (const int b : used_) {
      if (of_tile_.contains(b)) continue;
      const LiveRange& range = times_.live[program_.Root(b)];
      const bool local = range.first >= static_cast<int>(first_) &&
                         range.last < static_cast<int>(end_);
      if (local) {
        if (AddWithRoot(b) < 0) return false;
        continue;
      }
      AddBesideWindows(b);
    }
    return true;
  }

  void AddBesideWindows(int b) {
    const auto added = static_cast<size_t>(Add(b));
    for (const int operand : loop_.operands()) {
      if (program_.Root(operand) != program_.Root(b)) continue;
      if (!SameImages(b, operand) || !LiesIn(b, operand)) continue;
      return LetLieIn(added, b, operand);
    }
    Buffer& alone = tile_.buffers[added];
    alone.layout = alone.layout.WithoutGaps();
  }

  int Add(int b) {
    of_tile_[b] = static_cast<int>(tile_.buffers.size());
    tile_.buffers.push_back(Part(b, images_));
    return of_tile_[b];
  }

  // With all that it has its bytes from; -1 where those do not lie by image.
  int AddWithRoot(int b) {
    if (of_tile_.contains(b)) return of_tile_[b];
    const int64_t images = body_.tiles * images_ / blocks_;
    const bool cuts = at(b).type.shape.rank() > 0 &&
                      at(b).type.shape[0] == images &&
                      Cuts(at(b).layout, images);
    if (!cuts) return -1;
    const int whole = at(b).alias_of;
    if (whole < 0) return Add(b);
    if (AddWithRoot(whole) < 0) return -1;
    sharers_.emplace(b, 1);
    sharers_.emplace(whole, 1);
    if (!SameImages(b, whole)) return -1;
    const int added = Add(b);
    LetLieIn(static_cast<size_t>(added), b, whole);
    return added;
  }

  Step Finish() {
    const Step& first = program_.steps[first_];
    loop_.name = first.name + " ... " + program_.steps[end_ - 1].name;
    loop_.loc = first.loc;
    for (size_t s = first_; s < end_; ++s) {
      const Step& step = program_.steps[s];
      loop_.origins.insert(loop_.origins.end(), step.origins.begin(),
                           step.origins.end());
      loop_.scratch_bytes =
          std::max(loop_.scratch_bytes, tile_.steps[s - first_].scratch_bytes);
    }
    loop_.scratch_bytes += AlignedBytes(tile_.arena_bytes());
    body_.tile = std::make_shared<const Program>(std::move(tile_));
    loop_.body = std::move(body_);
    return std::move(loop_);
  }

  const Program& program_;
  const BufferTimes& times_;
  const size_t first_, end_;
  const int64_t images_, rows_;
  int64_t blocks_ = 1;  // of rows, in an image
  std::map<int, int> row_axes_;
  PassContext& context_;
  bool both_ways_ = false;
  std::map<int, int64_t> sharers_;  // by buffer
  std::map<int, int> of_tile_;      // by buffer
  std::vector<int> used_;           // written by the steps, in order
  Program tile_;
  TileLoop body_;
  Step loop_;
};

}  // namespace

BufferTimes::BufferTimes(const Program& program)
    : live(LiveRanges(program)), last_reader(program.buffers.size(), -1) {
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].inputs) {
      last_reader[b] = static_cast<int>(s);
    }
  }
}

std::optional<Step> LoopOver(const Program& program, const BufferTimes& times,
                             size_t first, size_t end, const TileSize& size,
                             PassContext& context) {
  return LoopBuilder(program, times, first, end, size, context).Build();
}

}  // namespace mxc
