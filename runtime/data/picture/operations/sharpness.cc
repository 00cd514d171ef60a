// SPDX-License-Identifier: Apache-2.0
// Away from a smoothed picture, or towards it; the outermost pixels stay.
#include "runtime/data/picture/operations/operation.h"
#include "runtime/data/picture/values.h"

namespace mxc::data {

void ApplySharpness(double strength, uint8_t, Picture* picture) {
  const double factor = 1 + kMostBlend * strength;
  const Picture in = *picture;
  const int channels = in.channels;
  for (int y = 1; y + 1 < in.height; ++y) {
    for (int i = channels; i + channels < in.width * channels; ++i) {
      int sum = 4 * in.row(y)[i];  // 5 of 13 shares for the pixel itself
      for (const int row : {y - 1, y, y + 1}) {
        for (const int at : {i - channels, i, i + channels}) {
          sum += in.row(row)[at];
        }
      }
      const double smooth = ToByte(sum / 13.0);
      picture->pixels[static_cast<size_t>(y) * in.row_bytes() +
                      static_cast<size_t>(i)] =
          ToByte(smooth + factor * (in.row(y)[i] - smooth));
    }
  }
}

}  // namespace mxc::data
