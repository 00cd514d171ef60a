// SPDX-License-Identifier: Apache-2.0
// Runs: the same bytes for any number of threads, alone and under contention.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "runtime/executor/schedule.h"
#include "tests/runtime/api.h"
#include "tests/runtime/test_artifact.h"
#include "tests/support/sanitizers.h"

namespace mxc::test {
namespace {

std::string ChainPath() {
  static const std::string path =
      WriteTemporary("chain", ChainArtifact().File());
  return path;
}

bool Right(mxc_executor* executor, int seed) {
  const std::vector<float> data = ChainInput(seed);
  SetInput(executor, data);
  if (Message(mxc_run(executor)) != "") return false;
  const ChainResult expected = ChainExpected(data);
  return Output(executor, 0) == expected.reversed &&
         Output(executor, 1).front() == expected.sum;
}

void CheckRun(mxc_executor* executor, int seed) {
  CAPTURE(seed);
  CHECK(Right(executor, seed));
}

}  // namespace

TEST_CASE("any number of threads gives the same bytes") {
  const ModelHandle model = Open(ChainPath());
  for (const int threads : {1, 2, 3, 7, 16}) {
    CAPTURE(threads);
    const ExecutorHandle executor = Bind(model.get(), threads);
    CHECK(mxc_executor_threads(executor.get()) == threads);
    for (int seed = 0; seed < 200; ++seed) CheckRun(executor.get(), seed);
  }
}

TEST_CASE("weights are prepared once, when the file is opened") {
  const ModelHandle model =
      Open(WriteTemporary("prepared", PreparedArtifact().File()));
  CHECK(mxc_model_entry_count(model.get()) == 1);
  const ExecutorHandle one = Bind(model.get(), 1), two = Bind(model.get(), 2);
  for (int seed = 0; seed < 5; ++seed) {
    CheckRun(one.get(), seed);
    CheckRun(two.get(), seed);
  }
}

TEST_CASE("threads that fell asleep between runs come back") {
  const ModelHandle model = Open(ChainPath());
  const ExecutorHandle executor = Bind(model.get(), 3);
  for (int seed = 0; seed < 100; ++seed) {
    // About the time after which a waiting thread goes to sleep.
    std::this_thread::sleep_for(std::chrono::microseconds(seed % 3 * 40));
    CheckRun(executor.get(), seed);
  }
}

TEST_CASE("executors of one model run at once, under contention") {
  const ModelHandle model = Open(ChainPath());
  std::atomic<int> wrong{0};
  const auto serve = [&](int seed) {
    const ExecutorHandle executor = Bind(model.get(), 2 + seed % 3);
    const std::vector<float> data = ChainInput(seed);
    const ChainResult expected = ChainExpected(data);
    SetInput(executor.get(), data);
    for (int i = 0; i < 150; ++i) {
      mxc_status* status = mxc_run(executor.get());
      wrong += status != nullptr ||
               Output(executor.get(), 0) != expected.reversed ||
               Output(executor.get(), 1).front() != expected.sum;
      mxc_status_release(status);
    }
  };
  std::vector<std::thread> servers;
  for (int i = 0; i < 6; ++i) servers.emplace_back(serve, i);
  for (std::thread& server : servers) server.join();
  CHECK(wrong == 0);
}

TEST_CASE("an executor outlives its model's handle") {
  ModelHandle model = Open(ChainPath());
  const ExecutorHandle executor = Bind(model.get(), 2);
  model.reset();
  CheckRun(executor.get(), 1);
}

#if !defined(MXC_THREAD_SANITIZER)  // which starts no threads after a fork
TEST_CASE("a forked child runs and closes what its parent bound") {
  ModelHandle model = Open(ChainPath());
  ExecutorHandle one = Bind(model.get(), 1), four = Bind(model.get(), 4);
  CheckRun(four.get(), 1);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (int seed = 0; seed < 20; ++seed) {
      if (!Right(one.get(), seed) || !Right(four.get(), seed)) _exit(1);
    }
    one.reset();
    four.reset();
    ExecutorHandle again = Bind(model.get(), 3);
    model.reset();
    if (!Right(again.get(), 2)) _exit(2);
    again.reset();
    _exit(0);
  }
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  for (int seed = 0; seed < 20; ++seed) CheckRun(four.get(), seed);
}
#endif

TEST_CASE("inputs and outputs in the caller's memory") {
  const ModelHandle model = Open(ChainPath());
  const ExecutorHandle executor = Bind(model.get(), 2);
  const std::vector<float> data = ChainInput(9);
  const ChainResult expected = ChainExpected(data);
  // Aligned to an element and no more.
  std::vector<float> input(1025), reversed(1025), flat(1025);
  std::copy(data.begin(), data.end(), input.begin() + 1);
  mxc_executor* e = executor.get();
  REQUIRE(Message(mxc_bind_input(e, "data", &input[1], 4096)) == "");
  REQUIRE(Message(mxc_bind_output(e, 0, &reversed[1], 4096)) == "");
  REQUIRE(Message(mxc_bind_output(e, 2, &flat[1], 4096)) == "");
  REQUIRE(Message(mxc_run(e)) == "");
  reversed.erase(reversed.begin());
  CHECK(reversed == expected.reversed);
  CHECK(Output(e, 1).front() == expected.sum);
  // Output 2 is a view of a tensor in the arena: it is copied out.
  CHECK(flat[1 + 15] == expected.reversed[0]);

  REQUIRE(Message(mxc_bind_input(e, "data", nullptr, 4096)) == "");
  REQUIRE(Message(mxc_bind_output(e, 0, nullptr, 4096)) == "");
  CheckRun(e, 10);
  CHECK(reversed == expected.reversed);
}

TEST_CASE("mistakes get a sentence") {
  const ModelHandle model = Open(ChainPath());
  const ExecutorHandle executor = Bind(model.get(), 1);
  mxc_executor* e = executor.get();
  float value = 0;
  CHECK(Message(mxc_set_input(e, "image", &value, 4)) ==
        "no input 'image'; the inputs are 'data'");
  CHECK(Message(mxc_set_input(e, "data", &value, 4)) ==
        "'data' has 4096 bytes, but 4 are given");
  CHECK(Message(mxc_read_output(e, 3, &value, 4)) ==
        "no output 3; there are 3");
  size_t index = 0;
  CHECK(Message(mxc_find_output(e, "sum", &index)) == "");
  CHECK(index == 1);
  CHECK(Message(mxc_find_output(e, "prob", &index)) ==
        "no output 'prob'; the outputs are 'reversed', 'sum', 'flat'");
  const int64_t* times = nullptr;
  size_t count = 0;
  CHECK(Message(mxc_step_times(e, &times, &count)) ==
        "the executor was bound without profile");
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.threads = 10000;
  mxc_executor* none = nullptr;
  CHECK(Message(mxc_bind(model.get(), &options, &none)) ==
        "10000 threads; 1 to 512 are possible");
}

TEST_CASE("an input that nothing reads is taken, checked and left out") {
  TestArtifact artifact = ChainArtifact();
  TestEntry& entry = artifact.entries.front();
  entry.buffers.push_back({"label", {3}, MXC_BUFFER_INPUT});
  entry.inputs = {7, 0};
  const ModelHandle model = Open(WriteTemporary("unread", artifact.File()));
  int label = -1, data = -1;
  REQUIRE(Message(mxc_model_input_read(model.get(), 0, 0, &label)) == "");
  REQUIRE(Message(mxc_model_input_read(model.get(), 0, 1, &data)) == "");
  CHECK(label == 0);
  CHECK(data == 1);
  CHECK(Message(mxc_model_input_read(model.get(), 0, 2, &data)) ==
        "no input 2; there are 2");
  const ExecutorHandle executor = Bind(model.get(), 2);
  CheckRun(executor.get(), 1);  // a null name is the one that is read
  const float values[3] = {1, 2, 3};
  CHECK(Message(mxc_set_input(executor.get(), "label", values, 12)) == "");
  CHECK(Message(mxc_bind_input(executor.get(), "label", values, 12)) == "");
  CHECK(Message(mxc_set_input(executor.get(), "label", values, 8)) ==
        "'label' has 12 bytes, but 8 are given");
  CheckRun(executor.get(), 2);
}

TEST_CASE("more memory than there is gets a sentence") {
  TestArtifact artifact = ChainArtifact();
  artifact.entries.front().arena_bytes = uint64_t{1} << 60;
  const ModelHandle model = Open(WriteTemporary("arena", artifact.File()));
  mxc_executor* none = nullptr;
  mxc_status* status = mxc_bind(model.get(), nullptr, &none);
  CHECK(mxc_status_code(status) == MXC_OUT_OF_MEMORY);
  mxc_status_release(status);
}

TEST_CASE("a profile has a time for each step that runs") {
  const ModelHandle model = Open(ChainPath());
  for (const int threads : {1, 3}) {
    const ExecutorHandle executor = Bind(model.get(), threads, true);
    CheckRun(executor.get(), 1);
    const int64_t* times = nullptr;
    size_t count = 0;
    REQUIRE(Message(mxc_step_times(executor.get(), &times, &count)) == "");
    REQUIRE(count == 5);
    CHECK(times[0] > 0);
    CHECK(times[2] == 0);  // a view
    CHECK(times[3] > 0);
    CHECK(times[4] > 0);
  }
}

#if defined(__x86_64__)
TEST_CASE("the caller's floating-point mode changes nothing and is kept") {
  TestArtifact artifact = ChainArtifact();
  artifact.entries.front().steps[0].kernel = kAddSmallest;
  const ModelHandle model = Open(WriteTemporary("smallest", artifact.File()));
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | 0x8040);  // results and inputs: subnormal is zero
  const ExecutorHandle executor = Bind(model.get(), 8);
  mxc_executor* e = executor.get();
  SetInput(e, std::vector<float>(1024, 0.0f));
  std::string message;
  for (int i = 0; i < 100 && message.empty(); ++i)
    message = Message(mxc_run(e));
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  CHECK(message == "");
  CHECK((after & 0x8040) == 0x8040);
  const std::vector<float> reversed = Output(e, 0);
  for (size_t i = 0; i < reversed.size(); ++i) {
    const size_t from = i / kBlock * kBlock + (kBlock - 1 - i % kBlock);
    CHECK(reversed[i] ==
          1e-40f * 1e38f + 0.25f * static_cast<float>(64 + from));
  }
}
#endif

TEST_CASE("only steps that are worth it are dealt to several threads") {
  std::vector<mxc_step> steps(3);
  steps[0].tasks = steps[1].tasks = steps[2].tasks = 10;
  steps[0].nanoseconds = 100;
  steps[1].nanoseconds = 1'000'000;
  steps[2].flops = steps[2].bytes = 1'000'000'000;  // the model has the say
  CHECK(runtime::Deal(steps[1], 1, 1).participants == 1);
  CHECK(runtime::Deal(steps[0], 0, 2).participants == 1);
  CHECK(runtime::Deal(steps[2], 2, 2).participants == 1);
  const runtime::Phase two = runtime::Deal(steps[1], 1, 2);
  CHECK(two.step == 1);
  CHECK(two.participants == 2);
  CHECK(two.chunks == 8);
  // Never more threads or chunks than tasks.
  const runtime::Phase many = runtime::Deal(steps[1], 1, 64);
  CHECK(many.participants == 10);
  CHECK(many.chunks == 10);
  // Long steps in portions of milliseconds.
  steps[1].tasks = 1'000'000;
  steps[1].nanoseconds = 100'000'000;
  CHECK(runtime::Deal(steps[1], 1, 2).chunks == 50);
}

}  // namespace mxc::test
