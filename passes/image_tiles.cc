// SPDX-License-Identifier: Apache-2.0
#include "passes/image_tiles.h"

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <unordered_set>

#include "ir/program/in_place.h"
#include "ir/program/memory.h"
#include "ir/program/steps/tile_loop.h"
#include "passes/passes.h"

namespace mxc {
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

  // Finds the operands that come from outside, and those that are needed there.
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
      if (sharers > 0) window = PartOf(at(b), sharers > 1 ? 1 : images_);
      if (HasRows(b)) CutRows(at(b), row_axes_.at(b), rows_, window);
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
  Window WindowOf(int b, int64_t sharers) const {
    Window window;
    if (sharers == 1) window.slides = {{0, 0, images_, blocks_}};
    if (sharers > 1) window.slides = {{0, 0, 1, sharers / images_ * blocks_}};
    if (HasRows(b)) {
      window.slides.push_back({row_axes_.at(b), 0, rows_, 1, blocks_});
    }
    return window;
  }

  bool HasRows(int b) const { return row_axes_.contains(b); }

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
        // Where two have the same bytes, the later one is the alias.
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
    Buffer& part = tile_.buffers.emplace_back(PartOf(at(b), images_));
    if (HasRows(b)) CutRows(at(b), row_axes_.at(b), rows_, part);
    return of_tile_[b];
  }

  // With all that it has its bytes from; -1 where those do not lie by image.
  int AddWithRoot(int b) {
    if (of_tile_.contains(b)) return of_tile_[b];
    const int64_t images = body_.tiles * images_ / blocks_;
    if (!CutsIntoImages(at(b), images)) return -1;
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
