// SPDX-License-Identifier: Apache-2.0
// Samples of a batch mixed with each other, and their labels alike: mixup (Zhang
// et al. 2017) and CutMix (Yun et al. 2019).
//
//   mixup    x ← λ x + (1 − λ) x'                   λ ~ Beta(α, α)
//   CutMix   x ← x, but x' in a box of (1 − λ) of the area; λ becomes the share
//            of x that is left where the box is cut off at the edge
//   both     y ← λ y + (1 − λ) y', probabilities of classes
//
// λ, the box and, where both are asked for, which of them it is, are drawn for a
// batch. Sample x' is half a batch away, and is mixed with x: an order that is
// shuffled makes that a pair like any other. So workers whose batches are even
// mix as one process does that reads the batches of all. In an odd batch the
// last sample stays as it is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "runtime/data/iterator.h"
#include "runtime/data/random.h"

namespace mxc::data {

struct MixOptions {
  double mixup = 0, cutmix = 0;  // α; 0: not this one

  bool any() const { return mixup > 0 || cutmix > 0; }
  // "mixup" or "cutmix", for messages.
  const char* name() const { return mixup > 0 ? "mixup" : "cutmix"; }
};

// Where the axes of pictures stand in an array of them.
struct PictureAxes {
  int64_t planes = 1, height = 0, width = 0, channels = 1;  // as they lie
};
// Of a sample; nothing where it is no picture. `layout` as in Preprocessing.
std::optional<PictureAxes> AxesOf(const std::vector<int64_t>& shape,
                                  const std::string& layout);

// From Beta(alpha, alpha); alpha > 0.
double DrawBeta(double alpha, Draws& draws);

struct Box {
  int64_t left = 0, top = 0, right = 0, bottom = 0;  // the ends excluded

  int64_t area() const { return (right - left) * (bottom - top); }
};
// About a place that is drawn, of `share` of the area before it is cut off.
Box DrawBox(double share, int64_t width, int64_t height, Draws& draws);

// Mixes a batch that is read; its labels are probabilities. Of CutMix's data
// `axes` are those.
void MixBatch(const MixOptions& options, const PictureAxes& axes, Draws draws,
              Batch* batch);

}  // namespace mxc::data
