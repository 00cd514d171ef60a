// SPDX-License-Identifier: Apache-2.0
// Steps that compute each image of a batch by itself, or each row of an image.
// Groups of a product that have nothing in common are images, too.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "ir/program/kernel_catalog.h"
#include "ir/program/program.h"

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

// Steps [first, end) of the program, all by image, that compute each row of an
// image by itself, too: axis 1 of what they write counts `rows`. Which axis of
// the other buffers does, if one does: those are read along the own row only.
struct RowSteps {
  int64_t rows = 0;
  std::map<int, int> axes;  // by buffer
};
std::optional<RowSteps> ByRow(const Program& program, size_t first, size_t end);

// Returns whether the buffer's images, so many, lie one behind the other.
bool CutsIntoImages(const Buffer& buffer, int64_t images);
// `images` of them, as they lie in the whole buffer.
Buffer PartOf(const Buffer& buffer, int64_t images);
// So many positions of an axis that ByRow found, of a part of `whole`.
void CutRows(const Buffer& whole, int axis, int64_t rows, Buffer& part);

}  // namespace mxc
