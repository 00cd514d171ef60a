// SPDX-License-Identifier: Apache-2.0
// A source that is not all there is told what will be read: in the order in which
// it is read, and 32 MB ahead at most.
#include "runtime/data/read_ahead.h"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "runtime/data/loader.h"
#include "tests/data/batches.h"

namespace mxc::data {
namespace {

constexpr int64_t kSamples = 1000;

struct Record {
  std::mutex mutex;
  std::vector<int64_t> told, read;
  int64_t bytes_ahead = 0, most_ahead = 0;
};

// Samples of a size that come when they are told.
class Arrivals : public Source {
 public:
  Arrivals(Record& record, int64_t sample_bytes)
      : record_(record), sample_bytes_(sample_bytes) {}

  int64_t size() const override { return kSamples; }
  Provides sample_fields(int) const override {
    return {{FloatField("data", {1})}, {FloatField("label", {})}};
  }
  bool complete() const override { return false; }
  uint64_t WillRead(int64_t sample) const override {
    const std::lock_guard lock(record_.mutex);
    record_.told.push_back(sample);
    record_.bytes_ahead += sample_bytes_;
    record_.most_ahead = std::max(record_.most_ahead, record_.bytes_ahead);
    return static_cast<uint64_t>(sample_bytes_);
  }
  Status Read(const SampleRequest& request) const override {
    const std::lock_guard lock(record_.mutex);
    record_.read.push_back(request.sample);
    record_.bytes_ahead -= sample_bytes_;
    request.Floats(0, 1)[0] = request.Floats(1, 1)[0] = 0;
    return {};
  }

 private:
  Record& record_;
  const int64_t sample_bytes_;
};

TEST_CASE("read ahead: what is told is what is read, and no more than 32 MB") {
  for (const int64_t sample_bytes : {100'000, 2'000'000, 50'000'000}) {
    for (const bool shuffle : {false, true}) {
      CAPTURE(sample_bytes);
      CAPTURE(shuffle);
      Record record;
      LoaderOptions options;
      options.order = {.batch_size = 40, .seed = 5, .shuffle = shuffle};
      options.threads = 1;
      Loader loader(std::make_unique<Arrivals>(record, sample_bytes),
                    {{0, kSamples, {}}}, options);
      Batch batch;
      for (int64_t i = 0; i < 3 * kSamples / 40 + 2;) {
        i += *loader.Next(batch) ? 1 : 0;
      }
      const std::lock_guard lock(record.mutex);
      // Of samples that are larger than that some are read untold.
      if (sample_bytes < 32'000'000) {
        REQUIRE(record.told.size() >= record.read.size());
        CHECK(std::equal(record.read.begin(), record.read.end(),
                         record.told.begin()));
      }
      // A quarter of a batch is dealt to a thread at once, and counts as read.
      CHECK(record.most_ahead < 32'000'000 + 11 * sample_bytes);
    }
  }
}

}  // namespace
}  // namespace mxc::data
