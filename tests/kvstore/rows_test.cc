// SPDX-License-Identifier: Apache-2.0
// Row-sparse keys: what is sent of them, and that rows nobody pushes stay as
// they are, whatever happens on the way.
#include "runtime/kvstore/rows.h"

#include <cstdlib>
#include <cstring>
#include <deque>
#include <map>
#include <set>

#include "tests/kvstore/job.h"

namespace mxc::kvstore {
namespace {

using RowNumbers = std::vector<uint64_t>;
using Values = std::vector<float>;

constexpr uint64_t kTableRows = 41, kTableWidth = 3;

TEST_CASE("rows on their way are the rows that left, or refused") {
  const RowNumbers numbers = {5, 6, 9};
  const Values elements = {1, 2, 3, 4, 5, 6};
  const auto body = EncodeRows({numbers, elements}, 5);
  const auto rows = DecodeRows(body, 2, 5);
  REQUIRE(rows.ok());
  CHECK(std::ranges::equal(rows->numbers, RowNumbers{0, 1, 4}));
  CHECK(std::ranges::equal(rows->elements, elements));
  CHECK(DecodeRows(EncodeRows({}), 2, 5).ok());
  CHECK_FALSE(DecodeRows(body, 2, 4).ok());  // row 4 of 4
  CHECK_FALSE(DecodeRows(body, 3, 5).ok());
  CHECK_FALSE(DecodeRows(Bytes(body).first(7), 2, 5).ok());
  CHECK_FALSE(DecodeRows(Bytes(body).first(body.size() - 4), 2, 5).ok());
  auto other_count = body;
  other_count[0] = std::byte{2};
  CHECK_FALSE(DecodeRows(other_count, 2, 5).ok());
  for (const RowNumbers& wrong : {RowNumbers{1, 0}, RowNumbers{1, 1}}) {
    CHECK_FALSE(DecodeRows(EncodeRows({wrong, Values(4)}), 2, 5).ok());
  }
}

TEST_CASE("equal rows are added in the order in which they came") {
  // In float32 1e8 + 1 = 1e8: which order it was shows.
  const RowNumbers first = {7, 2, 7}, second = {7};
  const Values a = {1e8f, 5, 1}, b = {-1e8f};
  const Rows summands[] = {{first, a}, {second, b}};
  const OwnRows sum = Merge(summands, 1);
  CHECK(sum.numbers == RowNumbers{2, 7});
  CHECK(sum.elements == Values{5, 0});
}

// Gradient descent with momentum and decay, which would move every element that
// an update touches.
class MomentumShelf final : public AddingShelf {
 public:
  explicit MomentumShelf(const KeyTable& keys)
      : AddingShelf(keys), momenta_(values_) {}
  static void Step(float gradient, float rate, float& value, float& momentum) {
    momentum = 0.9f * momentum - rate * 0.01f * value - rate * gradient;
    value += momentum;
  }
  Status Update(uint32_t key, uint64_t first, std::span<const float> gradient,
                double rate) override {
    for (size_t i = 0; i < gradient.size(); ++i) {
      Step(gradient[i], static_cast<float>(rate), values_[key][first + i],
           momenta_[key][first + i]);
    }
    return {};
  }
  std::vector<std::span<std::byte>> Kept(uint32_t key, uint64_t) override {
    return {Value(key), std::as_writable_bytes(std::span(momenta_[key]))};
  }

 private:
  std::vector<std::vector<float>> momenta_;
};

KeyTable SparseTable() {
  KeyTable keys = KeysOf({kTableRows * kTableWidth});
  keys[0].width = kTableWidth;
  return keys;
}

// What a worker pushes in a round; of every third one nothing.
OwnRows RowGradient(uint64_t seed, uint32_t rank, int round) {
  std::mt19937_64 random(seed * 1000 + rank * 100 +
                         static_cast<uint64_t>(round));
  std::map<uint64_t, Values> rows;
  for (uint64_t i = (random() % 3) * 5; i > 0; --i) {
    Values& row = rows[random() % kTableRows];
    row.resize(kTableWidth);
    for (float& value : row) value = float(random() % 1000) / 7;
  }
  OwnRows gradient;
  for (const auto& [number, row] : rows) {
    gradient.numbers.push_back(number);
    gradient.elements.insert(gradient.elements.end(), row.begin(), row.end());
  }
  return gradient;
}

// The same course of updates on dense arrays, element by element.
class DenseReference {
 public:
  // By the sum of the workers' rows.
  void Update(uint64_t seed, uint32_t workers, int round) {
    std::map<uint64_t, Values> sums;
    for (uint32_t rank = 0; rank < workers; ++rank) {
      const OwnRows gradient = RowGradient(seed, rank, round);
      for (size_t i = 0; i < gradient.numbers.size(); ++i) {
        const auto row =
            std::span(gradient.elements).subspan(i * kTableWidth, kTableWidth);
        const auto [at, first] = sums.try_emplace(
            gradient.numbers[i], Values(row.begin(), row.end()));
        for (size_t j = 0; !first && j < kTableWidth; ++j)
          at->second[j] += row[j];
      }
    }
    for (const auto& [number, sum] : sums) {
      for (size_t j = 0; j < kTableWidth; ++j) {
        const size_t i = number * kTableWidth + j;
        MomentumShelf::Step(sum[j], 0.5f, value[i], momentum_[i]);
      }
    }
  }
  Values RowsOf(const RowNumbers& numbers) const {
    Values rows;
    for (const uint64_t number : numbers) {
      const auto row =
          std::span(value).subspan(number * kTableWidth, kTableWidth);
      rows.insert(rows.end(), row.begin(), row.end());
    }
    return rows;
  }

  Values value = Values(kTableRows * kTableWidth);

 private:
  Values momentum_ = value;
};

MemoryFaults RowFaults(uint64_t seed) {
  MemoryFaults faults;
  faults.seed = seed;
  faults.most_delay = kSecond / 10;
  faults.most_bytes = 200 + seed % 7 * 100;
  faults.breaks = seed % 3 == 0 ? 0 : 0.004;
  faults.flips = seed % 4 == 0 ? 0.002 : 0;
  return faults;
}

// Every worker pushes its rows and pulls some, or what has changed since it did
// so last; the servers die, a worker is replaced by another process.
void RunRowCourse(uint64_t seed, int& killed) {
  Settings settings;
  settings.workers = static_cast<uint32_t>(1 + seed % 3);
  settings.cut_from = seed % 2 == 0 ? 10 : 1'000'000;
  settings.compression = *ParseCompression("2bit");  // not of rows
  Job job(
      RowFaults(seed), SparseTable(), settings,
      static_cast<uint32_t>(1 + seed % 3),
      {seed % 4 == 1 || seed % 4 == 3 ? 0.004 : 0, seed % 4 == 3},
      [](const KeyTable& keys) {
        return std::make_unique<MomentumShelf>(keys);
      },
      OnLoss::kWait);
  DenseReference reference;
  job.workers[0]->Init(0, std::as_bytes(std::span(reference.value)));
  const auto run = [&] {
    const Status status = job.Run();
    REQUIRE_MESSAGE(status.ok(), seed << ": " << status.message());
  };
  run();
  std::vector<Values> tables(settings.workers, Values(reference.value.size()));
  for (int round = 0; round < 8; ++round) {
    std::deque<OwnRows> wanted;
    std::set<uint32_t> whole;  // whose tables are
    std::mt19937_64 random(seed + static_cast<uint64_t>(round));
    if (round == 5 && seed % 5 == 0) {
      job.Replace(settings.workers - 1);
      run();
      std::ranges::fill(tables.back(), 0);
      // It hears what the process before has pushed, of each part.
      if (seed % 2 == 0) {
        job.workers.back()->PullRows(0, {}, {});
      } else {
        job.workers.back()->PullChanges(
            0, std::as_writable_bytes(std::span(tables.back())));
      }
      run();
    }
    for (uint32_t rank = 0; rank < settings.workers; ++rank) {
      OwnRows& rows = wanted.emplace_back();
      for (uint64_t row = random() % 9; row < kTableRows;
           row += 1 + random() % 9) {
        rows.numbers.push_back(row);
      }
      rows.elements.resize(rows.numbers.size() * kTableWidth);
      Client& worker = *job.workers[rank];
      worker.PushRows(0, RowGradient(seed, rank, round), 0.5);
      if (random() % 3 == 0) {
        worker.PullRows(0, rows.numbers, rows.elements, rank);
        continue;
      }
      rows = {};
      whole.insert(rank);
      worker.PullChanges(0, std::as_writable_bytes(std::span(tables[rank])));
    }
    run();
    reference.Update(seed, settings.workers, round);
    for (const OwnRows& rows : wanted) {
      REQUIRE_MESSAGE(rows.elements == reference.RowsOf(rows.numbers),
                      "seed " << seed << ", round " << round);
    }
    for (const uint32_t rank : whole) {
      REQUIRE_MESSAGE(tables[rank] == reference.value,
                      "seed " << seed << ", round " << round);
    }
  }
  Values value(kTableRows * kTableWidth);
  job.workers[0]->Pull(0, std::as_writable_bytes(std::span(value)));
  run();
  CHECK(value == reference.value);
  CHECK(job.Finish().ok());
  killed += job.killed;
}

TEST_CASE("rows under faults: those that nobody pushes stay as they are") {
  int killed = 0;
  const uint64_t end = FirstSeed() + NumberOfSeeds(24);
  for (uint64_t seed = FirstSeed(); seed < end; ++seed)
    RunRowCourse(seed, killed);
  CHECK(killed > 0);
}

// What a server sends of a table is the rows that anybody has pushed: a number
// of 8 bytes and elements of 4 for each, behind how many they are.
TEST_CASE("the rows that have changed come back, and no others") {
  Settings settings;
  settings.workers = 2;
  Job job({}, SparseTable(), settings, 1);
  Values table(kTableRows * kTableWidth), own = table;
  job.workers[0]->Init(0, std::as_bytes(std::span(table)));
  REQUIRE(job.Run().ok());
  const Values ones(2 * kTableWidth, 1);
  const uint64_t row = 8 + 4 * kTableWidth, whole = table.size() * 4;
  const auto sent = [&](const RowNumbers& first, const RowNumbers& second) {
    const uint64_t before = job.servers[0]->facts().sent;
    job.workers[0]->PushRows(0, {first, ones}, 1);
    job.workers[1]->PushRows(0, {second, ones}, 1);
    for (const RowNumbers& numbers : {first, second}) {
      for (const uint64_t number : numbers) {
        for (uint64_t k = 0; k < kTableWidth; ++k) {
          table[number * kTableWidth + k] += 1;
        }
      }
    }
    job.workers[0]->PullChanges(0, std::as_writable_bytes(std::span(own)));
    REQUIRE(job.Run().ok());
    REQUIRE(own == table);
    return job.servers[0]->facts().sent - before;
  };
  CHECK(sent({3, 7}, {7, 40}) == whole);  // it had nothing yet
  CHECK(sent({3, 7}, {7, 40}) == 8 + 3 * row);
  CHECK(sent({0, 1}, {0, 1}) == 8 + 2 * row);
  // Worker 1 has missed nothing that it does not get now.
  Values other(table.size());
  const auto pull = [&] {
    const uint64_t before = job.servers[0]->facts().sent;
    job.workers[1]->PullChanges(0, std::as_writable_bytes(std::span(other)));
    REQUIRE(job.Run().ok());
    CHECK(other == table);
    return job.servers[0]->facts().sent - before;
  };
  CHECK(pull() == whole);
  CHECK(pull() == 8);
  sent({0, 1}, {0, 2});
  sent({5, 6}, {5, 6});
  CHECK(pull() == 8 + 5 * row);
  // So long ago that the server does not know it any more.
  for (uint64_t i = 0; i < kTableRows; ++i) sent({4, 5}, {4, 5});
  CHECK(pull() == whole);
}

TEST_CASE("who pushes rows that a key does not have is refused") {
  Job job({}, SparseTable(), {}, 1);
  const Values zeros(kTableRows * kTableWidth);
  job.workers[0]->Init(0, std::as_bytes(std::span(zeros)));
  REQUIRE(job.Run().ok());
  const RowNumbers beyond = {kTableRows - 1, kTableRows - 1};
  job.workers[0]->PushRows(0, {beyond, Values(2 * kTableWidth)}, 1);
  CHECK(job.Run().message() ==
        "worker 0 pushes for key 'key0' rows that do not ascend");
}

// Integers whose sums are exact in any order: what is lost or counted twice
// shows.
TEST_CASE("async: rows of every push count once") {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Settings settings;
    settings.mode = Mode::kAsync;
    settings.workers = 3;
    settings.cut_from = 10;
    Job job(RowFaults(seed), SparseTable(), settings, 2);
    const Values zeros(kTableRows * kTableWidth), ones(2 * kTableWidth, 1);
    job.workers[0]->Init(0, std::as_bytes(std::span(zeros)));
    REQUIRE(job.Run().ok());
    const RowNumbers numbers = {4, kTableRows - 1};
    for (int round = 0; round < 10; ++round) {
      for (auto& worker : job.workers) worker->PushRows(0, {numbers, ones}, 1);
      REQUIRE(job.Run().ok());
    }
    Values value(3 * kTableWidth);
    const RowNumbers wanted = {4, 5, kTableRows - 1};
    job.workers[2]->PullRows(0, wanted, value);
    REQUIRE(job.Run().ok());
    CHECK(value == Values{30, 30, 30, 0, 0, 0, 30, 30, 30});
  }
}

}  // namespace
}  // namespace mxc::kvstore
