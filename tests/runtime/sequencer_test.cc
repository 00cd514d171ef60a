// SPDX-License-Identifier: Apache-2.0
// Blocks of steps: repeats with windows, counts and conditions, one in another;
// branches.
#include <doctest/doctest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "tests/runtime/api.h"
#include "tests/runtime/block_artifacts.h"
#include "tests/runtime/test_artifact.h"

namespace mxc::test {
namespace {

std::vector<float> Rows(int64_t count) {
  std::vector<float> rows(count * kWide);
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<float>(i % 37 + i / kWide);
  }
  return rows;
}

void Set(mxc_executor* executor, const char* name, const auto& values) {
  REQUIRE(Message(mxc_set_input(executor, name, values.data(),
                                values.size() * sizeof values[0])) == "");
}

struct Scanned {
  std::vector<float> ys, last;
};
Scanned ExpectedScan(const std::vector<float>& xs, int64_t turns,
                     std::vector<float> ys) {
  Scanned scanned = {std::move(ys), std::vector<float>(kWide)};
  for (int64_t i = 0; i < kWide; ++i) {
    scanned.last[i] = static_cast<float>(i);
  }
  for (int64_t t = 0; t < turns; ++t) {
    for (int64_t i = 0; i < kWide; ++i) {
      scanned.last[i] += xs[t * kWide + i];
      scanned.ys[t * kWide + i] = 2 * scanned.last[i] + 1;
    }
  }
  return scanned;
}

}  // namespace

TEST_CASE("a repeat hands a value from turn to turn and slices tensors") {
  const ModelHandle model = Open(WriteTemporary("scan", ScanArtifact().File()));
  const std::vector<float> xs = Rows(kTurns);
  for (const int threads : {1, 2, 3, 5, 8}) {
    const ExecutorHandle executor = Bind(model.get(), threads);
    Set(executor.get(), "xs", xs);
    std::vector<float> ys(xs.size());
    // More than there are, none, fewer than none; an odd and an even number.
    for (const int64_t count : {0, 3, 4, 1000, -5, 7, 2}) {
      CAPTURE(threads);
      CAPTURE(count);
      Set(executor.get(), "count", std::vector<int64_t>{count});
      REQUIRE(Message(mxc_run(executor.get())) == "");
      const int64_t turns = std::clamp<int64_t>(count, 0, kTurns);
      const Scanned expected = ExpectedScan(xs, turns, ys);
      CHECK(Output(executor.get(), 0) == expected.ys);
      CHECK(Output(executor.get(), 1) == expected.last);
      ys = expected.ys;  // what no turn writes stays
    }
  }
}

TEST_CASE("a condition ends a repeat") {
  const ModelHandle model = Open(WriteTemporary("scan", ScanArtifact().File()));
  const ExecutorHandle executor = Bind(model.get(), 3);
  std::vector<float> xs = Rows(kTurns);
  xs[3 * kWide] = 1000;  // in the fourth turn
  Set(executor.get(), "xs", xs);
  Set(executor.get(), "count", std::vector<int64_t>{kTurns});
  REQUIRE(Message(mxc_run(executor.get())) == "");
  const Scanned expected = ExpectedScan(xs, 4, std::vector<float>(xs.size()));
  CHECK(Output(executor.get(), 0) == expected.ys);
  CHECK(Output(executor.get(), 1) == expected.last);
}

TEST_CASE("a condition is read before the first turn where that is asked for") {
  TestArtifact artifact = ScanArtifact();
  TestEntry& e = artifact.entries.front();
  e.steps[0] = {"below", kBelow, {2}, {11}, 1, 0, 64};
  e.steps[1].flags |= MXC_REPEAT_TEST_FIRST;
  e.steps[5] = {"end", kCopy, {2}, {10}, 64};
  const std::vector<float> none(kTurns * kWide);
  for (const float first : {99.0f, 100.0f}) {
    artifact.weights[0] = first;
    const ModelHandle model = Open(WriteTemporary("first", artifact.File()));
    const ExecutorHandle executor = Bind(model.get(), 2);
    Set(executor.get(), "xs", Rows(kTurns));
    Set(executor.get(), "count", std::vector<int64_t>{1});
    REQUIRE(Message(mxc_run(executor.get())) == "");
    CHECK((Output(executor.get(), 0) == none) == (first == 100));
  }
}

TEST_CASE("windows may go backwards") {
  TestArtifact artifact = ScanArtifact();
  TestBuffer& x = artifact.entries.front().buffers[5];
  artifact.entries.front().steps[1] = Repeat(3, kTurns, {1}, MXC_REPEAT_COUNT);
  x.offset = (kTurns - 1) * 4 * kWide;
  x.advance = -4 * kWide;
  const ModelHandle model = Open(WriteTemporary("back", artifact.File()));
  const ExecutorHandle executor = Bind(model.get(), 2);
  const std::vector<float> xs = Rows(kTurns);
  std::vector<float> turned;
  for (int64_t t = kTurns; t-- > 0;) {
    turned.insert(turned.end(), xs.begin() + t * kWide,
                  xs.begin() + (t + 1) * kWide);
  }
  Set(executor.get(), "xs", xs);
  Set(executor.get(), "count", std::vector<int64_t>{kTurns});
  REQUIRE(Message(mxc_run(executor.get())) == "");
  const Scanned expected =
      ExpectedScan(turned, kTurns, std::vector<float>(xs.size()));
  CHECK(Output(executor.get(), 0) == expected.ys);
}

TEST_CASE("a counted repeat may take its last turns") {
  TestArtifact artifact = ScanArtifact();
  TestEntry& e = artifact.entries.front();
  e.steps[1] = Repeat(1, kTurns, {1}, MXC_REPEAT_COUNT | MXC_REPEAT_LAST);
  e.steps[2] = {"scale", kScale, {5}, {9}, 64};
  e.steps.resize(3);
  e.buffers[6] = {"h read", {kWide}, MXC_BUFFER_ALIAS, 0, 3};
  e.buffers[7] = {"h written", {kWide}, MXC_BUFFER_ALIAS, 4 * kWide, 3};
  const ModelHandle model = Open(WriteTemporary("last", artifact.File()));
  const ExecutorHandle executor = Bind(model.get(), 2);
  const std::vector<float> xs = Rows(kTurns);
  Set(executor.get(), "xs", xs);
  std::vector<float> ys(xs.size());
  for (const int64_t count : {0, 1, 3, 1000}) {
    Set(executor.get(), "count", std::vector<int64_t>{count});
    REQUIRE(Message(mxc_run(executor.get())) == "");
    const int64_t turns = std::min<int64_t>(count, kTurns);
    for (size_t i = (kTurns - turns) * kWide; i < ys.size(); ++i) {
      ys[i] = 2 * xs[i] + 1;
    }
    CHECK(Output(executor.get(), 0) == ys);
  }
}

namespace {

std::vector<float> ExpectedSums(const std::vector<float>& x,
                                const std::vector<float>& flags) {
  std::vector<float> sums(kOuter * kWide);
  for (int64_t r = 0; r < kOuter; ++r) {
    const int64_t count = flags[r * kWide] < 100 ? kInner : 1;
    for (int64_t c = 0; c < count; ++c) {
      for (int64_t i = 0; i < kWide; ++i) {
        sums[r * kWide + i] += x[(r * kInner + c) * kWide + i];
      }
    }
  }
  return sums;
}

}  // namespace

TEST_CASE("a repeat and a branch within a repeat, windows of windows") {
  const ModelHandle model =
      Open(WriteTemporary("nested", NestedArtifact().File()));
  const std::vector<float> x = Rows(kOuter * kInner);
  for (int threads = 1; threads <= 8; ++threads) {
    const ExecutorHandle executor = Bind(model.get(), threads);
    Set(executor.get(), "x", x);
    for (int seed = 0; seed < 32; ++seed) {
      CAPTURE(threads);
      CAPTURE(seed);
      std::vector<float> flags(kOuter * kWide);
      for (int64_t r = 0; r < kOuter; ++r) {
        flags[r * kWide] = seed >> r & 1 ? 100 : 0;
      }
      Set(executor.get(), "flags", flags);
      REQUIRE(Message(mxc_run(executor.get())) == "");
      CHECK(Output(executor.get(), 0) == ExpectedSums(x, flags));
    }
  }
}

TEST_CASE("inputs in the caller's memory are read through windows") {
  const ModelHandle model =
      Open(WriteTemporary("nested", NestedArtifact().File()));
  const ExecutorHandle executor = Bind(model.get(), 2);
  const std::vector<float> x = Rows(kOuter * kInner), flags(kOuter * kWide);
  Set(executor.get(), "flags", flags);
  std::vector<float> moved(x.size() + 1), sums(flags.size() + 1);
  std::copy(x.begin(), x.end(), moved.begin() + 1);
  REQUIRE(Message(mxc_bind_input(executor.get(), "x", &moved[1],
                                 x.size() * 4)) == "");
  REQUIRE(Message(mxc_bind_output(executor.get(), 0, &sums[1],
                                  flags.size() * 4)) == "");
  REQUIRE(Message(mxc_run(executor.get())) == "");
  sums.erase(sums.begin());
  CHECK(sums == ExpectedSums(x, flags));
}

TEST_CASE("the time of a step is that of all its turns") {
  TestArtifact artifact = ScanArtifact();
  artifact.entries.front().steps[2].kernel = kReverse;  // which takes its time
  artifact.entries.front().steps[2].inputs = {6};
  artifact.entries.front().steps[2].scratch_bytes = 64;
  artifact.entries.front().scratch_bytes = 64;
  const ModelHandle model = Open(WriteTemporary("timed", artifact.File()));
  const ExecutorHandle executor = Bind(model.get(), 1, /*profile=*/true);
  Set(executor.get(), "xs", Rows(kTurns));
  int64_t once = 0, often = 0;
  for (const int64_t count : {1, 7}) {
    Set(executor.get(), "count", std::vector<int64_t>{count});
    REQUIRE(Message(mxc_run(executor.get())) == "");
    const int64_t* times = nullptr;
    size_t steps = 0;
    REQUIRE(Message(mxc_step_times(executor.get(), &times, &steps)) == "");
    REQUIRE(steps == 6);
    CHECK(times[1] == 0);
    (count == 1 ? once : often) = times[2];
  }
  CHECK(once > 0);
  CHECK(often > 2 * once);
}

TEST_CASE("what is not finite is found in the turn that wrote it") {
  const ModelHandle model = Open(WriteTemporary("scan", ScanArtifact().File()));
  const ExecutorHandle executor = Bind(model.get(), 2);
  std::vector<float> xs = Rows(kTurns);
  for (int64_t t = 2; t < 4; ++t) xs[t * kWide + 9] = 3e38f;
  Set(executor.get(), "xs", xs);
  Set(executor.get(), "count", std::vector<int64_t>{2});
  REQUIRE(Message(mxc_run(executor.get())) == "");
  mxc_nonfinite found;
  REQUIRE(Message(mxc_find_nonfinite(executor.get(), &found)) == "");
  CHECK(found.tensor == nullptr);
  Set(executor.get(), "count", std::vector<int64_t>{kTurns});
  REQUIRE(Message(mxc_find_nonfinite(executor.get(), &found)) == "");
  REQUIRE(found.tensor != nullptr);
  CHECK(std::string(found.tensor) == "y");
  CHECK(std::string(found.step) == "scale");
}

namespace {

std::string BlockComplaint(const TestArtifact& artifact) {
  return Refusal(WriteTemporary("blocks", artifact.File()));
}

}  // namespace

TEST_CASE("every rule of blocks and windows is enforced") {
  const auto check = [](const char* message, auto change) {
    TestArtifact artifact = NestedArtifact();
    change(artifact.entries.front());
    const std::string complaint = BlockComplaint(artifact);
    CAPTURE(complaint);
    CHECK(complaint.ends_with(message));
    CHECK((complaint == "") == (std::string(message) == ""));
  };
  check("", [](TestEntry&) {});
  check("entry 0, step 2: its block leaves the one around it",
        [](TestEntry& e) { e.steps[0].body = 6; });
  check("entry 0, step 0: its block leaves the one around it",
        [](TestEntry& e) { e.steps[0].body = 8; });
  check("entry 0, step 2: its block leaves the one around it",
        [](TestEntry& e) { e.steps[2].other = ~0u; });
  check("entry 0, step 3: its field 'kind' is unknown",
        [](TestEntry& e) { e.steps[3].kind = 99; });
  check("entry 0, step 0: unknown flags",
        [](TestEntry& e) { e.steps[0].flags = 16; });
  check("entry 0, step 0: takes the last of turns that it does not count",
        [](TestEntry& e) { e.steps[0].flags = MXC_REPEAT_LAST; });
  check("entry 0, buffer 10: a window with a period that begins late",
        [](TestEntry& e) { e.steps[4].flags = MXC_REPEAT_LAST; });
  check("entry 0, step 0: its field 'turns' is impossible",
        [](TestEntry& e) { e.steps[0].turns = -1; });
  check("entry 0, step 0: its field 'turns' is impossible", [](TestEntry& e) {
    e.buffers[6].advance = e.buffers[7].advance = 0;
    e.buffers[8].advance = 0;
    e.steps[0].turns = int64_t{1} << 31;
  });
  check("entry 0, step 0: a repeat without a body of steps",
        [](TestEntry& e) { e.steps[0].tasks = 1; });
  check("entry 0, step 4: its operands are not those of its flags",
        [](TestEntry& e) { e.steps[4].flags = MXC_REPEAT_COUNT; });
  check("entry 0, step 4: its operands are not those of its flags",
        [](TestEntry& e) { e.steps[4].inputs = {5}; });
  check("entry 0, step 4: tests a condition that it has not",
        [](TestEntry& e) { e.steps[4].flags = MXC_REPEAT_TEST_FIRST; });
  check("entry 0, step 4: a count that is no i32 or i64", [](TestEntry& e) {
    e.buffers.push_back({"n", {1}, MXC_BUFFER_WEIGHT});
    e.steps[4].inputs = {14};
    e.steps[4].flags = MXC_REPEAT_COUNT;
  });
  check("entry 0, step 4: a count or condition of other than one element",
        [](TestEntry& e) {
          e.steps[4].inputs = {3};
          e.steps[4].flags = MXC_REPEAT_CONDITION;
        });
  check("entry 0, step 2: a branch without a condition of one element",
        [](TestEntry& e) { e.steps[2].inputs = {3}; });
  check("entry 0, step 3: a kernel with a block of steps",
        [](TestEntry& e) { e.steps[3].body = 2; });
  check("entry 0, buffer 6: a window of no repeat",
        [](TestEntry& e) { e.buffers[6].loop = 3; });
  check("entry 0, buffer 6: its field 'loop' is no step of its entry",
        [](TestEntry& e) { e.buffers[6].loop = ~0u; });
  check("entry 0, buffer 9: its root is no buffer with bytes of its own",
        [](TestEntry& e) { e.buffers[9].root = 13; });
  check(
      "entry 0, buffer 9: a window of a window whose repeat is not around "
      "its own",
      [](TestEntry& e) { e.buffers[9].root = 9; });
  check(
      "entry 0, buffer 9: a window of a window whose repeat is not around "
      "its own",
      [](TestEntry& e) { e.buffers[9].root = 10; });
  check("entry 0, buffer 9: does not begin on an element",
        [](TestEntry& e) { e.buffers[9].offset = 2; });
  check("entry 0, buffer 9: does not begin on an element",
        [](TestEntry& e) { e.buffers[9].advance = 4094; });
  check("entry 0, buffer 9: leaves its root in some turn",
        [](TestEntry& e) { e.buffers[9].offset = 4; });
  check("entry 0, buffer 9: leaves its root in some turn",
        [](TestEntry& e) { e.buffers[9].advance = -4; });
  check("entry 0, buffer 9: leaves its root in some turn",
        [](TestEntry& e) { e.buffers[9].shift = 1; });
  check("entry 0, buffer 9: leaves its root in some turn",
        [](TestEntry& e) { e.steps[4].turns = kInner + 1; });
  check("entry 0, buffer 10: leaves its root in some turn",
        [](TestEntry& e) { e.buffers[10].period = 3; });
  check("entry 0, buffer 10: leaves its root in some turn",
        [](TestEntry& e) { e.buffers[10].advance = INT64_MIN; });
  check("", [](TestEntry& e) { e.buffers[10].shift = ~0u; });
  check("entry 0, step 6: uses a window outside of its repeat",
        [](TestEntry& e) { e.steps[6].inputs = {9}; });
  check("entry 0, step 3: uses a window outside of its repeat",
        [](TestEntry& e) { e.steps[3].inputs = {10}; });
  check("entry 0, step 5: writes to an input or a weight",
        [](TestEntry& e) { e.steps[5].outputs = {9}; });
  check("entry 0: an output is a window",
        [](TestEntry& e) { e.outputs = {10}; });
}

TEST_CASE("every rule of kinds and carries is enforced") {
  const auto check = [](const char* message, auto change) {
    TestArtifact artifact = TrainArtifact();
    change(artifact.entries.front());
    const std::string complaint = BlockComplaint(artifact);
    CAPTURE(complaint);
    CHECK(complaint.ends_with(message));
  };
  check("entry 0: its field 'kind' is unknown",
        [](TestEntry& e) { e.kind = MXC_ENTRY_KIND_COUNT; });
  check("entry 0: prepares what is no prepared region",
        [](TestEntry& e) { e.kind = MXC_ENTRY_PREPARE; });
  check("entry 0: a carry without its input",
        [](TestEntry& e) { e.carries = {6}; });
  check("entry 0: a carry is no output and an input of its type",
        [](TestEntry& e) { e.carries = {6, 0}; });
  check("entry 0: a carry is no output and an input of its type",
        [](TestEntry& e) { e.carries = {2, 0}; });
}

}  // namespace mxc::test
