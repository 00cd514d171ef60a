// SPDX-License-Identifier: Apache-2.0
// Reading ahead: the same batches for any threads and after any interruption,
// bad records, errors in order, a clean end.
#include "runtime/data/loader.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "runtime/data/random.h"
#include "tests/data/batches.h"

namespace mxc::data {
namespace {

// 50 samples whose value is their number; those of `bad` cannot be read.
class Numbers : public Source {
 public:
  explicit Numbers(std::vector<int64_t> bad = {},
                   std::chrono::microseconds pause = {})
      : bad_(std::move(bad)), pause_(pause) {}

  int64_t size() const override { return 50; }
  Provides sample_fields(int) const override {
    return {{FloatField("data", {2})}, {FloatField("label", {})}};
  }
  Status Read(const SampleRequest& request) const override {
    std::this_thread::sleep_for(pause_);
    if (std::find(bad_.begin(), bad_.end(), request.sample) != bad_.end()) {
      return BadRecord("it is torn");
    }
    request.Floats(0, 2)[0] = static_cast<float>(request.sample);
    request.Floats(0, 2)[1] = static_cast<float>(Draws(request.random).Unit());
    request.Floats(1, 1)[0] = static_cast<float>(request.sample);
    return {};
  }

 private:
  const std::vector<int64_t> bad_;
  const std::chrono::microseconds pause_;
};

LoaderOptions Shuffled(int64_t threads) {
  LoaderOptions options;
  options.order = {.batch_size = 8, .seed = 5, .shuffle = true};
  options.threads = threads;
  options.prefetch = 3;
  options.name = "numbers";
  return options;
}

std::unique_ptr<Loader> MakeLoader(std::unique_ptr<Source> source,
                                   const LoaderOptions& options) {
  return std::make_unique<Loader>(std::move(source),
                                  std::vector<Members>{{0, 50, {}}}, options);
}

TEST_CASE("loader: the same batches for any number of threads") {
  std::vector<Seen> first;
  for (const int64_t threads : {0, 1, 2, 5}) {
    const auto loader =
        MakeLoader(std::make_unique<Numbers>(), Shuffled(threads));
    std::vector<Seen> seen;
    for (int epoch = 0; epoch < 3; ++epoch) {
      for (Seen& batch : Drain(*loader)) seen.push_back(std::move(batch));
    }
    if (threads == 0) first = seen;
    CHECK(seen == first);
  }
  // Augmentation differs from epoch to epoch.
  CHECK(first[0].data[0][1] != first[7].data[0][1]);
}

TEST_CASE("loader: goes on at any cursor as if never stopped") {
  const auto whole = MakeLoader(std::make_unique<Numbers>(), Shuffled(2));
  std::vector<Seen> all;
  std::vector<Cursor> cursors;
  Batch batch;
  for (int epoch = 0; epoch < 3; ++epoch) {
    for (;;) {
      const Cursor cursor = whole->cursor();
      if (!*whole->Next(batch)) break;
      cursors.push_back(cursor);
      all.push_back(
          {cursor.epoch,
           batch.pad,
           0,
           batch.index,
           {{Floats(batch.data[0]).begin(), Floats(batch.data[0]).end()}},
           {}});
    }
  }
  REQUIRE(all.size() == 19);
  const auto resumed = MakeLoader(std::make_unique<Numbers>(), Shuffled(1));
  for (const size_t from : {size_t{18}, size_t{0}, size_t{9}, size_t{6}}) {
    REQUIRE(resumed->Seek(cursors[from]).ok());
    for (size_t i = from; i < std::min(from + 4, all.size()); ++i) {
      if (!*resumed->Next(batch)) {
        REQUIRE(*resumed->Next(batch));
      }
      CHECK(batch.index == all[i].index);
      const auto floats = Floats(batch.data[0]);
      CHECK(std::equal(floats.begin(), floats.end(), all[i].data[0].begin()));
    }
  }
  CHECK(*ParseCursor(CursorText(resumed->cursor())) == resumed->cursor());
}

TEST_CASE("loader: a cursor of another order is refused") {
  const auto loader = MakeLoader(std::make_unique<Numbers>(), Shuffled(1));
  LoaderOptions other = Shuffled(1);
  other.order.seed = 6;
  const auto stranger = MakeLoader(std::make_unique<Numbers>(), other);
  CHECK(loader->Seek(stranger->cursor()).message().find("another batch size") !=
        std::string::npos);
  Cursor beyond = loader->cursor();
  beyond.batch = 8;
  CHECK_FALSE(loader->Seek(beyond).ok());
  beyond = {-1, 0, beyond.order};
  CHECK_FALSE(loader->Seek(beyond).ok());
  beyond = {Order::kMostEpochs, 0, beyond.order};
  CHECK_FALSE(loader->Seek(beyond).ok());
  CHECK(loader->SeekEpoch(1'000'000).ok());
  CHECK(Drain(*loader).size() >= 6);
}

TEST_CASE("loader: a bad record is named, and the next takes its place") {
  std::vector<std::string> sentences;
  std::vector<Seen> seen;
  for (const int64_t threads : {0, 3}) {
    LoaderOptions options = Shuffled(threads);
    options.order.shuffle = false;
    options.order.last_batch = LastBatch::kDiscard;
    const auto loader = MakeLoader(
        std::make_unique<Numbers>(std::vector<int64_t>{3, 4, 20}), options);
    CHECK(loader->bad_records().count == 0);
    const std::vector<Seen> batches = Drain(*loader);
    CHECK(batches[0].index == std::vector<int64_t>{0, 1, 2, 5, 5, 5, 6, 7});
    CHECK(batches[0].data[0][6] == 5);
    // Record 4 was met twice: in its own place, and in that of 3.
    CHECK(loader->bad_records().count == 4);
    if (threads == 0) sentences = loader->bad_records().sentences;
    CHECK(loader->bad_records().sentences == sentences);
    CHECK(sentences[0] == "numbers: record 3: it is torn");
    if (threads == 0) seen = batches;
    CHECK(batches == seen);
  }
}

TEST_CASE("loader: stops at a bad record after the batches before it") {
  for (const int64_t threads : {0, 2}) {
    LoaderOptions options = Shuffled(threads);
    options.order.shuffle = false;
    options.on_bad_record = OnBadRecord::kStop;
    const auto loader = MakeLoader(
        std::make_unique<Numbers>(std::vector<int64_t>{20, 17}), options);
    Batch batch;
    CHECK(*loader->Next(batch));
    CHECK(*loader->Next(batch));
    for (int again = 0; again < 2; ++again) {
      const auto refused = loader->Next(batch);
      REQUIRE_FALSE(refused.ok());
      CHECK(refused.status().message() == "numbers: record 17: it is torn");
    }
    CHECK(loader->cursor().batch == 2);
    REQUIRE(loader->SeekEpoch(0).ok());
    CHECK(*loader->Next(batch));
  }
}

TEST_CASE("loader: nothing readable is an error, not a search without end") {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < 50; ++i) all.push_back(i);
  const auto loader = MakeLoader(std::make_unique<Numbers>(all), Shuffled(2));
  Batch batch;
  const auto refused = loader->Next(batch);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.status().message().find("so are 49 others that were tried") !=
        std::string::npos);
}

TEST_CASE("loader: ends cleanly wherever it is") {
  using std::chrono::microseconds;
  for (int used = 0; used < 6; ++used) {
    const auto loader = MakeLoader(
        std::make_unique<Numbers>(std::vector<int64_t>{}, microseconds(50)),
        Shuffled(3));
    Batch batch;
    for (int i = 0; i < used; ++i) REQUIRE(loader->Next(batch).ok());
    if (used % 2 == 1) REQUIRE(loader->SeekEpoch(2).ok());
  }
}

TEST_CASE("loader: memory serves again, but not what the caller kept") {
  const auto loader = MakeLoader(std::make_unique<Numbers>(), Shuffled(0));
  Batch batch;
  REQUIRE(*loader->Next(batch));
  const NamedArray kept = batch.data[0];
  const std::vector<float> before(Floats(kept).begin(), Floats(kept).end());
  std::vector<const std::byte*> blocks;
  for (int i = 0; i < 40; ++i) {
    REQUIRE(loader->Next(batch).ok());
    blocks.push_back(batch.data[0].array.bytes().data());
  }
  CHECK(std::equal(before.begin(), before.end(), Floats(kept).begin()));
  std::sort(blocks.begin(), blocks.end());
  blocks.erase(std::unique(blocks.begin(), blocks.end()), blocks.end());
  CHECK(blocks.size() <= 6);
}

}  // namespace
}  // namespace mxc::data
