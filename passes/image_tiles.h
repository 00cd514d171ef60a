// SPDX-License-Identifier: Apache-2.0
// Steps that compute each image of a batch by itself, as a loop over tiles of a
// few images.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/program/program.h"
#include "passes/pass.h"

namespace mxc {

// How a step depends on the images: index 0 of its outputs counts `images`. Of
// an input whose `sharers` are n only index i / n is read, where i is the own
// image: n images in a row share a part. The others, 0, are read whole, whatever
// the image.
struct ImageStep {
  int64_t images = 0;
  std::vector<int64_t> sharers;  // by input
};

// Nothing where images depend on each other, or on their number.
std::optional<ImageStep> ByImage(const Program& program, const Step& step);

// How much a tile holds: so many images, or, of one image, rows.
struct TileSize {
  int64_t images = 1;
  int64_t rows = 0;  // 0: all
};

// The step on a tile, over operands that are cut likewise: the same kernel, but
// that of rows may have other tiles of sums. Nothing where the catalog does not
// offer it.
struct ImageStepTile {
  Step step;
  double seconds = 0;  // the catalog's estimate, of a chosen kernel
};
std::optional<ImageStepTile> TileOf(const Program& program, const Step& step,
                                    const TileSize& size,
                                    const KernelCatalog* catalog);

// When the buffers of a program are in use, found once for all its loops: they
// are made from the last to the first, and none changes what stands before it.
struct BufferTimes {
  explicit BufferTimes(const Program& program);

  std::vector<LiveRange> live;   // by root
  std::vector<int> last_reader;  // by buffer; -1: none
};

// Steps [first, end) of the program, all by image, that compute each row of an
// image by itself, too: axis 1 of what they write counts `rows`. Which axis of
// the other buffers does, if one does: those are read along the own row only.
struct RowSteps {
  int64_t rows = 0;
  std::map<int, int> axes;  // by buffer
};
std::optional<RowSteps> ByRow(const Program& program, size_t first, size_t end);

// Steps [first, end) of the program, all by image, as one step with a TileLoop.
// Nothing where they cannot be.
std::optional<Step> LoopOver(const Program& program, const BufferTimes& times,
                             size_t first, size_t end, const TileSize& size,
                             PassContext& context);

}  // namespace mxc
