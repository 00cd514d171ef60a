// SPDX-License-Identifier: Apache-2.0
// mnist:DIR: the idx files of MNIST and of what is laid out like it, plain or
// compressed by gzip. As MXNet 1.9.1's MNISTIter (src/io/iter_mnist.cc).
//   data   f32[1, H, W] (flat: f32[H·W]), pixels / 256     label   f32
//
//   idx:  u32 be 0x00000800 + rank · rank × u32 be · bytes
#include <algorithm>

#include "runtime/base/joined.h"
#include "runtime/data/files/inflate.h"
#include "runtime/data/files/open_each.h"
#include "runtime/data/source.h"
#include "runtime/formats/byte_reader.h"

namespace mxc::data {
namespace {

constexpr uint64_t kMostMnistBytes = uint64_t{1} << 34;

struct MnistOptions {
  std::optional<bool> flat;
  std::string image, label;

  template <class Fields>
  void Describe(Fields& f) {
    f("flat", flat,
      "one axis of pixels instead of 1xHxW; empty: as the network takes "
      "them");
    f("image", image,
      "file in DIR instead of train- or t10k-images-idx3-ubyte");
    f("label", label,
      "file in DIR instead of train- or t10k-labels-idx1-ubyte");
  }
};

struct Idx {
  HeldBytes file;
  std::vector<int64_t> shape;
  runtime::Bytes elements;
};

StatusOr<Idx> ParseIdx(HeldBytes file, uint8_t rank) {
  runtime::ByteReader reader(file.bytes);
  const auto number = [&reader](uint32_t* value) {
    const bool there = reader.Read(value);
    *value = __builtin_bswap32(*value);
    return there;
  };
  uint32_t magic = 0;
  if (!number(&magic) || magic != 0x800u + rank) {
    return runtime::Fail(StatusCode::kCorrupt,
                         "not an idx file of bytes with %d axes: it begins "
                         "with %08x instead of %08x",
                         rank, magic, 0x800u + rank);
  }
  Idx idx{std::move(file), {}, {}};
  for (int axis = 0; axis < rank; ++axis) {
    uint32_t extent = 0;
    if (!number(&extent)) return BadRecord("the file ends in its header");
    idx.shape.push_back(extent);
  }
  const auto bytes = runtime::ArrayBytes(ElementType::kU8, idx.shape);
  if (!bytes || !reader.Take(static_cast<size_t>(*bytes), &idx.elements)) {
    return runtime::Fail(StatusCode::kCorrupt,
                         "the file ends early: %s bytes announced, %zu there",
                         bytes ? std::to_string(*bytes).c_str() : "too many",
                         reader.left());
  }
  return idx;
}

// The names under which MNIST's files are kept.
std::vector<std::string> Names(const std::string& name, bool held_out,
                               const char* what, int rank) {
  if (!name.empty()) return {name, name + ".gz"};
  const std::string set = held_out ? "t10k-" : "train-";
  std::vector<std::string> names;
  for (const char* separator : {"-", "."}) {
    const std::string plain =
        set + what + separator + "idx" + std::to_string(rank) + "-ubyte";
    names.push_back(plain);
    names.push_back(plain + ".gz");
  }
  return names;
}

StatusOr<Idx> ReadIdx(const std::string& folder,
                      const std::vector<std::string>& names, uint8_t rank) {
  for (const std::string& name : names) {
    const std::string path = folder + "/" + name;
    auto file = ReadFileInParts(path, kMostMnistBytes);
    if (file.status().code() == StatusCode::kNotFound) continue;
    if (!file.ok()) return file.status();
    auto idx = ParseIdx(std::move(*file), rank);
    if (idx.ok()) return idx;
    return Status(idx.status().code(),
                  "'" + path + "': " + idx.status().message());
  }
  return Status(StatusCode::kNotFound,
                "none of " + runtime::Joined(names, ", ") + " is there");
}

class Mnist : public Source {
 public:
  Mnist(const SourceRequest& request, const MnistOptions& options, Idx images,
        Idx labels)
      : images_(std::move(images)),
        labels_(std::move(labels)),
        pixels_(static_cast<size_t>(images_.shape[1] * images_.shape[2])),
        flat_(request.Flat(options.flat, static_cast<int64_t>(pixels_))),
        splits_(options.image.empty() && request.common.held_out == 0),
        names_{request.common.data_name, request.common.label_name} {}

  int64_t size() const override { return images_.shape[0]; }
  uint64_t WillRead(int64_t sample) const override {
    return images_.file.arriving.WillRead(PixelsOf(sample));
  }
  bool complete() const override { return images_.file.arriving.complete(); }
  bool splits_itself() const override { return splits_; }
  bool has_held_out() const override { return splits_; }

  Preprocessing preprocessing() const override {
    Preprocessing p = Source::preprocessing();
    p.fit = "stretch";
    p.order = "grey";
    p.layout = "NCHW";
    p.scale = 1.0 / 256;
    return p;
  }
  Provides sample_fields(int) const override {
    std::vector<int64_t> shape = {1, images_.shape[1], images_.shape[2]};
    if (flat_) shape = {static_cast<int64_t>(pixels_)};
    return {{FloatField(names_[0], shape)}, {FloatField(names_[1], {})}};
  }

  std::vector<std::string> label_names() const override {
    uint8_t most = 0;
    for (const std::byte label : labels_.elements) {
      most = std::max(most, static_cast<uint8_t>(label));
    }
    std::vector<std::string> names;
    for (int label = 0; label <= most; ++label) {
      names.push_back(std::to_string(label));
    }
    return names;
  }

  Status Read(const SampleRequest& request) const override {
    const runtime::Bytes from = PixelsOf(request.sample);
    MXC_RT_RETURN_IF_ERROR(images_.file.arriving.Await(from));
    const std::span<float> pixels = request.Floats(0, pixels_);
    for (size_t i = 0; i < pixels_; ++i) {
      pixels[i] = static_cast<float>(from[i]) / 256;
    }
    request.Floats(1, 1)[0] = static_cast<float>(
        labels_.elements[static_cast<size_t>(request.sample)]);
    return {};
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    return static_cast<float>(labels_.elements[static_cast<size_t>(sample)]);
  }

 private:
  runtime::Bytes PixelsOf(int64_t sample) const {
    return images_.elements.subspan(static_cast<size_t>(sample) * pixels_,
                                    pixels_);
  }

  const Idx images_, labels_;
  const size_t pixels_;
  const bool flat_, splits_;
  const std::string names_[2];
};

StatusOr<std::unique_ptr<Source>> OpenMnist(const SourceRequest& request) {
  MnistOptions options;
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("mnist", &options));
  const bool test_set = request.held_out && request.common.held_out == 0;
  auto files = OpenEach(request.path, 2, [&](size_t i) {
    return i == 0 ? ReadIdx(request.path,
                            Names(options.image, test_set, "images", 3), 3)
                  : ReadIdx(request.path,
                            Names(options.label, test_set, "labels", 1), 1);
  });
  auto images = files[0].get();
  if (!images.ok()) return images.status();
  auto labels = files[1].get();
  if (!labels.ok()) return labels.status();
  MXC_RT_RETURN_IF_ERROR(labels->file.arriving.Await(labels->elements));
  if (images->shape[0] != labels->shape[0]) {
    return runtime::Fail(StatusCode::kCorrupt, "%lld pictures but %lld labels",
                         static_cast<long long>(images->shape[0]),
                         static_cast<long long>(labels->shape[0]));
  }
  // What holds no picture may announce any size of them.
  if (images->shape[0] == 0) return BadRecord("there are no pictures");
  if (images->shape[1] == 0 || images->shape[2] == 0) {
    return BadRecord("the pictures have no pixels");
  }
  return std::unique_ptr<Source>(std::make_unique<Mnist>(
      request, options, std::move(*images), std::move(*labels)));
}

}  // namespace

extern const SourceKind kMnist;
const SourceKind kMnist = {
    "mnist",
    "mnist:DIR",
    "idx files, plain or .gz: train-images-idx3-ubyte, …",
    true,
    DescribeOptions<MnistOptions>,
    OpenMnist};

}  // namespace mxc::data
