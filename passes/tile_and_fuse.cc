// SPDX-License-Identifier: Apache-2.0
// tile-and-fuse: steps that compute each image of a batch by itself run one
// after the other on a few images, then on the next.
//
//   a = conv(x)     f32[32, …]           32 tasks: for image t
//   b = dwconv(a)   f32[32, …]      ⇒      a' = conv(x[t])    a', b': of a
//   c = conv(b)     f32[32, …]             b' = dwconv(a')    thread's scratch
//                                          c[t] = conv(b')
//
// Products of groups are such steps, too, whose images are the groups: attention
// of one head after the other, whose scores are never there as a whole. What
// stands between them without need of them, the projection of the values, is
// moved before them.
//
// What such steps hand to each other is never there for all images at once: it
// stays in a core's caches, and no thread waits for another between the steps.
// The weights of all steps are read for each tile instead of a step's own for
// all images, so late layers, whose weights outweigh an image, stay apart.
// Which steps go together is chosen by the bytes that come from beyond a cache
// with and without.
//
// Runs when kernels, layouts and aliases are settled.
#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "ir/program/steps/contraction.h"
#include "passes/dead_code.h"
#include "passes/image_tiles.h"
#include "passes/passes.h"

namespace mxc {
namespace {

// Steps in a loop: more than any cache holds anyway.
constexpr size_t kMostInTile = 128;
// Rows of a tile: fewer read a product's weight for too little.
constexpr int64_t kLeastRows = 32;

// Seconds for each byte of a set that is walked through again and again.
double SecondsPerByte(const Machine& machine, double bytes) {
  const auto missed = [&](int64_t cache) {
    return std::max(0.0, 1 - static_cast<double>(cache) / bytes);
  };
  return (1 - machine.hidden_traffic) *
         (missed(machine.l2.bytes) / machine.busy_l3_bytes_per_second +
          missed(machine.l3.bytes) / machine.busy_memory_bytes_per_second);
}

// One step as part of a loop over single images.
struct Part {
  bool possible = false;
  int64_t images = 0;
  double weight_bytes = 0;  // all that is read whole
  double image_bytes = 0;   // of its operands, for one image
  double lost_seconds = 0;  // kernels of one image instead of all
  std::vector<int> whole;   // buffers
};

class TilesAndSteps {
 public:
  TilesAndSteps(Program& program, PassContext& context)
      : program_(program), context_(context), times_(program) {}

  bool Run() {
    for (const Step& step : program_.steps) parts_.push_back(PartOf(step));
    places_.resize(parts_.size());
    std::iota(places_.begin(), places_.end(), size_t{0});
    FindUses();
    const bool moved = BringTogether();
    if (moved) {
      times_ = BufferTimes(program_);
      FindUses();
    }
    bool changed = false;
    for (size_t end = parts_.size(); end > 0;) {
      size_t first = end - 1;
      if (parts_[first].possible) {
        while (first > 0 && parts_[first - 1].possible &&
               parts_[first - 1].images == parts_[end - 1].images) {
          --first;
        }
        changed |= FuseRun(first, end);
      }
      end = first;
    }
    if (!changed) {
      if (moved) PutBack();
      return false;
    }
    std::erase_if(program_.steps,
                  [](const Step& step) { return step.outputs.empty(); });
    RemoveUnusedBuffers(program_);
    return true;
  }

 private:
  struct Group {
    size_t first, end;
  };

  Part PartOf(const Step& step) const {
    Part part;
    const auto by_image = ByImage(program_, step);
    if (!by_image || 2 * by_image->images < context_.machine().tasks) {
      return part;
    }
    const auto tile = TileOf(program_, step, {.images = 1}, context_.catalog);
    if (!tile) return part;
    part.possible = true;
    part.images = by_image->images;
    const double images = static_cast<double>(part.images);
    for (size_t i = 0; i < step.inputs.size(); ++i) {
      const Buffer& buffer = program_.buffers[step.inputs[i]];
      const auto bytes = static_cast<double>(buffer.bytes());
      const bool cut = by_image->sharers[i] > 0;
      (cut ? part.image_bytes : part.weight_bytes) +=
          cut ? bytes / images : bytes;
      if (!cut) part.whole.push_back(step.inputs[i]);
    }
    for (const int b : step.outputs) {
      part.image_bytes +=
          static_cast<double>(program_.buffers[b].bytes()) / images;
    }
    part.lost_seconds = LostSeconds(step, part, tile->seconds);
    return part;
  }

  // Returns whether it is one of the products of groups.
  bool IsProductOfGroups(size_t s) const {
    const ContractionStep* body = program_.steps[s].contraction();
    return parts_[s].possible && body != nullptr &&
           body->contraction.data_axes[0] == Role::kGroup;
  }

  // Moves what stands between such products, and is needed by none of the steps
  // that lead from one to the other, before them.
  bool BringTogether() {
    bool moved = false;
    for (size_t last = parts_.size(); last-- > 0;) {
      if (IsProductOfGroups(last)) moved |= BringTogether(last);
    }
    return moved;
  }

  bool BringTogether(size_t last) {
    std::set<int> read(program_.steps[last].inputs.begin(),
                       program_.steps[last].inputs.end());
    std::vector<size_t> chain = {last}, between;  // descending
    size_t first = last;
    for (size_t s = last; s-- > 0 && last - s < kMostInTile;) {
      const Step& step = program_.steps[s];
      const bool leads = std::ranges::any_of(
          step.outputs, [&](int b) { return read.contains(b); });
      if (!leads || !parts_[s].possible ||
          parts_[s].images != parts_[last].images) {
        between.push_back(s);
        continue;
      }
      read.insert(step.inputs.begin(), step.inputs.end());
      chain.push_back(s);
      if (IsProductOfGroups(s)) first = s;
    }
    std::set<int> written;  // from the first product on, by what needs it
    for (size_t i = chain.size(); i-- > 0;) {
      const Step& step = program_.steps[chain[i]];
      const bool needs = std::ranges::any_of(
          step.inputs, [&](int b) { return written.contains(b); });
      if (chain[i] == first || needs) {
        written.insert(step.outputs.begin(), step.outputs.end());
      } else {
        between.push_back(chain[i]);
      }
    }
    std::erase_if(between, [&](size_t s) { return s < first; });
    std::ranges::sort(between, std::greater());
    if (between.empty()) return false;
    for (const size_t s : between) {
      if (!CanGoBefore(program_.steps[s], written)) return false;
    }
    MoveBefore(between, first);
    return true;
  }

  // Its bytes are its own, or those of what it views: it writes over no state
  // that is still read. And it reads nothing of `written`.
  bool CanGoBefore(const Step& step, const std::set<int>& written) const {
    const bool independent = std::ranges::none_of(
        step.inputs, [&](int b) { return written.contains(b); });
    const bool apart =
        step.view || std::ranges::all_of(step.outputs, [&](int b) {
          return program_.Root(b) == b;
        });
    return independent && apart && step.body.pure() && !step.body.may_fail();
  }

  // Steps `moved`, descending, in their order before step `first`.
  void MoveBefore(const std::vector<size_t>& moved, size_t first) {
    std::vector<Step> steps;
    std::vector<Part> parts;
    std::vector<size_t> places;
    const auto take = [&](size_t s) {
      steps.push_back(std::move(program_.steps[s]));
      parts.push_back(std::move(parts_[s]));
      places.push_back(places_[s]);
    };
    for (size_t i = moved.size(); i-- > 0;) take(moved[i]);
    const std::set<size_t> gone(moved.begin(), moved.end());
    for (size_t s = first; s <= moved[0]; ++s) {
      if (!gone.contains(s)) take(s);
    }
    const auto at = static_cast<ptrdiff_t>(first);
    std::ranges::move(steps, program_.steps.begin() + at);
    std::ranges::move(parts, parts_.begin() + at);
    std::ranges::copy(places, places_.begin() + at);
  }

  // Every step to where it came from: values lived longer for nothing.
  void PutBack() {
    std::vector<Step> steps(program_.steps.size());
    for (size_t s = 0; s < steps.size(); ++s) {
      steps[places_[s]] = std::move(program_.steps[s]);
    }
    program_.steps = std::move(steps);
  }

  // What the catalog's kernel of one image takes more than that of all, but for
  // the weights that both read for each image.
  double LostSeconds(const Step& step, const Part& part,
                     double image_seconds) const {
    if (image_seconds == 0) return 0;
    const auto whole =
        TileOf(program_, step, {.images = part.images}, context_.catalog);
    if (!whole) return 0;
    const TensorType& weight = program_.buffers[step.inputs[1]].type;
    const double again = static_cast<double>(part.images - 1) *
                         static_cast<double>(weight.bytes()) /
                         context_.machine().stream_bytes_per_second;
    const double images = static_cast<double>(part.images);
    return std::max(0.0, images * image_seconds - whole->seconds - again);
  }

  void FindUses() {
    writer_.assign(program_.buffers.size(), -1);
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      const Step& step = program_.steps[s];
      for (const int b : step.outputs) writer_[b] = static_cast<int>(s);
    }
    ends_.assign(program_.steps.size(), {});
    for (size_t b = 0; b < writer_.size(); ++b) {
      const int last = times_.last_reader[b];
      const bool outside = program_.buffers[b].kind == BufferKind::kOutput;
      if (last < 0 || writer_[b] < 0 || outside) continue;
      ends_[last].push_back(static_cast<int>(b));
    }
  }

  // Seconds on one thread that steps [first, end) gain in a loop; nothing where
  // one of them reads whole what another writes.
  std::vector<double> GainsFrom(size_t first, size_t end) const {
    const Machine& machine = context_.machine();
    std::vector<double> gains;
    double gained = 0, lost = 0, weights = 0, apart = 0, largest = 0;
    for (size_t s = first; s < std::min(end, first + kMostInTile); ++s) {
      const Part& part = parts_[s];
      const bool reads_whole = std::ranges::any_of(part.whole, [&](int b) {
        return writer_[b] >= static_cast<int>(first);
      });
      if (reads_whole) break;
      const double images = static_cast<double>(part.images);
      for (const int b : ends_[s]) {
        if (writer_[b] < static_cast<int>(first)) continue;
        const auto bytes = static_cast<double>(program_.buffers[b].bytes());
        gained += 2 * bytes *
                  (SecondsPerByte(machine, bytes) -
                   SecondsPerByte(machine, 2 * bytes / images));
      }
      weights += part.weight_bytes;
      largest = std::max(largest, part.image_bytes);
      apart += images * part.weight_bytes *
               SecondsPerByte(machine, part.weight_bytes + part.image_bytes);
      lost += part.lost_seconds + images * context_.machine().call_seconds;
      const double together =
          images * weights * SecondsPerByte(machine, weights + largest);
      gains.push_back(gained - lost - std::max(0.0, together - apart));
    }
    return gains;
  }

  // The groups of a run that gain most together.
  std::vector<Group> Choose(size_t first, size_t end) const {
    const size_t count = end - first;
    std::vector<double> best(count + 1, 0);  // of the steps from here on
    std::vector<size_t> until(count + 1);
    for (size_t i = count; i-- > 0;) {
      best[i] = best[i + 1];
      until[i] = i + 1;
      const std::vector<double> gains = GainsFrom(first + i, end);
      for (size_t n = 1; n < gains.size(); ++n) {
        const double gain = gains[n] + best[i + n + 1];
        if (gain <= best[i]) continue;
        best[i] = gain;
        until[i] = i + n + 1;
      }
    }
    std::vector<Group> groups;
    for (size_t i = 0; i < count; i = until[i]) {
      if (until[i] > i + 1) groups.push_back({first + i, first + until[i]});
    }
    return groups;
  }

  // As many images as the second cache holds for each step, if that leaves
  // enough tiles.
  int64_t ImagesOf(const Group& group) const {
    double largest = 0;
    for (size_t s = group.first; s < group.end; ++s) {
      largest = std::max(largest, parts_[s].image_bytes);
    }
    const int64_t all = parts_[group.first].images;
    int64_t best = 1;
    const int64_t enough = context_.machine().tasks;
    for (int64_t images = 2; all / images >= enough; ++images) {
      const double bytes = static_cast<double>(images) * largest;
      if (bytes > static_cast<double>(context_.machine().l2.bytes) / 2) break;
      if (all % images == 0) best = images;
    }
    return best;
  }

  // Rows of an image so many that the second cache holds what steps hand to each
  // other of them; 0 where it holds that of all, or rows depend on each other.
  int64_t RowsOf(const Group& group) const {
    const auto steps = ByRow(program_, group.first, group.end);
    if (!steps) return 0;
    const auto images = static_cast<double>(parts_[group.first].images);
    double bytes = 0;  // of a row
    for (size_t s = group.first; s < group.end; ++s) {
      for (const int b : ends_[s]) {
        if (writer_[b] < static_cast<int>(group.first)) continue;
        bytes += static_cast<double>(program_.buffers[b].bytes()) / images /
                 static_cast<double>(steps->rows);
      }
    }
    if (bytes == 0) return 0;
    const auto held = static_cast<int64_t>(
        static_cast<double>(context_.machine().l2.bytes) / 2 / bytes);
    if (held >= steps->rows) return 0;
    int64_t rows = held;
    while (rows >= kLeastRows && steps->rows % rows != 0) --rows;
    return rows >= kLeastRows ? rows : 0;
  }

  // From the last group to the first: the numbers of earlier steps stay.
  bool FuseRun(size_t first, size_t end) {
    bool changed = false;
    std::vector<Group> groups = Choose(first, end);
    std::ranges::reverse(groups);
    for (const Group& group : groups) changed |= Fuse(group);
    return changed;
  }

  // Where buffers lie in each other in a way that forbids a loop over all of
  // its steps, each half of a group may still be one.
  bool Fuse(const Group& group) {
    if (group.end - group.first < 2) return false;
    const int64_t images = ImagesOf(group);
    if (images == 1 && FuseByRows(group)) return true;
    if (Fuse(group, {.images = images})) return true;
    if (images > 1 && Fuse(group, {.images = 1})) return true;
    const size_t middle = group.first + (group.end - group.first) / 2;
    const bool later = Fuse({middle, group.end});
    return Fuse({group.first, middle}) || later;
  }

  // Its steps from the first on from which all are by row: what packs a weight
  // before is not.
  bool FuseByRows(const Group& group) {
    for (size_t first = group.first; first + 1 < group.end; ++first) {
      const Group rest = {first, group.end};
      const int64_t rows = RowsOf(rest);
      if (rows == 0 || !Fuse(rest, {.images = 1, .rows = rows})) continue;
      Fuse({group.first, first});
      return true;
    }
    return false;
  }

  bool Fuse(const Group& group, const TileSize& size) {
    auto loop =
        LoopOver(program_, times_, group.first, group.end, size, context_);
    if (!loop) return false;
    // The other steps leave empty places until all loops are made.
    std::fill(program_.steps.begin() + static_cast<ptrdiff_t>(group.first),
              program_.steps.begin() + static_cast<ptrdiff_t>(group.end),
              Step());
    program_.steps[group.first] = std::move(*loop);
    return true;
  }

  Program& program_;
  PassContext& context_;
  BufferTimes times_;
  std::vector<Part> parts_;             // by step
  std::vector<size_t> places_;          // by step: where it was
  std::vector<int> writer_;             // by buffer
  std::vector<std::vector<int>> ends_;  // by step: buffers it reads last
};

}  // namespace

Result<bool> TileAndFuse(Program& program, PassContext& context) {
  // What a training step's forward part computes, its backward part reads.
  if (context.training != nullptr) return false;
  return TilesAndSteps(program, context).Run();
}

}  // namespace mxc
