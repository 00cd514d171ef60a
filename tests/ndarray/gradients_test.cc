// SPDX-License-Identifier: Apache-2.0
// Gradients of drawn programs, of networks and of functions of the user's own,
// beside differences and beside each other.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/ndarray/graph_handle.h"
#include "tests/ndarray/recorded.h"

namespace mxc::test {
namespace {

using Floats = std::vector<float>;

// Operators of one argument, smooth where a value may lie, and of two.
struct Choice {
  const char* name;
  Op::Attrs attrs;
  size_t inputs;
};
const std::vector<Choice>& Choices() {
  static const std::vector<Choice> choices = {
      {"sin", {}, 1},
      {"tanh", {}, 1},
      {"sigmoid", {}, 1},
      {"square", {}, 1},
      {"arctan", {}, 1},
      {"softmax", {}, 1},
      {"_mul_scalar", {{"scalar", "0.5"}}, 1},
      {"_rminus_scalar", {{"scalar", "1"}}, 1},
      {"transpose", {{"axes", "(1, 0)"}}, 1},
      {"reverse", {{"axis", "0"}}, 1},
      {"elemwise_add", {}, 2},
      {"elemwise_mul", {}, 2},
      {"dot", {}, 2},
  };
  return choices;
}

constexpr int64_t kSide = 3;
constexpr size_t kElements = kSide * kSide;

// A chain in which each step reads the last value, and another where it reads
// two; the sum of all elements.
struct Chain {
  struct Step {
    size_t choice, other;
  };
  std::vector<Step> steps;

  static Chain Draw(std::mt19937& random) {
    Chain chain;
    const size_t length = 2 + random() % 5;
    for (size_t s = 0; s < length; ++s) {
      chain.steps.push_back({random() % Choices().size(), random() % (s + 1)});
    }
    return chain;
  }

  NDArray operator()(mxc_ndarray* x) const {
    static std::vector<std::unique_ptr<Op>> ops = [] {
      std::vector<std::unique_ptr<Op>> made;
      for (const Choice& choice : Choices()) {
        made.push_back(std::make_unique<Op>(choice.name, choice.attrs));
      }
      return made;
    }();
    static const Op sum("sum");
    std::vector<NDArray> values;
    const auto at = [&](size_t i) { return i == 0 ? x : values[i - 1].get(); };
    for (const Step& step : steps) {
      std::vector<mxc_ndarray*> inputs = {at(values.size())};
      if (Choices()[step.choice].inputs == 2) inputs.push_back(at(step.other));
      values.push_back((*ops[step.choice])(inputs));
    }
    return sum({values.back().get()});
  }
};

Floats DrawValues(std::mt19937& random) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  Floats values(kElements);
  for (float& value : values) value = uniform(random);
  return values;
}

// By central differences, whose error is that of f32.
Floats Differences(const Chain& chain, const Floats& at) {
  constexpr float kStep = 0.01F;
  Floats slopes;
  for (size_t i = 0; i < at.size(); ++i) {
    Floats above = at, below = at;
    above[i] += kStep;
    below[i] -= kStep;
    const float high = Values(chain(Make({kSide, kSide}, above).get()))[0];
    const float low = Values(chain(Make({kSide, kSide}, below).get()))[0];
    slopes.push_back((high - low) / (2 * kStep));
  }
  return slopes;
}

void CheckNear(const Floats& found, const Floats& wanted, double tolerance) {
  REQUIRE(found.size() == wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(std::abs(found[i] - wanted[i]) <=
          tolerance * (1 + std::abs(wanted[i])));
  }
}

TEST_CASE("gradients of drawn chains of operators are their differences") {
  std::mt19937 random(11);
  for (int turn = 0; turn < 12; ++turn) {
    const Chain chain = Chain::Draw(random);
    const Floats values = DrawValues(random);
    const Marked x({kSide, kSide}, values);
    const NDArray y = [&] {
      const Recording recording;
      return chain(x.get());
    }();
    Expect(Backward(y));
    CheckNear(Values(x.gradient), Differences(chain, values), 0.01);
  }
}

// tanh(FullyConnected(x, w, b)), then the same of that with other weights.
const std::string kTwoLayers = R"({"nodes": [
  {"op": "null", "name": "data", "inputs": []},
  {"op": "null", "name": "w1", "inputs": []},
  {"op": "null", "name": "b1", "inputs": []},
  {"op": "FullyConnected", "name": "fc1", "attrs": {"num_hidden": "4"},
   "inputs": [[0, 0, 0], [1, 0, 0], [2, 0, 0]]},
  {"op": "Activation", "name": "act", "attrs": {"act_type": "tanh"},
   "inputs": [[3, 0, 0]]},
  {"op": "null", "name": "w2", "inputs": []},
  {"op": "null", "name": "b2", "inputs": []},
  {"op": "FullyConnected", "name": "fc2", "attrs": {"num_hidden": "2"},
   "inputs": [[4, 0, 0], [5, 0, 0], [6, 0, 0]]}],
  "arg_nodes": [0, 1, 2, 5, 6], "heads": [[7, 0, 0]],
  "attrs": {"mxnet_version": ["int", 10901]}})";

TEST_CASE("a network's gradient is that of its operators, one by one") {
  std::mt19937 random(2);
  const auto draw = [&](const Dims& dims) {
    std::uniform_real_distribution<float> uniform(-1, 1);
    size_t count = 1;
    for (const int64_t dim : dims) count *= static_cast<size_t>(dim);
    Floats values(count);
    for (float& value : values) value = uniform(random);
    return std::make_unique<Marked>(dims, values);
  };
  std::vector<std::unique_ptr<Marked>> inputs;
  for (const Dims& dims :
       {Dims{5, 3}, Dims{4, 3}, Dims{4}, Dims{2, 4}, Dims{2}}) {
    inputs.push_back(draw(dims));
  }
  const NetworkHandle network(kTwoLayers);
  const Op first("FullyConnected", {{"num_hidden", "4"}}),
      second("FullyConnected", {{"num_hidden", "2"}}),
      act("Activation", {{"act_type", "tanh"}}), square("square");
  const auto in = [&](size_t i) { return inputs[i]->get(); };
  std::vector<Floats> by_network, by_operators;
  {
    const Recording recording;
    const auto outputs =
        network.Call({in(0), in(1), in(2), in(3), in(4)}, true);
    Expect(Backward(square({outputs[0].get()})));
    for (const auto& input : inputs) {
      by_network.push_back(Values(input->gradient));
    }
  }
  {
    const Recording recording;
    const NDArray hidden = act({first({in(0), in(1), in(2)}).get()});
    const NDArray output = second({hidden.get(), in(3), in(4)});
    Expect(Backward(square({output.get()})));
    for (const auto& input : inputs) {
      by_operators.push_back(Values(input->gradient));
    }
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    CheckNear(by_network[i], by_operators[i], 1e-5);
  }
}

TEST_CASE("a dropout within a network has one mask, forwards and backwards") {
  const NetworkHandle network(R"({"nodes": [
    {"op": "null", "name": "data", "inputs": []},
    {"op": "sin", "name": "s", "inputs": [[0, 0, 0]]},
    {"op": "Dropout", "name": "d", "attrs": {"p": "0.5"},
     "inputs": [[1, 0, 0]]}],
    "arg_nodes": [0], "heads": [[2, 0, 0]],
    "attrs": {"mxnet_version": ["int", 10901]}})");
  const Marked x({64}, Floats(64, 0.5));
  const Recording recording;
  const auto outputs = network.Call({x.get()}, true);
  Expect(Backward(outputs[0]));
  // Where sin(x) · mask is 0 the mask is.
  Floats wanted = Values(outputs[0]);
  for (float& value : wanted) {
    value *= std::cos(0.5F) / std::sin(0.5F);
  }
  CheckNear(Values(x.gradient), wanted, 1e-5);
}

// y = 3x as a function whose gradient says 5, or what it is told to say.
struct Told {
  std::function<mxc_status*(mxc_ndarray* head, mxc_ndarray** gradient)> say;
  int calls = 0, releases = 0;

  static mxc_status* Call(void* user, mxc_ndarray* const* heads, size_t,
                          mxc_ndarray** gradients, size_t) {
    auto& told = *static_cast<Told*>(user);
    ++told.calls;
    return told.say(heads[0], gradients);
  }
  static void Release(void* user) { ++static_cast<Told*>(user)->releases; }
};

NDArray Tripled(const Marked& x, Told& told) {
  const Op triple("_mul_scalar", {{"scalar", "3"}});
  NDArray y = [&] {
    const Recording paused(false);
    return triple({x.get()});
  }();
  mxc_ndarray *const inputs[] = {x.get()}, *const outputs[] = {y.get()};
  Expect(mxc_autograd_record(inputs, 1, outputs, 1, Told::Call, &told,
                             Told::Release));
  return y;
}

TEST_CASE("a function of the user's own says its gradient") {
  const Op five("_mul_scalar", {{"scalar", "5"}}), square("square");
  const Marked x({2}, {1, 2});
  Told told;
  told.say = [&](mxc_ndarray* head, mxc_ndarray** gradient) {
    CHECK(mxc_autograd_is_recording() == 0);
    *gradient = five({head}).release();
    return nullptr;
  };
  const Recording recording;
  Expect(Backward(square({Tripled(x, told).get()})));
  CHECK(Values(x.gradient) == Floats{2 * 3 * 5, 2 * 6 * 5});
  CHECK(told.calls == 1);
  CHECK(told.releases == 1);
  // It stands between other calls, on both sides.
  NDArray y = square({x.get()});
  CHECK(told.releases == 1);
  const Marked other({2}, {1, 1});
  y = square({Tripled(x, told).get()});
  const Op add("elemwise_add");
  Expect(Backward(add({y.get(), square({x.get()}).get()})));
  CHECK(Values(x.gradient) == Floats{30 + 2, 60 + 4});
}

TEST_CASE("what such a function fails with, or gives wrongly, is told") {
  const Marked x({2}, {1, 2});
  Told told;
  const Recording recording;
  told.say = [](mxc_ndarray*, mxc_ndarray**) {
    return mxc_autograd_failure("no gradient today");
  };
  CHECK(MessageOf(Backward(Tripled(x, told))) == "no gradient today");
  told.say = [](mxc_ndarray*, mxc_ndarray** gradient) {
    *gradient = Make({3}, {1, 2, 3}).release();
    return nullptr;
  };
  CHECK(MessageOf(Backward(Tripled(x, told))) ==
        "the gradient that a function of the user's own gives for its input 0 "
        "is float32[3], expected float32[2]");
  CHECK(told.releases == 2);
  mxc_ndarray* none = nullptr;
  CHECK(MessageOf(mxc_autograd_record(&none, 1, &none, 1, Told::Call, &told,
                                      Told::Release)) == "'inputs[0]' is null");
  CHECK(told.releases == 3);
}

}  // namespace
}  // namespace mxc::test
