// SPDX-License-Identifier: Apache-2.0
// digits: drawn, distorted digits; needs no file.
//   data   f32[1, 28, 28] in [0, 1]     label   f32: 0 … 9
#include <algorithm>
#include <atomic>

#include "runtime/data/digits/drawing.h"
#include "runtime/data/random.h"
#include "runtime/data/source.h"

namespace mxc::data {
namespace {

constexpr size_t kDigitPixels = kDigitSide * kDigitSide;
constexpr int64_t kHeldOutSize = 5000;
constexpr int64_t kMostKept = 100'000;
constexpr uint64_t kTraining = 1, kValidation = 2;

struct DigitsOptions {
  int64_t size = 0;
  std::optional<bool> flat;

  template <class Fields>
  void Describe(Fields& f) {
    f("size", size, "samples in an epoch; 0: 20000 to train, 5000 held out",
      Range{0, 10'000'000});
    f("flat", flat,
      "784 pixels in one axis instead of 1x28x28; empty: as the network takes "
      "them");
  }
};

// A picture is drawn when it is first asked for and kept (the first kMostKept
// of them): later epochs cost a copy.
class Digits : public Source {
 public:
  Digits(const SourceRequest& request, const DigitsOptions& options)
      : key_(Key(static_cast<uint64_t>(request.common.seed),
                 request.held_out ? kValidation : kTraining)),
        flat_(request.Flat(options.flat, kDigitPixels)),
        size_(options.size > 0   ? options.size
              : request.held_out ? kHeldOutSize
                                 : 4 * kHeldOutSize),
        names_{request.common.data_name, request.common.label_name},
        pictures_(static_cast<size_t>(std::min(size_, kMostKept))),
        states_(pictures_.size()) {}

  int64_t size() const override { return size_; }
  bool splits_itself() const override { return true; }
  bool has_held_out() const override { return true; }

  Preprocessing preprocessing() const override {
    Preprocessing p = Source::preprocessing();
    p.fit = "stretch";
    p.order = "grey";
    p.layout = "NCHW";
    p.scale = 1.0 / 255;
    return p;
  }
  Provides sample_fields(int) const override {
    std::vector<int64_t> shape = {1, kDigitSide, kDigitSide};
    if (flat_) shape = {static_cast<int64_t>(kDigitPixels)};
    return {{FloatField(names_[0], shape)}, {FloatField(names_[1], {})}};
  }

  std::vector<std::string> label_names() const override {
    std::vector<std::string> names;
    for (char digit = '0'; digit <= '9'; ++digit) names.emplace_back(1, digit);
    return names;
  }

  Status Read(const SampleRequest& request) const override {
    const uint64_t key = KeyOf(request.sample);
    const int digit = DigitOf(key);
    const auto sample = static_cast<size_t>(request.sample);
    request.Floats(1, 1)[0] = static_cast<float>(digit);
    if (sample >= states_.size()) {
      Write(DrawDigit(digit, key), request);
      return {};
    }
    std::atomic<uint8_t>& state = states_[sample];
    if (state.load(std::memory_order_acquire) == kDrawn) {
      Write(pictures_[sample], request);
      return {};
    }
    const DigitPicture picture = DrawDigit(digit, key);
    Write(picture, request);
    uint8_t expected = kEmpty;
    if (state.compare_exchange_strong(expected, kWriting)) {
      pictures_[sample] = picture;
      state.store(kDrawn, std::memory_order_release);
    }
    return {};
  }
  StatusOr<float> ReadLabel(int64_t sample) const override {
    return static_cast<float>(DigitOf(KeyOf(sample)));
  }

 private:
  uint64_t KeyOf(int64_t sample) const {
    return Key(key_, static_cast<uint64_t>(sample));
  }
  static int DigitOf(uint64_t key) { return static_cast<int>(key % 10); }

  enum State : uint8_t { kEmpty, kWriting, kDrawn };

  static void Write(const DigitPicture& picture, const SampleRequest& request) {
    const std::span<float> pixels = request.Floats(0, kDigitPixels);
    for (size_t i = 0; i < kDigitPixels; ++i) {
      pixels[i] = static_cast<float>(picture[i]) / 255;
    }
  }

  const uint64_t key_;
  const bool flat_;
  const int64_t size_;
  const std::string names_[2];
  mutable std::vector<DigitPicture> pictures_;
  mutable std::vector<std::atomic<uint8_t>> states_;
};

StatusOr<std::unique_ptr<Source>> OpenDigits(const SourceRequest& request) {
  DigitsOptions options;
  MXC_RT_RETURN_IF_ERROR(request.ReadOptions("digits", &options));
  return std::unique_ptr<Source>(std::make_unique<Digits>(request, options));
}

}  // namespace

extern const SourceKind kDigits;
const SourceKind kDigits = {
    "digits",
    "digits",
    "drawn, distorted digits 0 to 9, 1x28x28; needs no file",
    false,
    DescribeOptions<DigitsOptions>,
    OpenDigits};

}  // namespace mxc::data
