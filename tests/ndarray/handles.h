// SPDX-License-Identifier: Apache-2.0
// The handles of mxc_ndarray.h for tests: released by themselves, failures fail
// the test.
#pragma once

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/imperative/mxc_ndarray.h"

namespace mxc::test {

// The message; empty for success.
inline std::string MessageOf(mxc_status* status) {
  const std::string message = mxc_status_message(status);
  mxc_status_release(status);
  return message;
}

inline void Expect(mxc_status* status) { REQUIRE(MessageOf(status) == ""); }

using Dims = std::vector<int64_t>;
using NDArray = std::unique_ptr<mxc_ndarray, decltype(&mxc_ndarray_release)>;

inline NDArray Own(mxc_ndarray* array) { return {array, &mxc_ndarray_release}; }

inline NDArray Make(const Dims& dims, const std::vector<float>& values) {
  mxc_ndarray* array = nullptr;
  Expect(mxc_ndarray_create(MXC_F32, dims.data(), dims.size(), values.data(),
                            &array));
  return Own(array);
}

inline NDArray Slice(const NDArray& array, int64_t begin, int64_t end) {
  mxc_ndarray* view = nullptr;
  Expect(mxc_ndarray_slice(array.get(), begin, end, &view));
  return Own(view);
}

inline std::vector<float> Values(const mxc_ndarray* array) {
  std::vector<float> values(mxc_ndarray_bytes(array) / sizeof(float));
  Expect(mxc_ndarray_read(array, values.data(), values.size() * sizeof(float)));
  return values;
}
inline std::vector<float> Values(const NDArray& array) {
  return Values(array.get());
}

class Op {
 public:
  using Attrs = std::vector<std::pair<std::string, std::string>>;
  explicit Op(const std::string& name, const Attrs& attrs = {}) {
    Expect(Find(name, attrs, &op_));
  }
  Op(const Op&) = delete;
  Op& operator=(const Op&) = delete;
  ~Op() { mxc_ndarray_op_release(op_); }

  static mxc_status* Find(const std::string& name, const Attrs& attrs,
                          mxc_ndarray_op** op) {
    std::vector<const char*> names, values;
    for (const auto& [attr, value] : attrs) {
      names.push_back(attr.c_str());
      values.push_back(value.c_str());
    }
    return mxc_ndarray_op_find(name.c_str(), names.data(), values.data(),
                               names.size(), op);
  }

  mxc_status* Call(const std::vector<mxc_ndarray*>& inputs,
                   std::vector<mxc_ndarray*>& outputs, bool training) const {
    return mxc_ndarray_op_call(op_, inputs.data(), inputs.size(),
                               outputs.data(), outputs.size(),
                               training ? 1 : 0);
  }
  // The first output, new.
  NDArray operator()(const std::vector<mxc_ndarray*>& inputs,
                     bool training = false) const {
    std::vector<mxc_ndarray*> outputs = {nullptr};
    Expect(Call(inputs, outputs, training));
    return Own(outputs[0]);
  }
  // Into an array that is there.
  void Into(const NDArray& output,
            const std::vector<mxc_ndarray*>& inputs) const {
    std::vector<mxc_ndarray*> outputs = {output.get()};
    Expect(Call(inputs, outputs, false));
  }

 private:
  mxc_ndarray_op* op_ = nullptr;
};

}  // namespace mxc::test
