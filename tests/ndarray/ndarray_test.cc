// SPDX-License-Identifier: Apache-2.0
// Arrays and operators called one by one: values by arithmetic, orders by drawn
// programs that are also computed here, one call after the other.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/ndarray/handles.h"

namespace mxc::test {
namespace {

using doctest::Approx;

TEST_CASE("an operator gives a new array") {
  const NDArray a = Make({2, 3}, {1, 2, 3, 4, 5, 6});
  const NDArray b = Make({3}, {10, 20, 30});
  const Op add("broadcast_add");
  const NDArray sum = add({a.get(), b.get()});
  CHECK(mxc_ndarray_dtype(sum.get()) == MXC_F32);
  REQUIRE(mxc_ndarray_rank(sum.get()) == 2);
  CHECK(mxc_ndarray_dims(sum.get())[0] == 2);
  CHECK(mxc_ndarray_dims(sum.get())[1] == 3);
  CHECK(Values(sum) == std::vector<float>{11, 22, 33, 14, 25, 36});
  // Other types of operands are other code.
  CHECK(Values(add({b.get(), b.get()})) == std::vector<float>{20, 40, 60});
}

TEST_CASE(
    "views share memory, and what is written over an input is read first") {
  const NDArray a = Make({4, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
  const NDArray head = Slice(a, 0, 3), tail = Slice(a, 1, 4);
  const Op add("elemwise_add"), reverse("reverse", {{"axis", "0"}});
  add.Into(tail, {head.get(), tail.get()});  // each reads what the other writes
  CHECK(Values(a) == std::vector<float>{1, 2, 4, 6, 8, 10, 12, 14});
  reverse.Into(a, {a.get()});
  CHECK(Values(a) == std::vector<float>{12, 14, 8, 10, 4, 6, 1, 2});
  CHECK(Values(head) == std::vector<float>{12, 14, 8, 10, 4, 6});
  mxc_ndarray* flat = nullptr;
  const Dims eight = {8};
  Expect(mxc_ndarray_reshape(a.get(), eight.data(), 1, &flat));
  const NDArray owned = Own(flat);
  const float zeros[8] = {};
  Expect(mxc_ndarray_write(flat, zeros, sizeof zeros));
  CHECK(Values(head) == std::vector<float>(6, 0));
}

// Arrays of some rows each, and the same numbers as plain vectors.
struct Both {
  std::vector<NDArray> arrays;
  std::vector<std::vector<float>> values;
};

constexpr int64_t kRows = 6, kColumns = 3;

void DrawCall(std::mt19937& random, const std::vector<Op*>& ops, Both& both) {
  const auto below = [&](size_t n) { return random() % n; };
  const size_t x = below(both.arrays.size()), y = below(both.arrays.size()),
               to = below(both.arrays.size());
  const auto rows = static_cast<int64_t>(1 + below(kRows));
  const auto row_of = [&] {
    return static_cast<int64_t>(below(static_cast<size_t>(kRows - rows + 1)));
  };
  const int64_t at_x = row_of(), at_y = row_of(), at_to = row_of();
  const size_t op = below(ops.size());
  const NDArray a = Slice(both.arrays[x], at_x, at_x + rows);
  const NDArray b = Slice(both.arrays[y], at_y, at_y + rows);
  ops[op]->Into(Slice(both.arrays[to], at_to, at_to + rows),
                {a.get(), b.get()});
  std::vector<float> result;
  for (int64_t i = 0; i < rows * kColumns; ++i) {
    const float p = both.values[x][static_cast<size_t>(at_x * kColumns + i)];
    const float q = both.values[y][static_cast<size_t>(at_y * kColumns + i)];
    result.push_back(op == 0 ? p + q : op == 1 ? p - q : std::max(p, q));
  }
  std::copy(result.begin(), result.end(),
            both.values[to].begin() + at_to * kColumns);
}

TEST_CASE("drawn calls over views leave what they leave one by one") {
  std::mt19937 random(3);
  Op add("elemwise_add"), sub("elemwise_sub"), larger("_maximum");
  const std::vector<Op*> ops = {&add, &sub, &larger};
  Both both;
  for (int i = 0; i < 5; ++i) {
    std::vector<float> values(kRows * kColumns);
    for (float& value : values) value = static_cast<float>(random() % 7);
    both.arrays.push_back(Make({kRows, kColumns}, values));
    both.values.push_back(values);
  }
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 15; ++i) DrawCall(random, ops, both);
    for (size_t i = 0; i < both.arrays.size(); ++i) {
      REQUIRE(Values(both.arrays[i]) == both.values[i]);
    }
    // Numbers stay exact.
    for (size_t i = 0; i < both.arrays.size(); ++i) {
      for (float& value : both.values[i]) value = std::fmod(value, 64.0f);
      Expect(mxc_ndarray_write(both.arrays[i].get(), both.values[i].data(),
                               both.values[i].size() * sizeof(float)));
    }
  }
}

TEST_CASE("what takes longer than handing it over comes in order, too") {
  const int64_t n = 192;
  std::vector<float> identity(n * n), ones(n * n, 1);
  for (int64_t i = 0; i < n; ++i) identity[i * (n + 1)] = 2;
  const NDArray twice = Make({n, n}, identity), x = Make({n, n}, ones);
  const NDArray row = Slice(x, 0, 1),
                one = Make({1, n}, std::vector<float>(n, 1));
  const Op dot("dot"), add("elemwise_add");
  add({one.get(), one.get()});  // compiled: the next call takes no time
  dot({twice.get(), twice.get()});
  for (int i = 0; i < 10; ++i) dot.Into(x, {x.get(), twice.get()});
  add.Into(row, {row.get(), one.get()});  // brief, but not before its turn
  std::vector<float> wanted(n * n, 1024);
  std::fill_n(wanted.begin(), n, 1025.0f);
  CHECK(Values(x) == wanted);
  Expect(mxc_ndarray_wait_all());
}

TEST_CASE("an optimizer's operator writes its states") {
  const NDArray weight = Make({2}, {1, 2}), grad = Make({2}, {0.5, -1}),
                mom = Make({2}, {0, 4});
  const Op sgd("sgd_mom_update", {{"lr", "0.5"}, {"momentum", "0.25"}});
  sgd.Into(weight, {weight.get(), grad.get(), mom.get()});
  // mom = momentum * mom - lr * grad; weight += mom
  CHECK(Values(mom) == std::vector<float>{-0.25, 1.5});
  CHECK(Values(weight) == std::vector<float>{0.75, 3.5});
}

TEST_CASE("draws follow from the seed and the order of calls") {
  const NDArray x = Make({1000}, std::vector<float>(1000, 1));
  const Op dropout("Dropout", {{"p", "0.25"}});
  const auto draw = [&] { return Values(dropout({x.get()}, true)); };
  Expect(mxc_ndarray_seed(7));
  const std::vector<float> first = draw(), second = draw();
  Expect(mxc_ndarray_seed(7));
  CHECK(draw() == first);
  CHECK(draw() == second);
  CHECK(first != second);
  Expect(mxc_ndarray_seed(8));
  CHECK(draw() != first);
  // 750 of 1000 stay, give or take six deviations; those are divided by 0.75.
  const auto kept = 1000 - std::count(first.begin(), first.end(), 0.0f);
  CHECK(std::abs(static_cast<double>(kept) - 750) < 6 * std::sqrt(187.5));
  CHECK(*std::max_element(first.begin(), first.end()) == Approx(1 / 0.75));
  CHECK(Values(dropout({x.get()})) == std::vector<float>(1000, 1));
}

TEST_CASE("what does not fit is said by the call") {
  const NDArray a = Make({2, 3}, std::vector<float>(6)),
                b = Make({4}, {1, 2, 3, 4});
  mxc_ndarray_op* op = nullptr;
  CHECK(MessageOf(Op::Find("broadcast_ad", {}, &op)) ==
        "there is no operator 'broadcast_ad'; did you mean 'broadcast_add'?");
  CHECK(MessageOf(Op::Find("Dropout", {{"p", "2"}}, &op)) != "");
  CHECK(MessageOf(Op::Find("Dropout", {{"q", "0.5"}}, &op)) != "");
  const Op add("broadcast_add");
  std::vector<mxc_ndarray*> outputs = {nullptr};
  CHECK(MessageOf(add.Call({a.get(), b.get()}, outputs, false))
            .find("broadcast_add(float32[2,3], float32[4]): ") == 0);
  CHECK(MessageOf(add.Call({a.get()}, outputs, false)) ==
        "broadcast_add(float32[2,3]): 1 inputs are given, expected 2");
  CHECK(MessageOf(add.Call({a.get(), nullptr}, outputs, false)) ==
        "'inputs[1]' is null");
  outputs = {b.get()};
  CHECK(MessageOf(add.Call({a.get(), a.get()}, outputs, false)) ==
        "broadcast_add(float32[2,3], float32[2,3]) gives float32[2,3], and "
        "float32[4] is given for it");
  const Op split("SliceChannel", {{"num_outputs", "3"}});
  const NDArray column = Make({2, 1}, {0, 0});
  outputs = {column.get(), nullptr, column.get()};
  CHECK(MessageOf(split.Call({a.get()}, outputs, false)) ==
        "outputs 0 and 2 of SliceChannel(float32[2,3]) lie over one another");
  mxc_ndarray* none = nullptr;
  const Dims empty = {2, 0}, large = {1 << 30, 1 << 30};
  CHECK(
      MessageOf(mxc_ndarray_create(MXC_F32, empty.data(), 2, nullptr, &none)) ==
      "an array of shape [2,0] has no elements");
  CHECK(
      MessageOf(mxc_ndarray_create(MXC_F32, large.data(), 2, nullptr, &none)) ==
      "an array of shape [1073741824,1073741824] has more than 2^47 bytes");
  CHECK(MessageOf(mxc_ndarray_slice(a.get(), 1, 3, &none)) ==
        "float32[2,3] has no rows from 1 to before 3");
  CHECK(
      MessageOf(mxc_ndarray_reshape(a.get(), large.data(), 1, &none)) ==
      "float32[2,3] cannot become float32[1073741824]: it has other elements");
}

TEST_CASE("threads compute at once, each in its own order") {
  std::vector<std::thread> threads;
  std::vector<std::vector<float>> results(4);
  const Op add("elemwise_add");
  for (size_t t = 0; t < results.size(); ++t) {
    threads.emplace_back([&, t] {
      const NDArray one = Make({64}, std::vector<float>(64, 1));
      const NDArray sum = Make({64}, std::vector<float>(64));
      for (int i = 0; i < 500; ++i) add.Into(sum, {sum.get(), one.get()});
      results[t] = Values(sum);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& result : results) {
    CHECK(result == std::vector<float>(64, 500));
  }
}

}  // namespace
}  // namespace mxc::test
