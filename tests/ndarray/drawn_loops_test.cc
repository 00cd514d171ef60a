// SPDX-License-Identifier: Apache-2.0
// Drawn loops leave, turn by turn, what their calls leave one by one, whatever
// of them became programs. MXC_DRAWN_LOOPS=N draws as many.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/ndarray/loops.h"
#include "tests/ndarray/recorded.h"

namespace mxc::test {
namespace {

using Floats = std::vector<float>;

constexpr int kDrawnTurns = 12;
constexpr int64_t kWidth = 6;

class Draw {
 public:
  explicit Draw(int seed) : random_(static_cast<unsigned>(seed)) {}
  int Below(size_t end) { return static_cast<int>(random_() % end); }
  bool OneOf(size_t times) { return Below(times) == 0; }
  int From(const std::vector<int>& some) {
    return some.at(static_cast<size_t>(Below(some.size())));
  }
  Floats Values(int64_t rows) {
    std::normal_distribution<float> normal(0, 0.5F);
    Floats values(static_cast<size_t>(rows * kWidth));
    for (float& value : values) value = normal(random_);
    return values;
  }

 private:
  std::mt19937 random_;
};

// Its result has the shape of the first input, and so has a second one, unless
// it is a weight.
struct Known {
  explicit Known(const std::string& name, int inputs = 1,
                 const Op::Attrs& attrs = {}, bool has_weight = false)
      : inputs(inputs), has_weight(has_weight), op(name, attrs) {}
  const int inputs;
  const bool has_weight;
  const Op op;
};

constexpr size_t kOperators = 12, kWithGradients = 10;

const Known& OperatorAt(int at) {
  static const Known all[kOperators] = {
      Known("tanh"),
      Known("relu"),
      Known("sigmoid"),
      Known("softmax"),
      Known("_mul_scalar", 1, {{"scalar", "0.75"}}),
      Known("_plus_scalar", 1, {{"scalar", "0.125"}}),
      Known("elemwise_add", 2),
      Known("elemwise_sub", 2),
      Known("elemwise_mul", 2),
      Known("FullyConnected", 2, {{"num_hidden", "6"}, {"no_bias", "1"}}, true),
      Known("sgd_update", 2, {{"lr", "0.1"}}),
      Known("Dropout", 1, {{"p", "0.5"}}),
  };
  return all[at];
}

// Slots of values: variables, their gradients, one more array, views of pairs of
// its rows, weight; behind them the results of calls, one each.
constexpr int kVariables = 2, kGradients = 2, kMore = 4, kViews = 5,
              kWeight = 8, kResults = 9;

struct DrawnCall {
  int op = 0, output = 0;
  std::vector<int> inputs;
  int rows = 4;
  bool is_asked = false;  // for what it wrote, each turn
  bool is_held = false;   // its result, until the next turn's
};

// What one loop does in each turn, and in which turns it does something else.
class DrawnLoop {
 public:
  // `is_one_of_many`: draws nothing in its turns, which would follow from what
  // others draw.
  explicit DrawnLoop(int seed, bool is_one_of_many = false)
      : draw_(seed), operators_(kOperators - (is_one_of_many ? 1 : 0)) {
    calls_.resize(3 + static_cast<size_t>(draw_.Below(10)));
    recorded_ = draw_.OneOf(2) ? 1 + draw_.Below(calls_.size() - 1) : 0;
    for (int i = 0; i < size(); ++i) {
      at(i).rows = i < recorded_ || !draw_.OneOf(5) ? 4 : 2;
      at(i).is_held = draw_.OneOf(4);
    }
    for (int i = 0; i < size(); ++i) DrawCall(i);
    asked_turn_ = draw_.Below(3 * kDrawnTurns);
    written_turn_ = draw_.Below(2 * kDrawnTurns);
    short_turn_ = draw_.Below(2 * kDrawnTurns);
  }

  // What was asked for in each turn, and in the end all that stays. `alone`:
  // each call is waited for.
  Floats Run(bool alone) const;

 private:
  class Turns;

  int size() const { return static_cast<int>(calls_.size()); }
  DrawnCall& at(int call) { return calls_.at(static_cast<size_t>(call)); }
  int RowsOf(int slot) const {
    if (slot >= kResults)
      return calls_[static_cast<size_t>(slot - kResults)].rows;
    if (slot == kWeight) return 6;
    return slot >= kViews ? 2 : 4;
  }

  // A slot of so many rows in which there is something before the call.
  int DrawInput(int call, int rows) {
    std::vector<int> slots;
    for (int slot = 0; slot < kResults + size(); ++slot) {
      const int result = slot - kResults;
      const bool is_there = result < 0 || at(result).is_held ||
                            (result < call && at(result).output == slot);
      if (is_there && RowsOf(slot) == rows) slots.push_back(slot);
    }
    return draw_.From(slots);
  }

  void DrawCall(int i) {
    DrawnCall& call = at(i);
    const bool records = i < recorded_;
    call.op = draw_.Below(records ? kWithGradients : operators_);
    call.is_asked = draw_.OneOf(12);
    call.output = kResults + i;
    // What is recorded is a chain from a variable.
    call.inputs = {!records ? DrawInput(i, call.rows)
                   : i == 0 ? 0
                            : kResults + i - 1};
    const Known& known = OperatorAt(call.op);
    if (known.inputs == 2) {
      call.inputs.push_back(known.has_weight ? kWeight
                                             : DrawInput(i, call.rows));
    }
    if (!records && draw_.OneOf(3)) {
      call.output =
          call.rows == 4 ? draw_.Below(kViews) : kViews + draw_.Below(3);
    }
  }

  Draw draw_;
  const size_t operators_;  // the first so many
  std::vector<DrawnCall> calls_;
  int recorded_ = 0;  // the first so many calls; 0: there are no gradients
  // The turn after which all values are asked for; before which one is written;
  // that lacks its last call. Perhaps it does not come.
  int asked_turn_ = 0, written_turn_ = 0, short_turn_ = 0;
};

class DrawnLoop::Turns {
 public:
  Turns(const DrawnLoop& loop, bool alone) : loop_(loop), alone_(alone) {
    Draw draw(1);
    const auto add = [&](NDArray array) { slots_.push_back(std::move(array)); };
    for (int i = 0; i < kViews; ++i) add(Make({4, kWidth}, draw.Values(4)));
    for (int i = 0; i < 3; ++i) add(Slice(at(kMore), i, i + 2));
    add(Make({6, kWidth}, draw.Values(6)));
    for (const DrawnCall& call : loop_.calls_) {
      add(Make({call.rows, kWidth}, draw.Values(call.rows)));
    }
    if (loop_.recorded_ == 0) return;
    for (int i = 0; i < kVariables; ++i) {
      Expect(mxc_autograd_mark(at(i).get(), at(kGradients + i).get(),
                               MXC_GRADIENT_WRITE));
    }
  }

  Floats Run() {
    for (int t = 0; t < kDrawnTurns; ++t) Turn(t);
    for (int slot = 0; slot < kResults; ++slot) See(slot);
    return std::move(seen_);
  }

 private:
  NDArray& at(int slot) { return slots_.at(static_cast<size_t>(slot)); }

  void Turn(int t) {
    if (t == loop_.written_turn_) {
      const Floats values = Draw(t).Values(4);
      Expect(mxc_ndarray_write(at(kMore).get(), values.data(),
                               values.size() * sizeof(float)));
    }
    const int calls = loop_.size() - (t == loop_.short_turn_ ? 1 : 0);
    if (loop_.recorded_ > 0) Train();
    for (int i = loop_.recorded_; i < calls; ++i) Call(i);
    if (t == loop_.asked_turn_) {
      for (int slot = 0; slot < kResults; ++slot) See(slot);
    }
    for (int i = 0; i < loop_.size(); ++i) {
      if (!loop_.calls_[static_cast<size_t>(i)].is_held) {
        at(kResults + i).reset();
      }
    }
  }

  void Train() {
    {
      const Recording recording;
      for (int i = 0; i < loop_.recorded_; ++i) Call(i);
    }
    Expect(Backward(at(kResults + loop_.recorded_ - 1)));
    Step();
  }

  void Call(int i) {
    const DrawnCall& call = loop_.calls_[static_cast<size_t>(i)];
    std::vector<mxc_ndarray*> inputs;
    for (const int slot : call.inputs) inputs.push_back(at(slot).get());
    const Op& op = OperatorAt(call.op).op;
    if (call.output < kResults) {
      op.Into(at(call.output), inputs);
    } else {
      at(call.output) = op(inputs, true);
    }
    Step();
    if (call.is_asked) See(call.output);
  }

  void Step() const {
    if (alone_) Expect(mxc_ndarray_wait_all());
  }

  void See(int slot) {
    const Floats values = Values(at(slot));
    seen_.insert(seen_.end(), values.begin(), values.end());
  }

  const DrawnLoop& loop_;
  const bool alone_;
  std::vector<NDArray> slots_;
  Floats seen_;
};

Floats DrawnLoop::Run(bool alone) const {
  Expect(mxc_ndarray_seed(7));
  return Turns(*this, alone).Run();
}

// Numbers that are none are the same, whatever is in their bits.
bool AreSame(const Floats& a, const Floats& b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return x == y || (std::isnan(x) && std::isnan(y));
  });
}

int LoopsToDraw() {
  const char* const more = std::getenv("MXC_DRAWN_LOOPS");
  return more == nullptr ? 100 : std::atoi(more);
}

TEST_CASE("drawn loops leave what their calls leave one by one") {
  for (int seed = 0; seed < LoopsToDraw(); ++seed) {
    INFO("seed " << seed);
    const DrawnLoop loop(seed);
    const Floats alone = loop.Run(true);
    CHECK(AreSame(loop.Run(false), alone));
  }
}

TEST_CASE("drawn loops of several threads do not see each other") {
  constexpr size_t kThreads = 3;
  for (int seed = 0; seed < LoopsToDraw(); seed += kThreads) {
    INFO("seed " << seed);
    std::vector<DrawnLoop> loops;
    std::vector<Floats> alone, beside(kThreads);
    for (size_t i = 0; i < kThreads; ++i) {
      loops.emplace_back(seed + static_cast<int>(i), true);
      alone.push_back(loops[i].Run(true));
    }
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
      threads.emplace_back([&, i] { beside[i] = loops[i].Run(false); });
    }
    for (std::thread& thread : threads) thread.join();
    for (size_t i = 0; i < kThreads; ++i) CHECK(AreSame(beside[i], alone[i]));
  }
}

}  // namespace
}  // namespace mxc::test
