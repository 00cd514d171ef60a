// SPDX-License-Identifier: Apache-2.0
// cifar10:DIR: CIFAR-10's binary files, in DIR or in its cifar-10-batches-bin.
//   data   f32[3, 32, 32], red first, 0 … 255 before mean and std
//   label  f32: 0 … 9
//
//   record:  u8 label · 3 x 32 x 32 bytes
#include <algorithm>

#include "runtime/data/files/inflate.h"
#include "runtime/data/files/open_each.h"
#include "runtime/data/picture/transform.h"
#include "runtime/data/source.h"

namespace mxc::data {
namespace {

constexpr int kSide = 32, kChannels = 3, kClasses = 10;
constexpr size_t kPlane = kSide * kSide, kPixels = kChannels * kPlane;
constexpr size_t kRecord = 1 + kPixels;
constexpr uint64_t kMostCifarBytes = uint64_t{1} << 34;
const char* const kNames[kClasses] = {"airplane", "automobile", "bird", "cat",
                                      "deer",     "dog",        "frog", "horse",
                                      "ship",     "truck"};

class Cifar10 : public Source {
 public:
  Cifar10(const SourceRequest& request, PictureTransform transform,
          std::vector<HeldBytes> files, std::string missing)
      : transform_(std::move(transform)),
        files_(std::move(files)),
        missing_(std::move(missing)),
        splits_(request.common.held_out == 0),
        names_{request.common.data_name, request.common.label_name} {
    for (const HeldBytes& file : files_) {
      size_ += static_cast<int64_t>(file.bytes.size() / kRecord);
    }
  }

  int64_t size() const override { return size_; }
  uint64_t WillRead(int64_t sample) const override {
    const auto [file, record] = Find(static_cast<size_t>(sample));
    return file->arriving.WillRead(record);
  }
  bool complete() const override {
    return std::ranges::all_of(
        files_, [](const HeldBytes& file) { return file.arriving.complete(); });
  }
  bool splits_itself() const override { return splits_; }
  bool has_held_out() const override { return splits_; }
  std::string remark() const override {
    return missing_.empty() ? "" : missing_ + ": not there, and left out";
  }
  Preprocessing preprocessing() const override {
    return transform_.preprocessing();
  }
  Provides sample_fields(int) const override {
    return {{transform_.field(names_[0])}, {FloatField(names_[1], {})}};
  }
  std::vector<std::string> label_names() const override {
    return {std::begin(kNames), std::end(kNames)};
  }

  Status Read(const SampleRequest& request) const override {
    MXC_RT_ASSIGN(const runtime::Bytes bytes, Record(request.sample));
    const auto* record = reinterpret_cast<const uint8_t*>(bytes.data());
    const auto label = ReadLabel(request.sample);
    if (!label.ok()) return label.status();
    request.Floats(1, 1)[0] = *label;
    Picture picture{kSide, kSide, kChannels, std::vector<uint8_t>(kPixels)};
    for (size_t i = 0; i < kPixels; ++i) {
      picture.pixels[i % kPlane * kChannels + i / kPlane] = record[1 + i];
    }
    return transform_.Apply(std::move(picture), Draws(request.random),
                            request.rows[0]);
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    MXC_RT_ASSIGN(const runtime::Bytes record, Record(sample));
    const auto label = static_cast<uint8_t>(record[0]);
    if (label < kClasses) return static_cast<float>(label);
    return BadRecord("label " + std::to_string(label) +
                     " exceeds CIFAR-10's 9");
  }

 private:
  StatusOr<runtime::Bytes> Record(int64_t sample) const {
    const auto [file, record] = Find(static_cast<size_t>(sample));
    MXC_RT_RETURN_IF_ERROR(file->arriving.Await(record));
    return record;
  }
  std::pair<const HeldBytes*, runtime::Bytes> Find(size_t sample) const {
    size_t file = 0;
    while (sample >= files_[file].bytes.size() / kRecord) {
      sample -= files_[file++].bytes.size() / kRecord;
    }
    return {&files_[file],
            files_[file].bytes.subspan(sample * kRecord, kRecord)};
  }

  const PictureTransform transform_;
  const std::vector<HeldBytes> files_;
  const std::string missing_;  // "data_batch_4.bin"
  const bool splits_;
  const std::string names_[2];
  int64_t size_ = 0;
};

StatusOr<HeldBytes> ReadBatch(const std::string& folder,
                              const std::string& name) {
  const std::string places[] = {folder + "/" + name,
                                folder + "/cifar-10-batches-bin/" + name};
  for (const std::string& path : places) {
    auto file = ReadFileInParts(path, kMostCifarBytes);
    if (file.status().code() == StatusCode::kNotFound) continue;
    if (!file.ok()) return file.status();
    if (file->bytes.empty() || file->bytes.size() % kRecord != 0) {
      return runtime::Fail(StatusCode::kCorrupt,
                           "'%s': %zu bytes are not records of %zu",
                           path.c_str(), file->bytes.size(), kRecord);
    }
    return file;
  }
  return Status(StatusCode::kNotFound, name + " is not there");
}

StatusOr<std::unique_ptr<Source>> OpenCifar10(const SourceRequest& request) {
  PictureOptions options;
  options.data_shape = {kChannels, kSide, kSide};
  if (request.trained != nullptr) options.Take(*request.trained);
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("cifar10", &options));
  auto transform = PictureTransform::Make(options, "cifar10");
  if (!transform.ok()) return transform.status();
  if (transform->channels() != kChannels) {
    return Status(StatusCode::kInvalidArgument,
                  "cifar10: the pictures have 3 channels");
  }
  const bool test_set = request.held_out && request.common.held_out == 0;
  std::vector<std::string> names = {"test_batch.bin"};
  if (!test_set) {
    names = {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
             "data_batch_4.bin", "data_batch_5.bin"};
  }
  std::vector<HeldBytes> files;
  std::string missing;
  auto batches = OpenEach(request.path, names.size(), [&](size_t i) {
    return ReadBatch(request.path, names[i]);
  });
  for (size_t i = 0; i < names.size(); ++i) {
    auto file = batches[i].get();
    // Fewer batches than five are a smaller training set.
    if (file.status().code() == StatusCode::kNotFound && !files.empty()) {
      missing += (missing.empty() ? "" : ", ") + names[i];
      continue;
    }
    if (!file.ok()) return file.status();
    files.push_back(std::move(*file));
  }
  return std::unique_ptr<Source>(std::make_unique<Cifar10>(
      request, std::move(*transform), std::move(files), std::move(missing)));
}

std::string Options() {
  SettingsHelp help;
  PictureOptions options;
  options.data_shape = {kChannels, kSide, kSide};
  options.Describe(help);
  return help.text();
}

}  // namespace

extern const SourceKind kCifar10;
const SourceKind kCifar10 = {
    "cifar10", "cifar10:DIR", "CIFAR-10's data_batch_1.bin … test_batch.bin",
    true,      Options,       OpenCifar10};

}  // namespace mxc::data
