// SPDX-License-Identifier: Apache-2.0
// The order of samples: what an epoch covers, parts, cursors, buckets.
#include "runtime/data/order.h"

#include <algorithm>
#include <set>

#include "tests/data/batches.h"

namespace mxc::data {
namespace {

Order MakeOrder(int64_t count, const OrderOptions& options) {
  return Order({{0, count, {}}}, options);
}

std::vector<int64_t> Epoch(Order& order, int64_t epoch) {
  std::vector<int64_t> samples;
  Rows rows;
  for (int64_t batch = 0; batch < order.Batches(epoch); ++batch) {
    order.Read(epoch, batch, &rows);
    for (const Row& row : rows.rows) samples.push_back(row.sample);
  }
  return samples;
}

TEST_CASE("order: a shuffled epoch holds every sample once") {
  Order order = MakeOrder(1000, {.batch_size = 10, .seed = 7, .shuffle = true});
  const auto first = Epoch(order, 0), second = Epoch(order, 1);
  CHECK(first != second);
  CHECK(Sorted(first) == Iota(1000));
  CHECK(Sorted(second) == Iota(1000));
  CHECK(Epoch(order, 0) == first);
  Order other = MakeOrder(1000, {.batch_size = 10, .seed = 8, .shuffle = true});
  CHECK(Epoch(other, 0) != first);
  // The order is the same on every machine: a checkpoint may move.
  CHECK(std::vector(first.begin(), first.begin() + 5) ==
        std::vector<int64_t>{626, 998, 590, 607, 487});
}

TEST_CASE("order: round and roll_over give every sample equally often") {
  for (const LastBatch last : {LastBatch::kRound, LastBatch::kRollOver}) {
    Order order = MakeOrder(
        10, {.batch_size = 4, .seed = 1, .shuffle = true, .last_batch = last});
    std::vector<int64_t> all;
    for (int64_t epoch = 0; epoch < 4; ++epoch) {
      const auto some = Epoch(order, epoch);
      all.insert(all.end(), some.begin(), some.end());
    }
    REQUIRE(all.size() == 40);
    for (size_t epoch = 0; epoch < 4; ++epoch) {
      const auto begin = all.begin() + static_cast<ptrdiff_t>(10 * epoch);
      CHECK(Sorted({begin, begin + 10}) == Iota(10));
    }
  }
}

TEST_CASE("order: the last batch as each choice has it") {
  Rows rows;
  Order pad = MakeOrder(10, {.batch_size = 4, .last_batch = LastBatch::kPad});
  CHECK(pad.Batches(5) == 3);
  pad.Read(5, 2, &rows);
  CHECK(rows.pad == 2);
  CHECK(rows.rows[3].sample == 1);
  Order discard =
      MakeOrder(10, {.batch_size = 4, .last_batch = LastBatch::kDiscard});
  CHECK(discard.Batches(0) == 2);
  Order round = MakeOrder(10, {.batch_size = 4});
  CHECK(round.Batches(0) == 3);
  CHECK(round.Batches(1) == 2);
  // Fewer samples than a batch: they are repeated.
  Order few = MakeOrder(3, {.batch_size = 8});
  CHECK(few.Batches(0) == 1);
  few.Read(0, 0, &rows);
  CHECK(rows.pad == 5);
  CHECK(rows.rows[7].sample == 1);
  CHECK_FALSE(Order::Check({{0, 3, {}}},
                           {.batch_size = 8, .last_batch = LastBatch::kDiscard})
                  .ok());
  CHECK_FALSE(Order::Check({{0, 0, {}}}, {}).ok());
}

TEST_CASE("order: buckets are never mixed in a batch") {
  const std::vector<Members> buckets = {{0, 0, {}}, {0, 7, {}}, {7, 9, {}}};
  Order order(buckets, {.batch_size = 3,
                        .seed = 3,
                        .shuffle = true,
                        .last_batch = LastBatch::kPad});
  CHECK(order.Batches(0) == 6);
  std::vector<int64_t> samples;
  Rows rows;
  for (int64_t batch = 0; batch < 6; ++batch) {
    order.Read(0, batch, &rows);
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      CHECK((rows.rows[i].sample < 7) == (rows.bucket == 1));
      if (i < rows.rows.size() - static_cast<size_t>(rows.pad)) {
        samples.push_back(rows.rows[i].sample);
      }
    }
  }
  CHECK(Sorted(samples) == Iota(16));
}

TEST_CASE("iterator: parts share the samples, each exactly once") {
  for (const Settings& more : {Settings{}, Settings{{"held_out", "0.25"}},
                               Settings{{"shuffle", "1"}}}) {
    std::string csv;
    for (int i = 0; i < 103; ++i) csv += std::to_string(i) + ",1\n";
    const TestFolder folder;
    const std::string spec = "csv:" + folder.Write("a.csv", csv);
    std::vector<int64_t> all;
    for (int part = 0; part < 4; ++part) {
      IteratorOptions options = Options(5, more);
      options.last_batch = LastBatch::kPad;
      options.settings.emplace_back("num_parts", "4");
      options.settings.emplace_back("part_index", std::to_string(part));
      const auto some = Samples(Drain(*MustOpen(spec, options)));
      all.insert(all.end(), some.begin(), some.end());
    }
    IteratorOptions held_out = Options(5, more);
    held_out.last_batch = LastBatch::kPad;
    held_out.held_out = true;
    if (!more.empty() && more[0].first == "held_out") {
      const auto rest = Samples(Drain(*MustOpen(spec, held_out)));
      CHECK(rest.size() > 10);
      CHECK(rest.size() < 45);
      all.insert(all.end(), rest.begin(), rest.end());
    } else {
      CHECK(Refusal(spec, held_out).find("held_out=0.1") != std::string::npos);
    }
    CHECK(Sorted(all) == Iota(103));
  }
}

TEST_CASE("cursor: text and back, and what is none") {
  const Cursor cursor{3, 17, 0x1234567890abcdef};
  CHECK(CursorText(cursor) == "cursor 3 17 1234567890abcdef");
  CHECK(*ParseCursor(CursorText(cursor)) == cursor);
  for (const char* wrong :
       {"", "cursor", "cursor 1 2", "cursor -1 2 3", "cursor 1 2 3 ",
        "cursor 1 2 g", "cursor 99999999999999999999 1 1", "cursor 1  2 3"}) {
    CHECK_FALSE(ParseCursor(wrong).ok());
  }
}

}  // namespace
}  // namespace mxc::data
