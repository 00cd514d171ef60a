// SPDX-License-Identifier: Apache-2.0
#include "tools/run/picture_input.h"

#include <algorithm>
#include <cmath>

#include "runtime/data/picture/transform.h"
#include "runtime/formats/convert.h"
#include "tools/run/failure.h"
#include "tools/run/input_file.h"
#include "tools/run/picture.h"
#include "tools/run/session.h"
#include "tools/usage/values.h"

namespace mxc::run {
namespace {

// The options, and what holds where they say nothing.
data::Preprocessing Complete(const PictureOptions& options) {
  data::Preprocessing p = options.trained.value_or(data::Preprocessing());
  if (options.mean) {
    p.mean_r = static_cast<double>((*options.mean)[0]);
    p.mean_g = static_cast<double>((*options.mean)[1]);
    p.mean_b = static_cast<double>((*options.mean)[2]);
    p.mean_img.clear();
  }
  if (options.deviation) {
    p.std_r = static_cast<double>((*options.deviation)[0]);
    p.std_g = static_cast<double>((*options.deviation)[1]);
    p.std_b = static_cast<double>((*options.deviation)[2]);
  }
  if (options.orientation) p.orientation = *options.orientation;
  if (options.scale) p.scale = static_cast<double>(*options.scale);
  if (options.blue_first) p.blue_first = *options.blue_first;
  return p;
}

// Scales so that it just covers the frame.
Pixels ResizeToCover(const Pixels& pixels, const Frame& frame) {
  const double factor =
      std::max(static_cast<double>(frame.width) / pixels.width,
               static_cast<double>(frame.height) / pixels.height);
  const auto scaled = [factor](int n) {
    return std::max(1, static_cast<int>(std::lround(n * factor)));
  };
  return Resize(pixels, scaled(pixels.width), scaled(pixels.height));
}

Pixels Fit(const Pixels& pixels, const Frame& frame, const std::string& resize,
           const std::string& file) {
  if (resize.empty()) return Resize(pixels, frame.width, frame.height);
  const size_t cross = resize.find('x');
  const Pixels resized =
      cross == std::string::npos
          ? ResizeToCover(pixels, frame)
          : Resize(pixels, std::stoi(resize.substr(0, cross)),
                   std::stoi(resize.substr(cross + 1)));
  if (resized.width < frame.width || resized.height < frame.height) {
    throw Failure(file + ": resized to " + std::to_string(resized.width) + "x" +
                  std::to_string(resized.height) +
                  ", which is smaller than the input's " +
                  std::to_string(frame.width) + "x" +
                  std::to_string(frame.height));
  }
  return CropCenter(resized, frame.width, frame.height);
}

// By channel, then by row.
std::vector<float> Normalize(const Pixels& pixels,
                             const data::Preprocessing& p) {
  const double mean[] = {p.mean_r, p.mean_g, p.mean_b};
  const double deviation[] = {p.std_r, p.std_g, p.std_b};
  const auto channels = static_cast<size_t>(pixels.channels);
  const size_t area = pixels.values.size() / channels;
  std::vector<float> values(pixels.values.size());
  for (size_t c = 0; c < channels; ++c) {
    const auto factor = static_cast<float>(p.scale / deviation[c]);
    const size_t plane = p.blue_first ? channels - 1 - c : c;
    for (size_t i = 0; i < area; ++i) {
      values[plane * area + i] =
          (pixels.values[i * channels + c] - static_cast<float>(mean[c])) *
          factor;
    }
  }
  return values;
}

template <class T>
std::vector<float> ToFloats(const std::vector<std::byte>& bytes) {
  const auto* values = reinterpret_cast<const T*>(bytes.data());
  return {values, values + bytes.size() / sizeof(T)};
}

// By channel, then by row: the very arithmetic of training.
std::vector<float> Transform(Picture picture, const Frame& frame,
                             const data::Preprocessing& trained,
                             const std::string& file) {
  data::PictureOptions options;
  options.Take(trained);
  options.data_shape = {frame.channels, frame.height, frame.width};
  const auto transform = Take(data::PictureTransform::Make(options, file));
  const data::Field field = transform.field("data");
  std::vector<std::byte> bytes(
      static_cast<size_t>(*runtime::ArrayBytes(field.type, field.shape)));
  const runtime::Status applied =
      transform.Apply(std::move(picture), data::Draws(0), bytes.data());
  if (!applied.ok()) throw Failure(file + ": " + applied.message());
  if (field.type == data::ElementType::kU8) return ToFloats<uint8_t>(bytes);
  if (field.type == data::ElementType::kI8) return ToFloats<int8_t>(bytes);
  return ToFloats<float>(bytes);
}

std::vector<float> Planes(const std::string& file, const Frame& frame,
                          const PictureOptions& options) {
  const auto bytes = Take(OpenInput(file));
  data::Preprocessing complete = Complete(options);
  Picture picture =
      DecodePicture(bytes.bytes(), frame.channels, file, complete.orientation);
  const bool shorter_side = IsDigits(options.resize);
  if (shorter_side) {
    // As training does it that is told so (--data-opt resize=N).
    complete.resize = std::stoi(options.resize);
    complete.fit = "crop";
    const int64_t least = std::max(frame.width, frame.height);
    if (complete.resize < least) {
      throw Failure(file + ": the shorter side becomes " + options.resize +
                    ", which is smaller than the input's " +
                    std::to_string(least));
    }
  }
  if (shorter_side || (complete.fit == "crop" && options.resize.empty())) {
    return Transform(std::move(picture), frame, complete, file);
  }
  return Normalize(Fit(ToPixels(picture), frame, options.resize, file),
                   complete);
}

std::string CheckResize(const std::string& text) {
  const auto number = [](const std::string& digits) {
    return !digits.empty() && digits.size() <= 5 && digits[0] != '0' &&
           digits.find_first_not_of("0123456789") == std::string::npos;
  };
  const size_t cross = text.find('x');
  const bool good =
      text == "short" || number(text) ||
      (cross != std::string::npos && number(text.substr(0, cross)) &&
       number(text.substr(cross + 1)));
  return good ? "" : "'" + text + "' is neither WxH nor short nor a number";
}

}  // namespace

std::optional<std::array<float, 3>> ReadColours(const std::string& text) {
  const std::vector<std::string> words = CLI::detail::split(text, ',');
  if (words.size() != 1 && words.size() != 3) return std::nullopt;
  std::array<float, 3> values;
  for (size_t i = 0; i < values.size(); ++i) {
    const std::string& word = words[std::min(i, words.size() - 1)];
    if (!CLI::detail::lexical_cast(word, values[i]) ||
        !std::isfinite(values[i])) {
      return std::nullopt;
    }
  }
  return values;
}

std::string CheckColours(const std::string& text) {
  return ReadColours(text)
             ? ""
             : "'" + text + "' is neither a number nor three, R,G,B";
}

std::string CheckDeviations(const std::string& text) {
  const auto values = ReadColours(text);
  if (!values) return CheckColours(text);
  return std::ranges::all_of(*values, [](float value) { return value > 0; })
             ? ""
             : "'" + text + "' is not above 0: pixels are divided by it";
}

std::string CheckScale(const std::string& text) {
  float scale = 0;
  const bool good = CLI::detail::lexical_cast(text, scale) &&
                    std::isfinite(scale) && scale != 0;
  return good ? "" : "'" + text + "' is not a number other than 0";
}

void DeclarePictures(CLI::App& app, PictureOptions& options) {
  app.option_defaults()->group("Pictures");
  const auto three = [&](const char* name,
                         std::optional<std::array<float, 3>>& values,
                         std::string (*check)(const std::string&),
                         const char* doc) {
    app.add_option_function<std::string>(
           name,
           [&values](const std::string& text) { values = ReadColours(text); },
           doc)
        ->check(check)
        ->type_name("R,G,B");
  };
  three("--mean", options.mean, CheckColours,
        "subtracted from red, green, blue, or one number from all; this and "
        "the next options default to what the network was trained with, if the "
        "artifact knows");
  three("--std", options.deviation, CheckDeviations,
        "then red, green, blue are divided by this");
  app.add_option("--scale", options.scale, "then multiplied with everything")
      ->check(CheckScale);
  app.add_option_function<std::string>(
         "--order",
         [&options](const std::string& order) {
           options.blue_first = order == "bgr";
         },
         "of the colours in the input's channels: rgb (default, unless kept "
         "otherwise) or bgr")
      ->check(OneOf({"rgb", "bgr"}));
  app.add_option_function<std::string>(
         "--orientation",
         [&options](const std::string& orientation) {
           options.orientation = orientation == "exif"
                                     ? data::Orientation::kExif
                                     : data::Orientation::kStored;
         },
         "exif: turned as the camera says it was held (default, unless "
         "trained otherwise), or stored")
      ->check(OneOf({"exif", "stored"}));
  app.add_option("--resize", options.resize,
                 "to WxH, to so many pixels of the shorter side, or short: as "
                 "small as covers the input; then the centre is cut out "
                 "(default: as in training, else the input's size)")
      ->check(CheckResize);
  app.add_option("--layout", options.layout,
                 "of the input (default: by its shape)")
      ->check(OneOf({"NCHW", "NHWC"}));
}

std::string GivenOption(const PictureOptions& options) {
  if (options.mean) return "--mean";
  if (options.deviation) return "--std";
  if (options.scale) return "--scale";
  if (options.blue_first) return "--order";
  if (!options.resize.empty()) return "--resize";
  return options.layout.empty() ? "" : "--layout";
}

std::string DescribeTrained(const PictureOptions& options, bool have_size) {
  if (!options.trained || options.trained->fit.empty()) return "";
  data::Preprocessing p = Complete(options);
  if (have_size || !options.resize.empty()) p.fit.clear();
  std::string text = DescribePreprocessing(p);
  if (!options.resize.empty()) text += ", --resize " + options.resize;
  return text;
}

namespace {

std::optional<Frame> FrameIn(std::span<const int64_t> shape, bool last) {
  if (shape.size() != 4) return std::nullopt;
  const int64_t channels = last ? shape[3] : shape[1];
  const int64_t height = last ? shape[1] : shape[2];
  const int64_t width = last ? shape[2] : shape[3];
  constexpr int64_t kMost = 1 << 14;
  if ((channels != 1 && channels != 3) || height > kMost || width > kMost) {
    return std::nullopt;
  }
  return Frame{shape[0], static_cast<int>(channels), static_cast<int>(width),
               static_cast<int>(height), last};
}

}  // namespace

Frame FrameOf(const mxc_tensor& tensor, const std::string& layout) {
  const auto shape = api::Shape(tensor);
  const std::optional<Frame> first = FrameIn(shape, /*last=*/false);
  const std::optional<Frame> last = FrameIn(shape, /*last=*/true);
  if (layout != "NHWC" && first) return *first;
  if (layout != "NCHW" && last) return *last;
  const std::string input =
      "input '" + std::string(tensor.name) + "' " + Describe(tensor);
  if (first || last) {
    throw Failure(input + " is " + (first ? "NCHW" : "NHWC") +
                  ", --layout says " + layout);
  }
  throw Failure(input + " does not take pictures");
}

namespace {

// Of planes, red first, in the frame's layout.
void PlacePlanes(const std::vector<float>& planes, const Frame& frame,
                 std::span<float> values) {
  const auto channels = static_cast<size_t>(frame.channels);
  const size_t area = planes.size() / channels;
  for (size_t c = 0; c < channels; ++c) {
    for (size_t i = 0; i < area; ++i) {
      values[frame.channels_last ? i * channels + c : c * area + i] =
          planes[c * area + i];
    }
  }
}

Picture PictureOf(std::span<const std::byte> pixels, const Frame& frame) {
  Picture picture{frame.width, frame.height, frame.channels, {}};
  picture.pixels.resize(pixels.size());
  const auto channels = static_cast<size_t>(frame.channels);
  const size_t area = pixels.size() / channels;
  for (size_t i = 0; i < pixels.size(); ++i) {
    const size_t place =
        frame.channels_last ? i : i % area * channels + i / area;
    picture.pixels[place] = static_cast<uint8_t>(pixels[i]);
  }
  return picture;
}

}  // namespace

void FillFrame(const std::string& file, const Frame& frame,
               const PictureOptions& options, std::span<float> values) {
  PlacePlanes(Planes(file, frame, options), frame, values);
}

bool HoldsPixels(runtime::ElementType type, const mxc_tensor& tensor,
                 const PictureOptions& options) {
  const bool said = !GivenOption(options).empty() ||
                    (options.trained && !options.trained->fit.empty());
  const auto shape = api::Shape(tensor);
  return type == runtime::ElementType::kU8 && IsFloat(TypeOf(tensor)) && said &&
         (FrameIn(shape, /*last=*/false) || FrameIn(shape, /*last=*/true));
}

void FillWithPixels(const mxc_tensor& tensor, const PictureOptions& options,
                    std::span<const std::byte> pixels,
                    std::span<std::byte> memory) {
  const Frame frame = FrameOf(tensor, options.layout);
  data::Preprocessing p = Complete(options);
  p.fit = "crop";  // of what has the size already
  p.resize = -1;
  p.pad = 0;
  p.dtype = "float32";
  const size_t size = static_cast<size_t>(frame.channels) *
                      static_cast<size_t>(frame.width) *
                      static_cast<size_t>(frame.height);
  std::vector<float> values(pixels.size());
  for (size_t at = 0; at < pixels.size(); at += size) {
    PlacePlanes(Transform(PictureOf(pixels.subspan(at, size), frame), frame, p,
                          tensor.name),
                frame, std::span(values).subspan(at, size));
  }
  runtime::ConvertElements(runtime::ElementType::kF32,
                           std::as_bytes(std::span(values)), TypeOf(tensor),
                           memory);
}

}  // namespace mxc::run
