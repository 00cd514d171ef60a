// SPDX-License-Identifier: Apache-2.0
#include "tools/run/feed.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>

#include "runtime/base/file.h"
#include "runtime/base/visible.h"
#include "runtime/formats/convert.h"
#include "runtime/formats/npy.h"
#include "tools/run/failure.h"
#include "tools/run/output.h"
#include "tools/run/picture.h"
#include "tools/run/session.h"

namespace mxc::run {
namespace {

// The axes of one picture within an input.
struct Frame {
  int64_t pictures = 0;
  int channels = 0, width = 0, height = 0;
  bool channels_last = false;
};

Frame FrameOf(const mxc_tensor& tensor, const std::string& layout) {
  const auto shape = api::Shape(tensor);
  const auto is_channels = [](int64_t n) { return n == 1 || n == 3; };
  if (shape.size() == 4) {
    const bool last =
        layout == "NHWC" || (layout.empty() && !is_channels(shape[1]));
    const int64_t channels = last ? shape[3] : shape[1];
    const int64_t height = last ? shape[1] : shape[2];
    const int64_t width = last ? shape[2] : shape[3];
    constexpr int64_t kMost = 1 << 14;
    if (is_channels(channels) && height <= kMost && width <= kMost) {
      return {shape[0], static_cast<int>(channels), static_cast<int>(width),
              static_cast<int>(height), last};
    }
  }
  throw Failure("input '" + std::string(tensor.name) + "' " + Describe(tensor) +
                " does not take pictures");
}

// Scales so that the shorter side fits: "short" just covers the frame.
Pixels ResizeShorter(const Pixels& pixels, const Frame& frame,
                     const std::string& side) {
  const double shorter = std::min(pixels.width, pixels.height);
  const double factor =
      side == "short"
          ? std::max(static_cast<double>(frame.width) / pixels.width,
                     static_cast<double>(frame.height) / pixels.height)
          : std::stod(side) / shorter;
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
          ? ResizeShorter(pixels, frame, resize)
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

// Normalized and laid out, one picture.
void Place(const Pixels& pixels, const Frame& frame,
           const PictureOptions& options, float* target) {
  const auto channels = static_cast<size_t>(frame.channels);
  const size_t area = pixels.values.size() / channels;
  for (size_t c = 0; c < channels; ++c) {
    const size_t place = options.blue_first ? channels - 1 - c : c;
    const float mean = options.mean[c];
    const float factor = options.scale / options.deviation[c];
    for (size_t i = 0; i < area; ++i) {
      target[frame.channels_last ? i * channels + place : place * area + i] =
          (pixels.values[i * channels + c] - mean) * factor;
    }
  }
}

// A pixel of an integer type is the nearest one that there is.
void RoundPixels(mxc_dtype dtype, std::span<float> values) {
  const bool bytes = dtype == MXC_U8 || dtype == MXC_I8;
  const float least = dtype == MXC_U8 ? 0 : -128;
  const float most = dtype == MXC_U8 ? 255 : 127;
  for (float& value : values) {
    value = std::nearbyint(value);
    if (bytes) value = std::clamp(value, least, most);
  }
}

void FillWithPictures(const mxc_tensor& tensor, std::span<std::byte> memory,
                      const std::vector<std::string>& files,
                      const PictureOptions& options) {
  const Frame frame = FrameOf(tensor, options.layout);
  if (static_cast<int64_t>(files.size()) != frame.pictures) {
    throw Failure("input '" + std::string(tensor.name) + "' " +
                  Describe(tensor) + " takes " +
                  std::to_string(frame.pictures) + " pictures, but " +
                  std::to_string(files.size()) + " are given");
  }
  const size_t size = memory.size() / mxc_dtype_size(tensor.dtype) /
                      static_cast<size_t>(frame.pictures);
  std::vector<float> values(size * files.size());
  for (size_t n = 0; n < files.size(); ++n) {
    const auto file = Take(runtime::MappedFile::Open(files[n]));
    const Picture picture =
        DecodePicture(file.bytes(), frame.channels, files[n]);
    Place(Fit(ToPixels(picture), frame, options.resize, files[n]), frame,
          options, &values[n * size]);
  }
  if (!IsFloat(TypeOf(tensor))) RoundPixels(tensor.dtype, values);
  runtime::ConvertElements(runtime::ElementType::kF32,
                           std::as_bytes(std::span(values)), TypeOf(tensor),
                           memory);
}

// The shape without the ones that lead it: a file may lack the batch axis.
std::vector<int64_t> Core(std::span<const int64_t> shape) {
  const auto begin = std::find_if(shape.begin(), shape.end(),
                                  [](int64_t dim) { return dim != 1; });
  return {begin, shape.end()};
}

void FillWithArray(const mxc_tensor& tensor, std::span<std::byte> memory,
                   const std::string& file) {
  const runtime::Array array = Take(runtime::ReadNpy(file));
  if (Core(array.shape) != Core(api::Shape(tensor))) {
    throw Failure("input '" + std::string(tensor.name) + "' is " +
                  Describe(tensor) + ", but " + file + " holds " +
                  DescribeShape(array.shape));
  }
  const auto type = TypeOf(tensor);
  if (array.type != type) {
    PrintErr("note: %s holds %s, input '%s' takes %s: converted\n",
             file.c_str(), runtime::ElementName(array.type).data(),
             runtime::Visible(tensor.name).c_str(),
             runtime::ElementName(type).data());
  }
  runtime::ConvertElements(array.type, array.bytes(), type, memory);
}

std::string Listed(std::span<const NetworkInput> inputs) {
  std::string text;
  for (const NetworkInput& input : inputs) {
    text += (text.empty() ? "'" : ", '") + std::string(input.name) + "' " +
            Describe(input) + (input.read ? "" : ", not used");
  }
  return text.empty() ? "none" : text;
}

// The input of that name. A file without one is for the only input, or for the
// only one that is read; inputs.size() if there is no such.
size_t Find(std::span<const NetworkInput> inputs, const std::string& name) {
  if (name.empty() && inputs.size() == 1) return 0;
  size_t found = inputs.size();
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (name.empty() ? !inputs[k].read : name != inputs[k].name) continue;
    if (found < inputs.size()) return inputs.size();
    found = k;
  }
  return found;
}

// The files for each input, in the order of the inputs.
std::vector<std::vector<std::string>> Assign(
    std::span<const NetworkInput> inputs, const Feed& feed) {
  std::vector<std::vector<std::string>> assigned(inputs.size());
  std::vector<std::string> problems;
  for (const auto& [name, file] : feed.files) {
    const size_t k = Find(inputs, name);
    if (k == inputs.size()) {
      problems.push_back(name.empty()
                             ? "--input " + file +
                                   ": which input? (NAME=FILE); "
                                   "the inputs are " +
                                   Listed(inputs)
                             : "no input '" + name + "'; the inputs are " +
                                   Listed(inputs));
    } else {
      assigned[k].push_back(file);
    }
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (assigned[k].empty() && inputs[k].read && problems.empty()) {
      problems.push_back("input '" + std::string(inputs[k].name) + "' " +
                         Describe(inputs[k]) + " has no --input");
    }
  }
  if (!problems.empty()) throw Failure(problems);
  return assigned;
}

// Whether the files are as many pictures, or hold an array of the shape, that
// the input wants.
bool Fits(const mxc_tensor& tensor, const std::vector<std::string>& files) {
  const auto first = Take(runtime::MappedFile::Open(files.front()));
  if (IsPicture(first.bytes())) {
    return tensor.rank != 4 ||
           tensor.dims[0] == static_cast<int64_t>(files.size());
  }
  const runtime::Array array = Take(runtime::ReadNpy(files.front()));
  return Core(array.shape) == Core(api::Shape(tensor));
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

void DeclarePictures(CLI::App& app, PictureOptions& options) {
  app.add_option("--mean", options.mean, "subtracted from red, green, blue")
      ->delimiter(',');
  app.add_option("--std", options.deviation,
                 "then red, green, blue are divided by this")
      ->delimiter(',');
  app.add_option("--scale", options.scale, "then multiplied with everything");
  app.add_option_function<std::string>(
         "--order",
         [&options](const std::string& order) {
           options.blue_first = order == "bgr";
         },
         "rgb (default) or bgr")
      ->check(CLI::IsMember({"rgb", "bgr"}));
  app.add_option("--resize", options.resize,
                 "WxH, the shorter side's pixels, or short: just covers the "
                 "input; the centre is cut out (default: the input's size)")
      ->check(CheckResize);
  app.add_option("--layout", options.layout,
                 "NCHW or NHWC (default: by the input's shape)")
      ->check(CLI::IsMember({"NCHW", "NHWC"}));
}

InputFile ParseInput(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) return {"", text};
  return {text.substr(0, equals), text.substr(equals + 1)};
}

void FillInput(const mxc_tensor& tensor, std::span<std::byte> memory,
               const std::vector<std::string>& files,
               const PictureOptions& pictures) {
  const auto first = Take(runtime::MappedFile::Open(files.front()));
  if (IsPicture(first.bytes())) {
    FillWithPictures(tensor, memory, files, pictures);
  } else if (files.size() > 1) {
    throw Failure("input '" + std::string(tensor.name) +
                  "' is given more than once");
  } else {
    FillWithArray(tensor, memory, files.front());
  }
}

size_t ChooseBatch(const api::Model& model, size_t entry, const Feed& feed) {
  const std::string name = model.entry(entry).name;
  for (size_t e = 0; e < model.entry_count(); ++e) {
    if (model.entry(e).name != name) continue;
    const auto inputs = InputsOf(model, e);
    const auto assigned = Assign(inputs, feed);
    bool fits = true;
    for (size_t k = 0; fits && k < inputs.size(); ++k) {
      fits = assigned[k].empty() || Fits(inputs[k], assigned[k]);
    }
    if (fits) return e;
  }
  return entry;
}

void FillInputs(api::Executor& executor, std::span<const NetworkInput> inputs,
                const Feed& feed) {
  const auto assigned = Assign(inputs, feed);
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (assigned[k].empty()) continue;
    FillInput(inputs[k], executor.InputMemory(inputs[k].name), assigned[k],
              feed.pictures);
  }
}

}  // namespace mxc::run
