// SPDX-License-Identifier: Apache-2.0
// lmdb:DIR: samples as Caffe's convert_imageset and its like store them: each
// value of DIR/data.mdb is a Datum, in the order of the keys. As
// data_transformer.cpp of BVLC/caffe, whose first channel is blue.
//   data   [data_shape] of dtype     label   f32
#include <sys/stat.h>

#include <algorithm>

#include "runtime/base/remote_files.h"
#include "runtime/data/files/watched_file.h"
#include "runtime/data/picture/transform.h"
#include "runtime/data/source.h"
#include "runtime/formats/caffe_messages.h"
#include "runtime/formats/lmdb.h"

namespace mxc::data {
namespace {

struct LmdbOptions {
  PictureOptions picture;
  int64_t crop_size = 0, channels = 0, first = 0;

  LmdbOptions() { picture.blue_first = true; }

  template <class Fields>
  void Describe(Fields& f) {
    picture.Describe(f);
    f("crop_size", crop_size,
      "height and width of what is cut out, where data_shape says nothing",
      Range{0, 16384});
    f("channels", channels,
      "1 or 3: what encoded pictures become, where data_shape says nothing; 0: "
      "as they are",
      Range{0, 3});
    f("first", first, "the first N samples alone; 0: all", kAtLeast0);
  }
};

// Of what is no picture of bytes with one or three channels.
struct PlainShape {
  Extents stored, given;  // channels, height, width
  double scale = 1;
  bool rand_crop = false, rand_mirror = false;
};

Picture PictureOf(const runtime::CaffeDatum& datum) {
  Picture picture{static_cast<int>(datum.width),
                  static_cast<int>(datum.height),
                  static_cast<int>(datum.channels),
                  {}};
  picture.pixels.resize(datum.data.size());
  const auto plane = static_cast<size_t>(datum.width * datum.height);
  const auto channels = static_cast<size_t>(datum.channels);
  for (size_t c = 0; c < channels; ++c) {
    const std::byte* from = datum.data.data() + (channels - 1 - c) * plane;
    uint8_t* to = picture.pixels.data() + c;
    for (size_t i = 0; i < plane; ++i) {
      to[i * channels] = static_cast<uint8_t>(from[i]);
    }
  }
  return picture;
}

class Lmdb : public Source {
 public:
  Lmdb(const SourceRequest& request, WatchedFile file,
       std::vector<runtime::LmdbEntry> entries,
       std::optional<PictureTransform> transform, PlainShape plain)
      : file_(std::move(file)),
        entries_(std::move(entries)),
        transform_(std::move(transform)),
        plain_(std::move(plain)),
        names_{request.common.data_name, request.common.label_name} {}

  int64_t size() const override { return std::ssize(entries_); }
  Preprocessing preprocessing() const override {
    return transform_ ? transform_->preprocessing() : Source::preprocessing();
  }
  Provides sample_fields(int) const override {
    return {{transform_ ? transform_->field(names_[0])
                        : FloatField(names_[0], plain_.given)},
            {FloatField(names_[1], {})}};
  }
  std::string SampleName(int64_t sample) const override {
    return "key '" + std::string(entries_[static_cast<size_t>(sample)].key) +
           "'";
  }

  Status Read(const SampleRequest& request) const override {
    const auto datum = DatumAt(request.sample);
    if (!datum.ok()) return datum.status();
    request.Floats(1, 1)[0] = static_cast<float>(datum->label);
    if (!transform_) return ReadPlain(*datum, request);
    Picture picture;
    if (datum->encoded) {
      MXC_RT_RETURN_IF_ERROR(transform_->Decode(datum->data, &picture));
    } else {
      if (datum->data.empty() || datum->channels != transform_->channels()) {
        return OtherShape(*datum);
      }
      picture = PictureOf(*datum);
    }
    return transform_->Apply(std::move(picture), Draws(request.random),
                             request.rows[0]);
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    const auto datum = DatumAt(sample);
    if (!datum.ok()) return datum.status();
    return static_cast<float>(datum->label);
  }

 private:
  StatusOr<runtime::CaffeDatum> DatumAt(int64_t sample) const {
    return runtime::ParseCaffeDatum(
        entries_[static_cast<size_t>(sample)].value);
  }
  static Status OtherShape(const runtime::CaffeDatum& datum) {
    return BadRecord(
        "of " +
        SettingText(Extents{datum.channels, datum.height, datum.width}) +
        (datum.data.empty() ? " numbers" : " bytes") +
        ", other than the first sample");
  }

  Status ReadPlain(const runtime::CaffeDatum& datum,
                   const SampleRequest& request) const {
    if (datum.encoded ||
        Extents{datum.channels, datum.height, datum.width} != plain_.stored) {
      return OtherShape(datum);
    }
    Draws draws(request.random);
    const int64_t height = plain_.given[1], width = plain_.given[2];
    int64_t top = (datum.height - height) / 2, left = (datum.width - width) / 2;
    if (plain_.rand_crop) {
      const auto any = [&](int64_t room) {
        return static_cast<int64_t>(
            draws.Below(static_cast<uint64_t>(room) + 1));
      };
      top = any(datum.height - height);
      left = any(datum.width - width);
    }
    const bool mirror = plain_.rand_mirror && draws.Flip();
    const auto count = static_cast<size_t>(datum.channels * height * width);
    float* out = request.Floats(0, count).data();
    for (int64_t c = 0; c < datum.channels; ++c) {
      for (int64_t y = 0; y < height; ++y) {
        const int64_t row = (c * datum.height + top + y) * datum.width + left;
        for (int64_t x = 0; x < width; ++x) {
          const int64_t at = row + (mirror ? width - 1 - x : x);
          *out++ = ValueAt(datum, static_cast<size_t>(at)) *
                   static_cast<float>(plain_.scale);
        }
      }
    }
    return {};
  }
  static float ValueAt(const runtime::CaffeDatum& datum, size_t at) {
    return datum.data.empty()
               ? datum.floats[at]
               : static_cast<float>(static_cast<uint8_t>(datum.data[at]));
  }

  const WatchedFile file_;
  const std::vector<runtime::LmdbEntry> entries_;
  const std::optional<PictureTransform> transform_;
  const PlainShape plain_;
  const std::string names_[2];
};

std::string FileIn(const std::string& path) {
  const auto place = runtime::PlaceOf(path);
  if (place.ok() && place->remote != nullptr) {
    return path.ends_with(".mdb") ? path : path + "/data.mdb";
  }
  struct stat found = {};
  const bool folder = stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
  return folder ? path + "/data.mdb" : path;
}

// Of the first sample: channels, height, width.
StatusOr<Extents> ShapeOf(const runtime::CaffeDatum& datum, int64_t channels) {
  if (!datum.encoded) {
    return Extents{datum.channels, datum.height, datum.width};
  }
  Picture picture;
  const int64_t wanted = channels == 0 ? 3 : channels;
  MXC_RT_RETURN_IF_ERROR(
      DecodePicture(datum.data, static_cast<int>(wanted), &picture));
  return Extents{wanted, picture.height, picture.width};
}

StatusOr<PlainShape> PlainOf(const LmdbOptions& options,
                             const Extents& stored) {
  const PictureOptions& p = options.picture;
  PictureOptions known;
  known.scale = p.scale;
  known.blue_first = p.blue_first;
  known.data_shape = p.data_shape;
  if (static_cast<const PictureSteps&>(known) != p) {
    return Status(StatusCode::kUnsupported,
                  "samples that are no pictures of bytes with 1 or 3 channels "
                  "take crop_size, rand_crop, rand_mirror and scale alone");
  }
  PlainShape plain{stored, stored, p.scale, p.rand_crop, p.rand_mirror};
  if (options.crop_size > 0) {
    plain.given[1] = plain.given[2] = options.crop_size;
  }
  for (const size_t axis : {1u, 2u}) {
    if (plain.given[axis] > stored[axis]) {
      return Status(
          StatusCode::kInvalidArgument,
          "crop_size exceeds the samples, which are " + SettingText(stored));
    }
  }
  return plain;
}

StatusOr<std::unique_ptr<Source>> OpenLmdb(const SourceRequest& request) {
  LmdbOptions options;
  if (request.trained != nullptr) options.picture.Take(*request.trained);
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("lmdb", &options));
  auto file = WatchedFile::Open(FileIn(request.path));
  if (!file.ok()) return file.status();
  auto entries = runtime::ReadLmdb(file->bytes());
  if (!entries.ok()) return entries.status();
  if (entries->empty()) return BadRecord("there are no samples");
  if (options.first > 0 && options.first < std::ssize(*entries)) {
    entries->resize(static_cast<size_t>(options.first));
  }
  const auto datum = runtime::ParseCaffeDatum(entries->front().value);
  if (!datum.ok()) return datum.status();
  const auto stored = ShapeOf(*datum, options.channels);
  if (!stored.ok()) return stored.status();
  const int64_t channels = (*stored)[0];
  const bool pictures = datum->encoded || (!datum->data.empty() &&
                                           (channels == 1 || channels == 3));
  if (!pictures) {
    auto plain = PlainOf(options, *stored);
    if (!plain.ok()) return plain.status();
    return std::unique_ptr<Source>(
        std::make_unique<Lmdb>(request, std::move(*file), std::move(*entries),
                               std::nullopt, std::move(*plain)));
  }
  Extents& shape = options.picture.data_shape;
  if (shape.empty() && options.crop_size > 0) {
    shape = {channels, options.crop_size, options.crop_size};
  }
  if (shape.empty()) shape = request.TakenShape();
  if (shape.size() != 3) shape = *stored;
  auto transform = PictureTransform::Make(options.picture, "lmdb");
  if (!transform.ok()) return transform.status();
  return std::unique_ptr<Source>(
      std::make_unique<Lmdb>(request, std::move(*file), std::move(*entries),
                             std::move(*transform), PlainShape()));
}

}  // namespace

extern const SourceKind kLmdb;
const SourceKind kLmdb = {"lmdb",
                          "lmdb:DIR",
                          "Caffe's samples (Datum) in an LMDB",
                          true,
                          DescribeOptions<LmdbOptions>,
                          OpenLmdb};

}  // namespace mxc::data
