// SPDX-License-Identifier: Apache-2.0
// The elements where they lie, arrays over the caller's memory, arrays that have no
// value, and what the table says of operators.
#include <doctest/doctest.h>

#include <cstddef>
#include <string>
#include <vector>

#include "tests/ndarray/handles.h"

namespace mxc::test {
namespace {

TEST_CASE("elements are read and written where they lie") {
  const NDArray a = Make({2, 2}, {1, 2, 3, 4});
  const NDArray row = Slice(a, 1, 2);
  const Op add("elemwise_add");
  add.Into(a, {a.get(), a.get()});
  void* elements = nullptr;
  Expect(mxc_ndarray_map(row.get(), 1, &elements));
  auto* const values = static_cast<float*>(elements);
  CHECK(values[0] == 6);
  values[1] = 9;
  CHECK(Values(add({a.get(), a.get()})) == std::vector<float>{4, 8, 12, 18});
}

TEST_CASE("an array over the caller's memory gives it back once") {
  std::vector<float> memory = {1, 2, 3};
  int released = 0;
  const Dims three = {3};
  const auto release = [](void* context) { ++*static_cast<int*>(context); };
  mxc_ndarray* made = nullptr;
  Expect(mxc_ndarray_over(MXC_F32, three.data(), 1, memory.data(), release,
                          &released, &made));
  {
    const NDArray a = Own(made);
    const NDArray view = Slice(a, 0, 1);
    Op("elemwise_add").Into(a, {a.get(), a.get()});
    CHECK(Values(view) == std::vector<float>{2});
    Expect(mxc_ndarray_wait_all());
    CHECK(released == 0);
  }
  CHECK(released == 1);
  CHECK(memory == std::vector<float>{2, 4, 6});
  const Dims none = {0};
  CHECK(MessageOf(mxc_ndarray_over(MXC_F32, none.data(), 1, memory.data(),
                                   release, &released, &made)) != "");
  CHECK(released == 2);
  auto* const odd = reinterpret_cast<std::byte*>(memory.data()) + 1;
  CHECK(MessageOf(mxc_ndarray_over(MXC_F32, three.data(), 1, odd, release,
                                   &released, &made)) ==
        "'elements' is not aligned to float32");
  CHECK(released == 3);
}

TEST_CASE("who asks for a value that could not be computed is told why") {
  const NDArray a = Make({2}, {1, 2});
  Expect(mxc_ndarray_fail(a.get(), "there is no such number"));
  const NDArray sum = Op("elemwise_add")({a.get(), a.get()});
  std::vector<float> values(2);
  for (const mxc_ndarray* array : {a.get(), sum.get()}) {
    CHECK(MessageOf(mxc_ndarray_read(array, values.data(), 8))
              .find("there is no such number") != std::string::npos);
  }
  values = {3, 4};
  Expect(mxc_ndarray_write(a.get(), values.data(), 8));
  CHECK(Values(a) == values);
  mxc_status_release(mxc_ndarray_wait_all());
}

TEST_CASE("the table has operators, and what attributes make of them") {
  const std::string table = mxc_ndarray_ops();
  CHECK(table.find("\"name\":\"BatchNorm\"") != std::string::npos);
  const char *name = "num_outputs", *value = "3", *json = nullptr;
  size_t outputs = 0;
  Expect(mxc_ndarray_op_signature("SliceChannel", &name, &value, 1, 1, &json,
                                  &outputs));
  CHECK(outputs == 3);
  Expect(mxc_ndarray_op_signature("BatchNorm", nullptr, nullptr, 0, 1, &json,
                                  nullptr));
  CHECK(
      std::string(json).find("{\"name\":\"moving_mean\",\"kind\":\"state\"}") !=
      std::string::npos);
  CHECK(MessageOf(mxc_ndarray_op_signature("BatchNor", nullptr, nullptr, 0, 1,
                                           &json, nullptr)) ==
        "there is no operator 'BatchNor'; did you mean 'BatchNorm'?");
}

}  // namespace
}  // namespace mxc::test
