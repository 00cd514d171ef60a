// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/picture/transform.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "runtime/base/file.h"
#include "runtime/data/source.h"
#include "runtime/formats/caffe_messages.h"
#include "runtime/formats/ndarray_list.h"

namespace mxc::data {
namespace {

constexpr int kMostSide = 1 << 16;
constexpr const char* kTypeNames[] = {"float32", "uint8", "int8"};

// `side` in the proportion in which `from` becomes `to`, in float and cut as
// MXNet does it.
int64_t InProportion(int64_t side, int64_t from, int64_t to) {
  const float share = static_cast<float>(to) / static_cast<float>(from);
  return static_cast<int64_t>(share * static_cast<float>(side));
}

Status ResizeTo(int64_t width, int64_t height, Picture* picture) {
  width = std::max<int64_t>(width, 1);
  height = std::max<int64_t>(height, 1);
  if (width > kMostSide || height > kMostSide ||
      width * height > int64_t{1} << 28) {
    return BadRecord("a picture of " + std::to_string(picture->width) + "x" +
                     std::to_string(picture->height) +
                     " is too narrow to be resized");
  }
  *picture = ResizeBilinear(*picture, static_cast<int>(width),
                            static_cast<int>(height));
  return {};
}

Status ResizeShorterSide(int64_t side, Picture* picture) {
  const int64_t width = picture->width, height = picture->height;
  if (height > width) return ResizeTo(side, side * height / width, picture);
  return ResizeTo(side * width / height, side, picture);
}

Picture Crop(const Picture& in, int left, int top, int width, int height) {
  Picture out{width, height, in.channels, {}};
  out.pixels.reserve(out.row_bytes() * static_cast<size_t>(height));
  const auto skip = static_cast<size_t>(left * in.channels);
  for (int y = 0; y < height; ++y) {
    const uint8_t* row = in.row(top + y) + skip;
    out.pixels.insert(out.pixels.end(), row, row + out.row_bytes());
  }
  return out;
}

Picture Pad(const Picture& in, int pad, uint8_t fill) {
  Picture out{in.width + 2 * pad, in.height + 2 * pad, in.channels, {}};
  out.pixels.assign(out.row_bytes() * static_cast<size_t>(out.height), fill);
  const auto edge = static_cast<size_t>(pad);
  for (int y = 0; y < in.height; ++y) {
    std::copy_n(in.row(y), in.row_bytes(),
                &out.pixels[(static_cast<size_t>(y) + edge) * out.row_bytes() +
                            edge * static_cast<size_t>(in.channels)]);
  }
  return out;
}

// None: the file is no such message.
StatusOr<MeanPicture> ReadCaffesMean(const std::string& path,
                                     const Extents& shape) {
  MXC_RT_ASSIGN(const runtime::MappedFile file,
                runtime::MappedFile::Open(path));
  MXC_RT_ASSIGN(runtime::CaffeBlob blob, runtime::ParseCaffeBlob(file.bytes()));
  Extents& extents = blob.shape;
  while (extents.size() > 3 && extents.front() == 1) {
    extents.erase(extents.begin());
  }
  constexpr int64_t kLargest = 1 << 16;
  if (extents.size() != 3 || extents[0] != shape[0] || extents[1] < shape[1] ||
      extents[2] < shape[2] || extents[1] > kLargest || extents[2] > kLargest) {
    return runtime::Fail(StatusCode::kInvalidArgument,
                         "mean_img: '%s' has shape %s, which %s is not cut "
                         "out of",
                         path.c_str(), SettingText(extents).c_str(),
                         SettingText(shape).c_str());
  }
  return MeanPicture{std::move(blob.values), true, static_cast<int>(extents[1]),
                     static_cast<int>(extents[2])};
}

StatusOr<MeanPicture> ReadMeanPicture(const std::string& path,
                                      const Extents& shape) {
  const auto arrays = runtime::ReadNdarrayList(path);
  if (!arrays.ok()) {
    auto caffes = ReadCaffesMean(path, shape);
    const bool other = caffes.status().code() == StatusCode::kCorrupt;
    if (!other) return caffes;
    return arrays.status();
  }
  if (arrays->size() != 1 || (*arrays)[0].array.shape != shape ||
      (*arrays)[0].array.type != ElementType::kF32) {
    return runtime::Fail(StatusCode::kInvalidArgument,
                         "mean_img: '%s' must hold one float32 array of shape "
                         "%s",
                         path.c_str(), SettingText(shape).c_str());
  }
  const std::span<const std::byte> bytes = (*arrays)[0].array.bytes();
  MeanPicture mean;
  mean.values.resize(bytes.size() / sizeof(float));
  std::memcpy(mean.values.data(), bytes.data(), bytes.size());
  return mean;
}

}  // namespace

void PictureOptions::Take(const Preprocessing& trained) {
  if (trained.fit.empty()) return;
  if (trained.data_shape.size() == 3) data_shape = trained.data_shape;
  static_cast<PictureSteps&>(*this) = trained;
  for (int type = 0; type < 3; ++type) {
    if (trained.dtype == kTypeNames[type]) {
      dtype = static_cast<PictureType>(type);
    }
  }
}

Preprocessing PictureTransform::preprocessing() const {
  Preprocessing p;
  static_cast<PictureSteps&>(p) = options_;
  p.data_shape = options_.data_shape;
  p.dtype = kTypeNames[static_cast<int>(options_.dtype)];
  p.fit = "crop";
  p.order = channels() == 1 ? "grey" : "rgb";
  p.layout = "NCHW";
  return p;
}

StatusOr<PictureTransform> PictureTransform::Make(const PictureOptions& options,
                                                  const std::string& source) {
  const auto refuse = [&](const std::string& why) {
    return Status(StatusCode::kInvalidArgument, source + ": " + why);
  };
  const Extents& shape = options.data_shape;
  if (shape.size() != 3 || (shape[0] != 1 && shape[0] != 3)) {
    const std::string found =
        shape.empty() ? "neither the network nor data_shape says how large"
                        " pictures are"
                      : "pictures of shape " + SettingText(shape);
    return refuse(found +
                  "; expected channels (1 or 3), height, width, as in "
                  "data_shape=3,224,224");
  }
  if (shape[1] > 16384 || shape[2] > 16384) {
    return refuse("data_shape exceeds 16384 pixels");
  }
  if (options.resize == 0) return refuse("resize must be positive, or -1");
  if (options.std_r <= 0 || options.std_g <= 0 || options.std_b <= 0) {
    return refuse("std must be above 0");
  }
  if (options.scale == 0) return refuse("scale must not be 0");
  if (options.min_random_area > options.max_random_area ||
      options.min_aspect_ratio > options.max_aspect_ratio) {
    return refuse("the least area or aspect ratio exceeds the largest");
  }
  PictureTransform transform(options);
  const double mean[] = {options.mean_r, options.mean_g, options.mean_b};
  const double deviation[] = {options.std_r, options.std_g, options.std_b};
  std::copy_n(mean, 3, transform.mean_);
  std::copy_n(deviation, 3, transform.std_);
  if (!options.mean_img.empty()) {
    auto picture = ReadMeanPicture(options.mean_img, shape);
    if (!picture.ok()) return picture.status();
    transform.mean_picture_ = std::move(*picture);
  }
  return transform;
}

Field PictureTransform::field(std::string name) const {
  constexpr ElementType kTypes[] = {ElementType::kF32, ElementType::kU8,
                                    ElementType::kI8};
  return {std::move(name), kTypes[static_cast<int>(options_.dtype)],
          options_.data_shape};
}

Status PictureTransform::Apply(Picture picture, Draws draws,
                               std::byte* out) const {
  if (options_.resize > 0) {
    MXC_RT_RETURN_IF_ERROR(ResizeShorterSide(options_.resize, &picture));
  }
  const auto fill = static_cast<uint8_t>(options_.fill_value);
  Warp(options_.look, fill, draws, &picture);
  if (options_.pad > 0) {
    picture = Pad(picture, static_cast<int>(options_.pad), fill);
  }
  if (!options_.random_resized_crop || !CropAreaAtRandom(draws, &picture)) {
    MXC_RT_RETURN_IF_ERROR(Enlarge(&picture));
  }
  const MeanPicture& mean = mean_picture_;
  if (mean.whole &&
      (picture.height != mean.height || picture.width != mean.width)) {
    return BadRecord("a picture of " + std::to_string(picture.height) + "x" +
                     std::to_string(picture.width) +
                     ", of which mean_img has " + std::to_string(mean.height) +
                     "x" + std::to_string(mean.width) + " means");
  }
  Window window = Choose(picture, draws);
  const Window origin = window;
  ChangeLook(draws, &window, &picture);
  switch (options_.dtype) {
    case PictureType::kFloat32:
      WriteFloats(picture, window, origin, draws,
                  reinterpret_cast<float*>(out));
      break;
    case PictureType::kUint8:
      WriteBytes(picture, window, reinterpret_cast<uint8_t*>(out));
      break;
    case PictureType::kInt8:
      WriteBytes(picture, window, reinterpret_cast<int8_t*>(out));
      break;
  }
  return {};
}

// False where ten attempts found no part that fits: the ordinary crop serves.
bool PictureTransform::CropAreaAtRandom(Draws& draws, Picture* picture) const {
  const double area = static_cast<double>(picture->width) * picture->height;
  for (int attempt = 0; attempt < 10; ++attempt) {
    const double target = area * draws.Between(options_.min_random_area,
                                               options_.max_random_area);
    const double ratio =
        draws.Between(options_.min_aspect_ratio, options_.max_aspect_ratio);
    double wide = std::sqrt(target * ratio), high = std::sqrt(target / ratio);
    if (draws.Flip()) std::swap(wide, high);
    const int width = static_cast<int>(wide + 0.5);
    const int height = static_cast<int>(high + 0.5);
    const auto corner = DrawPart(width, height, *picture, draws);
    if (!corner) continue;
    *picture =
        ResizeBilinear(Crop(*picture, corner->left, corner->top, width, height),
                       this->width(), this->height());
    return true;
  }
  return false;
}

// Rows first, then columns, as MXNet: a picture that is too small in one
// direction keeps its shape.
Status PictureTransform::Enlarge(Picture* picture) const {
  if (picture->height < height()) {
    MXC_RT_RETURN_IF_ERROR(
        ResizeTo(InProportion(picture->width, picture->height, height()),
                 height(), picture));
  }
  if (picture->width < width()) {
    MXC_RT_RETURN_IF_ERROR(ResizeTo(
        width(), InProportion(picture->height, picture->width, width()),
        picture));
  }
  // Cutting the fraction may have lost a pixel.
  if (picture->height >= height() && picture->width >= width()) return {};
  return ResizeTo(std::max(picture->width, width()),
                  std::max(picture->height, height()), picture);
}

PictureTransform::Window PictureTransform::Choose(const Picture& picture,
                                                  Draws& draws) const {
  const int room_x = picture.width - width();
  const int room_y = picture.height - height();
  Window window{room_x / 2, room_y / 2, options_.mirror};
  if (options_.rand_crop) {
    window.left =
        static_cast<int>(draws.Below(static_cast<uint64_t>(room_x) + 1));
    window.top =
        static_cast<int>(draws.Below(static_cast<uint64_t>(room_y) + 1));
  }
  if (options_.rand_mirror && draws.Flip()) window.mirror = !window.mirror;
  return window;
}

// Of the part that is kept. What is erased is the mean, which normalizing makes
// 0.
void PictureTransform::ChangeLook(Draws& draws, Window* window,
                                  Picture* picture) const {
  const LookOptions& look = options_.look;
  if (!look.changes_colors() && look.random_erasing == 0 &&
      options_.randaugment.operations == 0) {
    return;
  }
  *picture = Crop(*picture, window->left, window->top, width(), height());
  window->left = window->top = 0;
  RandAugment(options_.randaugment, static_cast<uint8_t>(options_.fill_value),
              draws, picture);
  ChangeColors(look, draws, picture);
  uint8_t mean[3];
  for (size_t c = 0; c < 3; ++c) {
    mean[c] = static_cast<uint8_t>(std::clamp(std::lrint(mean_[c]), 0L, 255L));
  }
  Erase(look.random_erasing, mean, draws, picture);
}

std::pair<const float*, int> PictureTransform::MeanRow(
    int plane, int y, const Window& origin) const {
  if (mean_picture_.values.empty()) return {nullptr, 0};
  const float* values = mean_picture_.values.data();
  const auto c = static_cast<ptrdiff_t>(ColourOf(plane));
  if (!mean_picture_.whole) {
    return {values + (c * height() + y) * width(), 1};
  }
  const ptrdiff_t blue_first = channels() - 1 - c;
  const ptrdiff_t row = blue_first * mean_picture_.height + origin.top + y;
  const int left = origin.left + (origin.mirror ? width() - 1 : 0);
  return {values + row * mean_picture_.width + left, origin.mirror ? -1 : 1};
}

void PictureTransform::WriteFloats(const Picture& picture, const Window& window,
                                   const Window& origin, Draws& draws,
                                   float* out) const {
  const auto change = [&](double most) {
    return most > 0 ? draws.Between(-most, most) : 0;
  };
  const double contrast = 1 + change(options_.max_random_contrast);
  const double light = change(options_.max_random_illumination);
  const int step = window.mirror ? -picture.channels : picture.channels;
  const int first = window.left + (window.mirror ? width() - 1 : 0);
  for (int plane = 0; plane < channels(); ++plane) {
    const int c = ColourOf(plane);
    const auto factor = static_cast<float>(options_.scale / std_[c]);
    const auto slope = static_cast<float>(contrast) * factor;
    const auto offset = static_cast<float>(light) * factor;
    const auto mean = static_cast<float>(mean_[c]);
    for (int y = 0; y < height(); ++y) {
      auto [mean_pixel, mean_step] = MeanRow(plane, y, origin);
      const uint8_t* from = picture.row(window.top + y) +
                            static_cast<ptrdiff_t>(first) * picture.channels +
                            c;
      for (int x = 0; x < width(); ++x, from += step) {
        const float m = mean_pixel != nullptr ? *mean_pixel : mean;
        mean_pixel += mean_step;
        *out++ = (static_cast<float>(*from) - m) * slope + offset;
      }
    }
  }
}

template <class T>
void PictureTransform::WriteBytes(const Picture& picture, const Window& window,
                                  T* out) const {
  const int first = window.left + (window.mirror ? width() - 1 : 0);
  const int step = window.mirror ? -picture.channels : picture.channels;
  for (int plane = 0; plane < channels(); ++plane) {
    const int c = ColourOf(plane);
    const long mean = std::is_signed_v<T> ? std::lround(mean_[c]) : 0;
    for (int y = 0; y < height(); ++y) {
      const uint8_t* from = picture.row(window.top + y) +
                            static_cast<ptrdiff_t>(first) * picture.channels +
                            c;
      for (int x = 0; x < width(); ++x, from += step) {
        const long least = std::is_signed_v<T> ? -128 : 0;
        *out++ = static_cast<T>(std::clamp(*from - mean, least, least + 255));
      }
    }
  }
}

}  // namespace mxc::data
