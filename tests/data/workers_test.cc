// SPDX-License-Identifier: Apache-2.0
// Workers of a job: what they read together is what one process reads whose
// batch is as large as all of theirs, from every source.
#include <algorithm>
#include <random>

#include "runtime/data/order.h"
#include "tests/data/batches.h"
#include "tests/data/sorted_sources.h"

namespace mxc::data {
namespace {

struct Drawn {
  std::vector<Members> buckets;
  OrderOptions options;  // of one of the workers
  int64_t samples = 0;
};

Drawn Draw(std::mt19937& random) {
  const auto below = [&](int64_t count) {
    return std::uniform_int_distribution<int64_t>(0, count - 1)(random);
  };
  Drawn drawn;
  drawn.options.workers = 1 + below(5);
  drawn.options.batch_size = 1 + below(9);
  drawn.options.seed = static_cast<uint64_t>(below(100));
  drawn.options.shuffle = below(2) == 1;
  drawn.options.last_batch = static_cast<LastBatch>(below(4));
  for (int64_t bucket = below(4) == 0 ? 2 : 0; bucket >= 0; --bucket) {
    drawn.buckets.push_back({drawn.samples, below(120), {}});
    drawn.samples += drawn.buckets.back().count;
  }
  return drawn;
}

// Every worker's order, and that of one process.
std::vector<Order> OrdersOf(const Drawn& drawn) {
  std::vector<Order> orders;
  for (int64_t worker = 0; worker < drawn.options.workers; ++worker) {
    OrderOptions options = drawn.options;
    options.worker = worker;
    orders.emplace_back(drawn.buckets, options);
  }
  OrderOptions alone = drawn.options;
  alone.batch_size *= std::exchange(alone.workers, 1);
  orders.emplace_back(drawn.buckets, alone);
  return orders;
}

TEST_CASE("workers: their batches together are those of one process") {
  std::mt19937 random(34);
  for (int i = 0; i < 400; ++i) {
    const Drawn drawn = Draw(random);
    if (!Order::Check(drawn.buckets, drawn.options).ok()) continue;
    std::vector<Order> orders = OrdersOf(drawn);
    Order& alone = orders.back();
    const auto workers = static_cast<size_t>(drawn.options.workers);
    Rows whole, own;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      for (size_t w = 0; w < workers; ++w) {
        CHECK(orders[w].fingerprint() == alone.fingerprint());
        REQUIRE(orders[w].Batches(epoch) == alone.Batches(epoch));
      }
      for (int64_t batch = 0; batch < alone.Batches(epoch); ++batch) {
        alone.Read(epoch, batch, &whole);
        int64_t pad = 0;
        for (size_t w = 0; w < workers; ++w) {
          orders[w].Read(epoch, batch, &own);
          CHECK(own.bucket == whole.bucket);
          pad += own.pad;
          for (size_t r = 0; r < own.rows.size(); ++r) {
            CHECK(own.rows[r].sample == whole.rows[r * workers + w].sample);
          }
        }
        CHECK(pad == whole.pad);
      }
    }
  }
}

// What fills the last batch of one epoch the next one does not read again.
TEST_CASE("workers: an epoch of all is each sample once") {
  std::mt19937 random(7);
  for (int i = 0; i < 400; ++i) {
    Drawn drawn = Draw(random);
    drawn.options.last_batch = i % 2 == 0 ? LastBatch::kRound : LastBatch::kPad;
    if (!Order::Check(drawn.buckets, drawn.options).ok()) continue;
    std::vector<Order> orders = OrdersOf(drawn);
    orders.pop_back();
    const bool goes_on = drawn.options.last_batch == LastBatch::kRound &&
                         drawn.buckets.size() == 1 &&
                         drawn.samples >= drawn.options.whole_batch();
    std::vector<int64_t> read, borrowed;
    Rows rows;
    for (int64_t epoch = 0; epoch < 3; ++epoch) {
      read = goes_on ? borrowed : std::vector<int64_t>();
      borrowed.clear();
      for (Order& order : orders) {
        for (int64_t batch = 0; batch < order.Batches(epoch); ++batch) {
          order.Read(epoch, batch, &rows);
          const auto own = std::ssize(rows.rows) - rows.pad;
          for (int64_t r = 0; r < std::ssize(rows.rows); ++r) {
            (r < own ? read : borrowed)
                .push_back(rows.rows[static_cast<size_t>(r)].sample);
          }
        }
      }
      CHECK(Sorted(read) == Iota(drawn.samples));
    }
  }
}

TEST_CASE("workers: every source is dealt by turns, whatever its order") {
  const TestFolder folder;
  for (const auto& [spec, settings, file] : WriteSources(folder)) {
    CAPTURE(spec);
    for (const bool shuffle : {false, true}) {
      std::vector<int64_t> all;
      std::vector<size_t> batches;
      for (int64_t worker = 0; worker < 4; ++worker) {
        IteratorOptions options = Options(4, settings);
        options.last_batch = LastBatch::kPad;
        options.shuffle = shuffle;
        options.worker = worker;
        options.workers = 4;
        const auto iterator = MustOpen(spec, options);
        CHECK(iterator->samples() == kClasses * kOfClass);
        CHECK(iterator->workers() == 4);
        const auto seen = Drain(*iterator);
        batches.push_back(seen.size());
        const auto own = Samples(seen);
        for (const int64_t label : {0, 1, 2}) {
          const auto of_class = [&](int64_t s) {
            return s / kOfClass == label;
          };
          CHECK(std::ranges::count_if(own, of_class) > 0);
        }
        all.insert(all.end(), own.begin(), own.end());
      }
      CHECK(std::ranges::count(batches, batches[0]) == 4);
      CHECK(Sorted(all) == Iota(kClasses * kOfClass));
    }
  }
}

TEST_CASE("workers: the columns of running text are shared") {
  const TestFolder folder;
  const std::string spec =
      "text:" + folder.Write("a.txt", "abcdefghijklmnopqrstuvwxyz");
  std::vector<float> first;
  for (int64_t worker = 0; worker < 3; ++worker) {
    IteratorOptions options = Options(1, {{"length", "2"}});
    options.worker = worker;
    options.workers = 3;
    const auto batches = Drain(*MustOpen(spec, options));
    REQUIRE(batches.size() == 4);
    first.push_back(batches[0].data[0][0]);
  }
  CHECK(first == std::vector<float>{0, 8, 16});
}

TEST_CASE("workers: what num_parts cuts is not dealt") {
  const TestFolder folder;
  const std::string spec =
      "csv:" + folder.Write("a.csv", "0\n1\n2\n3\n4\n5\n6\n");
  const auto read = [&](Settings settings) {
    IteratorOptions options = Options(1, std::move(settings));
    options.worker = 1;
    options.workers = 2;
    return Samples(Drain(*MustOpen(spec, options)));
  };
  using Numbers = std::vector<int64_t>;
  CHECK(read({{"last_batch", "pad"}}) == Numbers{1, 3, 5});
  CHECK(read({{"num_parts", "1"}}) == Numbers{0, 1, 2, 3, 4, 5, 6});
  // As many batches as the other part, which has four samples.
  CHECK(read({{"num_parts", "2"}, {"part_index", "0"}}).size() == 4);
  IteratorOptions few = Options(4, {{"last_batch", "discard"}});
  few.workers = 2;
  CHECK(Says(Refusal(spec, few),
             "7 samples do not fill a batch of 4 for each of 2 workers"));
}

}  // namespace
}  // namespace mxc::data
