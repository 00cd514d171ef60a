// SPDX-License-Identifier: Apache-2.0
// Pictures as inputs: what the options say, else what was done to those that
// the network learned from.
#pragma once

#include <CLI/CLI.hpp>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runtime/data/preprocessing.h"
#include "runtime/mxc.hpp"

namespace mxc::run {

// value = (pixel − mean) / deviation · scale, in the order red, green, blue.
// What is not said is as in `trained`, else 0, 1, 1, red first, turned upright,
// and resized to the input.
struct PictureOptions {
  std::optional<std::array<float, 3>> mean, deviation;
  std::optional<float> scale;
  std::optional<bool> blue_first;
  std::optional<data::Orientation> orientation;
  std::string resize;  // "", "WxH", "short" or the shorter side's pixels
  std::string layout;  // "", "NCHW" or "NHWC"
  std::optional<data::Preprocessing> trained;
};

// "123.7,116.8,103.9", or one number for all three.
std::optional<std::array<float, 3>> ReadColours(const std::string& text);
// What is wrong with a mean, a standard deviation and a scale; empty: nothing.
std::string CheckColours(const std::string& text);
std::string CheckDeviations(const std::string& text);
std::string CheckScale(const std::string& text);

void DeclarePictures(CLI::App& app, PictureOptions& options);

// One of the options that was given; empty where none was.
std::string GivenOption(const PictureOptions& options);

// What is done to pictures, in words; empty where nothing of it is known from
// training. Of pictures that have the input's size no fit is told.
std::string DescribeTrained(const PictureOptions& options,
                            bool have_size = false);

// The axes of one picture within an input.
struct Frame {
  int64_t pictures = 0;
  int channels = 0, width = 0, height = 0;
  bool channels_last = false;
};

// Throws a Failure where the input takes no pictures.
Frame FrameOf(const mxc_tensor& tensor, const std::string& layout);

// The values of one picture in the frame's layout; `values` has its size.
void FillFrame(const std::string& file, const Frame& frame,
               const PictureOptions& options, std::span<float> values);

// Returns whether an array of the input's axes holds pixels, which become
// values as those of pictures do: bytes for an input of floats that takes
// pictures, where it is said what is done to them.
bool HoldsPixels(runtime::ElementType type, const mxc_tensor& tensor,
                 const PictureOptions& options);

// The values of arrays that hold pixels, of any number of samples.
void FillWithPixels(const mxc_tensor& tensor, const PictureOptions& options,
                    std::span<const std::byte> pixels,
                    std::span<std::byte> memory);

}  // namespace mxc::run
