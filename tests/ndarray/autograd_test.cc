// SPDX-License-Identifier: Apache-2.0
// Gradients of what was called, beside mathematics.
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "tests/ndarray/recorded.h"

namespace mxc::test {
namespace {

using Floats = std::vector<float>;

void CheckNear(const Floats& found, const Floats& wanted) {
  REQUIRE(found.size() == wanted.size());
  for (size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i] == doctest::Approx(wanted[i]).epsilon(1e-5));
  }
}

TEST_CASE("a product's gradient is the other factor, again and again") {
  const Op mul("elemwise_mul"), sum("sum");
  const Marked x({2, 2}, {1, 2, 3, 4});
  const NDArray y = Make({2, 2}, {5, 6, 7, 8});
  for (int turn = 0; turn < 3; ++turn) {
    const NDArray loss = [&] {
      const Recording recording;
      return sum({mul({x.get(), y.get()}).get()});
    }();
    CHECK(mxc_autograd_is_recorded(loss.get()) == 1);
    Expect(Backward(loss));
    CHECK(Values(x.gradient) == Floats{5, 6, 7, 8});
    CHECK(mxc_autograd_is_fresh(x.get()) == 1);
    mxc_autograd_set_fresh(x.array.get(), 0);
    CHECK(mxc_autograd_is_fresh(x.get()) == 0);
    CHECK(mxc_autograd_is_recorded(loss.get()) == 0);
  }
}

TEST_CASE("what is read twice, and by several, has the sum of all gradients") {
  const Op mul("elemwise_mul"), add("elemwise_add"), exp("exp");
  const Marked x({2}, {1, 2});
  const NDArray y = [&] {
    const Recording recording;
    const NDArray square = mul({x.get(), x.get()});
    return add({square.get(), exp({square.get()}).get()});
  }();
  Expect(Backward(y));
  CheckNear(Values(x.gradient),
            {2 * (1 + std::exp(1.F)), 4 * (1 + std::exp(4.F))});
}

TEST_CASE("gradients are written, added, or not asked for") {
  const Op mul("elemwise_mul");
  const Marked added({2}, {1, 2}, MXC_GRADIENT_ADD), written({2}, {3, 4}),
      constant({2}, {5, 6}, MXC_GRADIENT_NULL);
  for (int turn = 1; turn <= 2; ++turn) {
    const NDArray y = [&] {
      const Recording recording;
      return mul({mul({added.get(), written.get()}).get(), constant.get()});
    }();
    Expect(Backward(y));
    const auto turns = static_cast<float>(turn);
    CHECK(Values(added.gradient) == Floats{-7 + 15 * turns, -7 + 24 * turns});
    CHECK(Values(written.gradient) == Floats{5, 12});
    CHECK(Values(constant.gradient) == Floats{-7, -7});
  }
}

TEST_CASE("head gradients weigh heads, and loss heads ignore theirs") {
  const Op square("square"), softmax("SoftmaxOutput");
  const Marked x({2}, {3, 4}), score({1, 2}, {0, 0});
  const NDArray weight = Make({2}, {10, -1}), label = Make({1}, {1}),
                heavy = Make({1, 2}, {50, 50});
  const Recording recording;
  const NDArray y = square({x.get()});
  Expect(Backward(y, weight.get()));
  CHECK(Values(x.gradient) == Floats{60, -8});
  const NDArray p = softmax({score.get(), label.get()});
  Expect(Backward(p, heavy.get()));
  CheckNear(Values(score.gradient), {0.5, -0.5});
}

TEST_CASE("a graph that is retained serves again, and else it is gone") {
  const Op sin("sin");
  const Marked x({1}, {0.5});
  const NDArray y = [&] {
    const Recording recording;
    return sin({x.get()});
  }();
  Expect(Backward(y, nullptr, true));
  Expect(Backward(y));
  CheckNear(Values(x.gradient), {std::cos(0.5F)});
  CHECK(MessageOf(Backward(y)) ==
        "head 0, float32[1], has no gradient: it was not computed from a "
        "marked array while the thread recorded, or a backward call that did "
        "not retain the graph has used it");
}

TEST_CASE("gradients have gradients: sin, cos, -sin, -cos") {
  const Op sin("sin");
  const Marked x({2}, {0.3, -1.2});
  const Recording recording;
  const NDArray first = sin({x.get()});
  const NDArray second = GradientOf(first, x.get(), true);
  CheckNear(Values(second), {std::cos(0.3F), std::cos(-1.2F)});
  const NDArray third = GradientOf(second, x.get(), true);
  CheckNear(Values(third), {-std::sin(0.3F), -std::sin(-1.2F)});
  Expect(Backward(third));
  CheckNear(Values(x.gradient), {-std::cos(0.3F), -std::cos(-1.2F)});
}

TEST_CASE("gradients of gradients go through what is broadcast") {
  const Op mul("broadcast_mul"), tanh("tanh"), sum("sum");
  const Marked x({2, 2}, {1, 2, 3, 4}), w({1, 2}, {0.1, -0.2});
  const Recording recording;
  const NDArray y = tanh({mul({x.get(), w.get()}).get()});
  const NDArray slope = GradientOf(y, w.get(), true);
  Expect(Backward(sum({slope.get()})));
  // d/dx_ij of Σ_i x_ij (1 - tanh²(x_ij w_j))
  const Floats xs = {1, 2, 3, 4}, ws = {0.1F, -0.2F};
  Floats wanted;
  for (size_t i = 0; i < 4; ++i) {
    const float t = std::tanh(xs[i] * ws[i % 2]);
    wanted.push_back((1 - t * t) * (1 - 2 * xs[i] * ws[i % 2] * t));
  }
  CheckNear(Values(x.gradient), wanted);
}

TEST_CASE("a gradient of a gradient's norm goes through both") {
  const Op mul("elemwise_mul"), sum("sum");
  const Marked x({2}, {2, -3});
  const Recording recording;
  const NDArray cube = mul({mul({x.get(), x.get()}).get(), x.get()});
  const NDArray slope = GradientOf(cube, x.get(), true);           // 3x²
  Expect(Backward(sum({mul({slope.get(), slope.get()}).get()})));  // 9x⁴
  CheckNear(Values(x.gradient), {36 * 8, 36 * -27});
}

TEST_CASE("gradients stop at BlockGrad and at other handles of an array") {
  const Op mul("elemwise_mul"), block("BlockGrad");
  const Marked x({1}, {3});
  mxc_ndarray* other = nullptr;
  Expect(mxc_ndarray_detach(x.get(), &other));
  const NDArray detached = Own(other);
  const Recording recording;
  Expect(Backward(mul({x.get(), block({x.get()}).get()})));
  CHECK(Values(x.gradient) == Floats{3});
  Expect(Backward(mul({detached.get(), x.get()})));
  CHECK(Values(x.gradient) == Floats{3});
  CHECK(mxc_autograd_is_recorded(detached.get()) == 0);
}

TEST_CASE("views are recorded while the thread records") {
  const Op square("square");
  const Marked x({3, 2}, {1, 2, 3, 4, 5, 6});
  const Recording recording;
  const NDArray rows = Slice(x.array, 1, 3);
  const int64_t four = 4;
  mxc_ndarray* flat = nullptr;
  Expect(mxc_ndarray_reshape(rows.get(), &four, 1, &flat));
  Expect(Backward(square({Own(flat).get()})));
  CHECK(Values(x.gradient) == Floats{0, 0, 6, 8, 10, 12});
}

TEST_CASE("a value that was overwritten is told, and never used") {
  const Op square("square"), exp("exp");
  const Marked x({2}, {1, 2});
  NDArray y = [&] {
    const Recording recording;
    return square({x.get()});
  }();
  const Floats other = {5, 5};
  Expect(mxc_ndarray_write(x.get(), other.data(), 8));
  CHECK(MessageOf(Backward(y)) ==
        "the gradient of square(float32[2]) needs its input 0, which was "
        "overwritten after it was recorded");
  // What the gradient does not read may be written.
  y = [&] {
    const Recording recording;
    return exp({x.get()});
  }();
  Expect(mxc_ndarray_write(x.get(), Floats{0, 0}.data(), 8));
  Expect(Backward(y));
  CheckNear(Values(x.gradient), {std::exp(5.F), std::exp(5.F)});
  const Recording recording;
  std::vector<mxc_ndarray*> outputs = {x.get()};
  CHECK(MessageOf(square.Call({x.get()}, outputs, false)) ==
        "square is to write an array that was recorded, float32[2], while the "
        "thread records; write it outside, or give a new array");
}

TEST_CASE("a dropout's gradient has the mask of its call") {
  const Op dropout("Dropout", {{"p", "0.5"}});
  const Marked x({64}, Floats(64, 1));
  const Recording recording;
  const NDArray first = dropout({x.get()}, true),
                second = dropout({x.get()}, true);
  CHECK(Values(first) != Values(second));
  Expect(Backward(second));
  CHECK(Values(x.gradient) == Values(second));
  Expect(Backward(first));
  CHECK(Values(x.gradient) == Values(first));
}

TEST_CASE("calls of different modes lie in one graph") {
  const Op dropout("Dropout", {{"p", "0.5"}}), mul("elemwise_mul");
  const Marked x({64}, Floats(64, 3));
  const Recording recording;
  const NDArray train = dropout({x.get()}, true),
                score = dropout({x.get()}, false);
  const NDArray product = mul({train.get(), score.get()}, true);
  Expect(Backward(product));
  // d (m x · x) = 2 m x
  Floats wanted = Values(train);
  for (float& value : wanted) value *= 2;
  CheckNear(Values(x.gradient), wanted);
}

TEST_CASE("statistics that training writes are no reason to refuse") {
  const Op norm("BatchNorm", {{"fix_gamma", "False"}});
  const Marked data({4, 1}, {1, 2, 3, 6}), gamma({1}, {2}), beta({1}, {1});
  const NDArray mean = Make({1}, {0}), var = Make({1}, {1});
  for (const bool training : {true, false}) {
    const Recording recording;
    Expect(Backward(
        norm({data.get(), gamma.get(), beta.get(), mean.get(), var.get()},
             training)));
    CHECK(Values(beta.gradient) == Floats{4});
  }
}

TEST_CASE("threads have flags of their own") {
  const Op square("square");
  std::vector<std::thread> threads;
  std::vector<Floats> gradients(4);
  {
    const Recording recording;
    CHECK(mxc_autograd_set_training(1) == 0);
    for (size_t t = 0; t < gradients.size(); ++t) {
      threads.emplace_back([&, t] {
        const bool idle =
            mxc_autograd_is_recording() == 0 && mxc_autograd_is_training() == 0;
        const Marked x({1}, {static_cast<float>(t)});
        const NDArray constant = square({x.get()});
        for (int turn = 0; turn < 50; ++turn) {
          const Recording own;
          Expect(Backward(square({x.get()})));
        }
        gradients[t] = idle && mxc_autograd_is_recorded(constant.get()) == 0
                           ? Values(x.gradient)
                           : Floats();
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(mxc_autograd_set_training(0) == 1);
  }
  for (size_t t = 0; t < gradients.size(); ++t) {
    CHECK(gradients[t] == Floats{2 * static_cast<float>(t)});
  }
}

TEST_CASE("a graph of any length begins and ends") {
  const Op add("_plus_scalar", {{"scalar", "1"}});
  const Marked x({1}, {0});
  const Recording recording;
  NDArray y = add({x.get()});
  for (int i = 0; i < 100000; ++i) y = add({y.get()});
  CHECK(Values(y) == Floats{100001});
}

TEST_CASE("what has no gradient says so") {
  const Op square("square");
  const Marked x({2}, {1, 2});
  const NDArray plain = Make({2}, {1, 1});
  const Recording recording;
  CHECK(MessageOf(Backward(square({plain.get()})))
            .starts_with("head 0, float32[2], has no gradient"));
  const NDArray y = square({x.get()});
  CHECK(MessageOf(Backward(y, Make({1}, {1}).get())) ==
        "the gradient of head 0 is float32[1], expected float32[2]");
  mxc_ndarray *const heads[] = {y.get()}, *const variables[] = {plain.get()},
                     *gradient = nullptr;
  CHECK(MessageOf(mxc_autograd_gradient(heads, nullptr, 1, variables, 1, 1, 0,
                                        &gradient)) ==
        "variable 0, float32[2], was neither marked nor recorded");
  CHECK(MessageOf(mxc_autograd_mark(x.get(), Make({1}, {0}).get(),
                                    MXC_GRADIENT_WRITE)) ==
        "the gradient of float32[2] is to be written to float32[1]");
}

}  // namespace
}  // namespace mxc::test
