// SPDX-License-Identifier: Apache-2.0
// Loops whose turns become programs, beside the same calls one by one, each of
// which is waited for.
#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/ndarray/loops.h"
#include "tests/ndarray/recorded.h"

namespace mxc::test {
namespace {

using Floats = std::vector<float>;
using Json = nlohmann::json;

constexpr int kTurns = 9;

Json Explained() {
  const char* json = nullptr;
  Expect(mxc_ndarray_explain(&json));
  return Json::parse(json);
}

// Runs of programs that are loops' turns, from the object's begin.
class ProgramRuns {
 public:
  int64_t count() const {
    int64_t runs = 0;
    for (const auto& [calls, all] : RunsOfLoops()) {
      const auto before = before_.find(calls);
      runs += all - (before == before_.end() ? 0 : before->second);
    }
    return runs;
  }

 private:
  // By their calls; loops of long ago are forgotten.
  static std::map<std::string, int64_t> RunsOfLoops() {
    std::map<std::string, int64_t> runs;
    for (const Json& loop : Explained()) {
      runs[loop["calls"].dump()] += loop["runs"].get<int64_t>();
    }
    return runs;
  }

  const std::map<std::string, int64_t> before_ = RunsOfLoops();
};

// Waits where it is told to: nothing is then part of a program.
struct Pace {
  bool alone = false;
  void Step() const {
    if (alone) mxc_status_release(mxc_ndarray_wait_all());
  }
};

Floats Drawn(size_t count, int seed) {
  std::mt19937 random(static_cast<unsigned>(seed));
  std::normal_distribution<float> normal;
  Floats values(count);
  for (float& value : values) value = normal(random);
  return values;
}

// Two layers, their loss, gradients, and updates with momentum.
class Training {
 public:
  explicit Training(Pace pace) : pace_(pace) {
    for (Marked* one : {&first_, &second_}) {
      moments_.push_back(Make(one == &first_ ? Dims{4, 6} : Dims{2, 4},
                              Floats(one == &first_ ? 24 : 8)));
    }
  }

  // The loss.
  NDArray Turn(int turn) {
    const NDArray data = Make({5, 6}, Drawn(30, turn)),
                  label = Make({5}, {0, 1, 1, 0, 1});
    NDArray loss = [&] {
      const Recording recording;
      return Called(softmax_, {ScoresOf(data).get(), label.get()});
    }();
    Expect(Backward(loss));
    pace_.Step();
    Update(first_, moments_[0]);
    Update(second_, moments_[1]);
    return loss;
  }

  // Without gradients, of other data.
  NDArray Scores(int drawn) {
    return ScoresOf(Make({5, 6}, Drawn(30, 1000 + drawn)));
  }

  Floats State() const {
    Floats state;
    for (const NDArray* one : {&first_.array, &second_.array, &moments_[0],
                               &moments_[1], &first_.gradient}) {
      const Floats values = Values(*one);
      state.insert(state.end(), values.begin(), values.end());
    }
    return state;
  }
  Pace pace() const { return pace_; }
  const NDArray& gradient() const { return first_.gradient; }
  const NDArray& weight() const { return first_.array; }

 private:
  NDArray ScoresOf(const NDArray& data) {
    const NDArray hidden =
        Called(tanh_, {Called(dense4_, {data.get(), first_.get()}).get()});
    return Called(dense2_, {hidden.get(), second_.get()});
  }

  NDArray Called(const Op& op, const std::vector<mxc_ndarray*>& inputs) {
    NDArray result = op(inputs, true);
    pace_.Step();
    return result;
  }

  void Update(const Marked& variable, const NDArray& moment) {
    update_.Into(variable.array,
                 {variable.get(), variable.gradient.get(), moment.get()});
    pace_.Step();
  }

  const Pace pace_;
  const Op dense4_{"FullyConnected", {{"num_hidden", "4"}, {"no_bias", "1"}}};
  const Op dense2_{"FullyConnected", {{"num_hidden", "2"}, {"no_bias", "1"}}};
  const Op tanh_{"tanh"};
  const Op softmax_{"SoftmaxOutput"};
  const Op update_{"sgd_mom_update", {{"lr", "0.1"}, {"momentum", "0.9"}}};
  Marked first_{{4, 6}, Drawn(24, 100)}, second_{{2, 4}, Drawn(8, 101)};
  std::vector<NDArray> moments_;
};

// What the loop leaves, and how often a program ran.
struct Left {
  Floats state;
  int64_t runs;
};

Left After(Pace pace, const std::function<void(Training&, int)>& turn) {
  const ProgramRuns runs;
  Training training(pace);
  for (int t = 0; t < kTurns; ++t) turn(training, t);
  Left left = {training.State(), 0};
  left.runs = runs.count();
  return left;
}

// In any pace the same; as a program in most turns.
void CheckTurns(const std::function<void(Training&, int)>& turn,
                int64_t least_runs) {
  const Left alone = After({true}, turn), together = After({false}, turn);
  CHECK(alone.runs == 0);
  INFO(Explained().dump());
  if (!IsNaive()) CHECK(together.runs >= least_runs);
  CHECK(alone.state == together.state);
}

TEST_CASE("a loop that comes again becomes a program") {
  CheckTurns([](Training& training, int t) { training.Turn(t); }, kTurns - 3);
}

// Other sizes; as many calls a turn.
class Sums {
 public:
  explicit Sums(int64_t size) : sum_(Make({size}, Floats(size))) {}

  void Turn(int64_t size) {
    const NDArray one = Make({size}, Drawn(size, 1));
    const NDArray half = half_({one.get()}), bent = tanh_({half.get()});
    add_.Into(sum_, {sum_.get(), bent.get()});
  }

 private:
  const Op half_{"_mul_scalar", {{"scalar", "0.5"}}}, tanh_{"tanh"},
      add_{"elemwise_add"};
  NDArray sum_;
};

TEST_CASE("each loop is noticed, also with memory and length of one before") {
  if (IsNaive()) return;
  for (int64_t size = 16; size < 48; ++size) {
    const ProgramRuns runs;
    {
      Sums sums(size);
      for (int t = 0; t < kTurns; ++t) sums.Turn(size);
      Expect(mxc_ndarray_wait_all());
    }
    CHECK(runs.count() >= kTurns - 3);
  }
  for (int time = 0; time < 32; ++time) {
    std::vector<NDArray> between;
    for (int i = 0; i < time; ++i) between.push_back(Make({4, 6}, Floats(24)));
    CheckTurns([](Training& training, int t) { training.Turn(t); }, kTurns - 3);
  }
}

TEST_CASE("training goes on as a program after each validation") {
  constexpr int kEpochs = 8, kValidations = 5;
  const ProgramRuns runs;
  std::vector<Floats> seen[2];
  for (const bool alone : {true, false}) {
    Training training({alone});
    for (int epoch = 0; epoch < kEpochs; ++epoch) {
      for (int t = 0; t < kTurns; ++t) training.Turn(epoch * kTurns + t);
      for (int t = 0; t < kValidations; ++t) {
        seen[alone].push_back(Values(training.Scores(t)));
      }
    }
  }
  CHECK(seen[0] == seen[1]);
  if (!IsNaive()) {
    CHECK(runs.count() >= kEpochs * (kTurns - 3));
  }
}

TEST_CASE("what somebody has is there after the turn") {
  std::vector<Floats> seen[2];
  int pace = 0;
  for (const bool alone : {true, false}) {
    std::vector<NDArray> losses;
    After({alone}, [&](Training& training, int t) {
      losses.push_back(training.Turn(t));
    });
    for (const NDArray& loss : losses) seen[pace].push_back(Values(loss));
    ++pace;
  }
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("who asks after each turn is told each turn's value") {
  std::vector<Floats> seen[2];
  int pace = 0;
  for (const bool alone : {true, false}) {
    const Left left = After({alone}, [&](Training& training, int t) {
      seen[pace].push_back(Values(training.Turn(t)));
      seen[pace].push_back(Values(training.gradient()));
    });
    if (!alone && !IsNaive()) CHECK(left.runs >= kTurns - 3);
    ++pace;
  }
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("a turn that is otherwise runs call by call") {
  const Op twice("_mul_scalar", {{"scalar", "2"}});
  CheckTurns(
      [&](Training& training, int t) {
        training.Turn(t);
        if (t == 4 || t == 7) {
          twice.Into(training.weight(), {training.weight().get()});
          training.pace().Step();
        }
        if (t == 6) {
          const Floats values = Drawn(24, 7);
          Expect(mxc_ndarray_write(training.weight().get(), values.data(),
                                   values.size() * sizeof(float)));
        }
      },
      1);
}

TEST_CASE("a value that fails fails what is computed from it alone") {
  for (const bool alone : {true, false}) {
    const Pace pace{alone};
    const Op add("elemwise_add"), half("_mul_scalar", {{"scalar", "0.5"}});
    const NDArray one = Make({2}, {1, 2}), other = Make({2}, {3, 4}),
                  step = Make({2}, {1, 1});
    for (int t = 0; t < kTurns; ++t) {
      if (t == 6) Expect(mxc_ndarray_fail(one.get(), "it broke"));
      const NDArray sum = add({one.get(), step.get()});
      pace.Step();
      half.Into(one, {sum.get()});
      const NDArray next = add({other.get(), step.get()});
      half.Into(other, {next.get()});
      if (alone) mxc_status_release(mxc_ndarray_wait(other.get()));
    }
    Floats values(2);
    CHECK(MessageOf(mxc_ndarray_read(one.get(), values.data(), 8))
              .find("it broke") != std::string::npos);
    // x' = (x + 1) / 2 goes to 1.
    CHECK(Values(other)[0] == doctest::Approx(1 + 2 * std::pow(0.5, kTurns)));
    mxc_status_release(mxc_ndarray_wait_all());
  }
}

TEST_CASE("views of what is written are seen as they are") {
  Floats seen[2];
  int pace = 0;
  for (const bool alone : {true, false}) {
    const Pace step{alone};
    const Op add("elemwise_add"), half("_mul_scalar", {{"scalar", "0.5"}});
    const NDArray all = Make({4, 2}, Drawn(8, 3)), begin = Slice(all, 0, 2),
                  end = Slice(all, 1, 3), data = Make({2, 2}, {1, 2, 3, 4});
    for (int t = 0; t < kTurns; ++t) {
      add.Into(begin, {end.get(), data.get()});
      step.Step();
      half.Into(all, {all.get()});
      step.Step();
      add.Into(end, {begin.get(), begin.get()});
      step.Step();
    }
    seen[pace++] = Values(all);
  }
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("what calls round one by one is rounded in a loop, too") {
  Floats seen[2];
  int pace = 0;
  for (const bool alone : {true, false}) {
    const Pace step{alone};
    const Op add("elemwise_add"), mul("elemwise_mul");
    const NDArray rate = Make({64}, Drawn(64, 1)),
                  some = Make({64}, Drawn(64, 2)),
                  sum = Make({64}, Drawn(64, 3));
    for (int t = 0; t < kTurns; ++t) {
      const NDArray product = mul({rate.get(), some.get()});
      step.Step();
      add.Into(sum, {sum.get(), product.get()});
      step.Step();
    }
    seen[pace++] = Values(sum);
  }
  CHECK(seen[0] == seen[1]);
}

TEST_CASE("threads have loops of their own") {
  Floats expected =
      After({true}, [](Training& training, int t) { training.Turn(t); }).state;
  std::vector<Floats> found(3);
  std::vector<std::thread> threads;
  for (Floats& one : found) {
    threads.emplace_back([&one] {
      Training training(Pace{});
      for (int t = 0; t < kTurns; ++t) training.Turn(t);
      one = training.State();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Floats& one : found) CHECK(one == expected);
}

TEST_CASE("who calls faster than is computed has few batches in memory") {
  if (IsNaive()) return;
  constexpr int kMany = 60;
  const Dims dims = {400, 400};
  const Op dot("dot"), add("elemwise_add");
  const NDArray weight = Make(dims, Drawn(160000, 1)),
                sum = Make(dims, Floats(160000));
  Floats batch = Drawn(160000, 2);
  // The last ones are released behind the end of their operation.
  static std::atomic<int> released = 0;
  int most = 0;
  for (int t = 0; t < kMany; ++t) {
    mxc_ndarray* made = nullptr;
    Expect(mxc_ndarray_over(
        MXC_F32, dims.data(), 2, batch.data(),
        [](void* count) { ++*static_cast<std::atomic<int>*>(count); },
        &released, &made));
    const NDArray data = Own(made);
    const NDArray once = dot({weight.get(), data.get()}),
                  twice = dot({weight.get(), once.get()});
    add.Into(sum, {sum.get(), twice.get()});
    most = std::max(most, t + 1 - released);
  }
  Expect(mxc_ndarray_wait_all());
  CHECK(most <= 12);
}

// Its forward part writes, too: the statistics.
TEST_CASE("a loop is cut behind its updates, whatever it writes before them") {
  if (IsNaive()) return;
  const Marked weight({2, 6}, Drawn(12, 5));
  const NDArray ones = Make({6}, Floats(6, 1)), zeros = Make({6}, Floats(6)),
                mean = Make({6}, Floats(6)),
                deviation = Make({6}, Floats(6, 1));
  const Op norm("BatchNorm"), softmax("SoftmaxOutput"),
      dense("FullyConnected", {{"num_hidden", "2"}, {"no_bias", "1"}}),
      update("sgd_update", {{"lr", "0.5"}});
  const NDArray label = Make({5}, {0, 1, 1, 0, 1});
  for (int turn = 0; turn < kTurns; ++turn) {
    const NDArray data = Make({5, 6}, Drawn(30, turn));
    const NDArray loss = [&] {
      const Recording recording;
      const NDArray normal = norm(
          {data.get(), ones.get(), zeros.get(), mean.get(), deviation.get()},
          true);
      const NDArray scores = dense({normal.get(), weight.get()}, true);
      return softmax({scores.get(), label.get()}, true);
    }();
    Expect(Backward(loss));
    update.Into(weight.array, {weight.get(), weight.gradient.get()});
  }
  Expect(mxc_ndarray_wait_all());
  const Json calls = Explained()[0]["calls"];
  REQUIRE(calls.size() == 5);
  CHECK(calls[0]["call"].get<std::string>().starts_with("BatchNorm"));
  CHECK(calls[4]["call"].get<std::string>().starts_with("sgd_update"));
}

TEST_CASE("what is drawn is drawn in the order of calls") {
  Floats seen[2];
  int pace = 0;
  for (const bool alone : {true, false}) {
    const Pace step{alone};
    const Op add("elemwise_add"), drop("Dropout", {{"p", "0.5"}}),
        half("_mul_scalar", {{"scalar", "0.5"}});
    Expect(mxc_ndarray_seed(5));
    const NDArray all = Make({4, 8}, Drawn(32, 3));
    for (int t = 0; t < kTurns; ++t) {
      const NDArray sum = add({all.get(), all.get()});
      step.Step();
      const NDArray less = drop({sum.get()}, true);
      step.Step();
      const NDArray again = add({less.get(), less.get()});
      step.Step();
      half.Into(all, {again.get()});
      step.Step();
    }
    seen[pace++] = Values(all);
  }
  CHECK(seen[0] == seen[1]);
}

}  // namespace
}  // namespace mxc::test
