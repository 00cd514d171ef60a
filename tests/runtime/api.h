// SPDX-License-Identifier: Apache-2.0
// runtime/mxc.h with owners, for tests.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <vector>

#include "runtime/mxc.h"

namespace mxc::test {

struct Release {
  void operator()(mxc_model* model) const { mxc_model_close(model); }
  void operator()(mxc_executor* executor) const {
    mxc_executor_close(executor);
  }
};
using ModelHandle = std::unique_ptr<mxc_model, Release>;
using ExecutorHandle = std::unique_ptr<mxc_executor, Release>;

inline bool Contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The message, "" for success.
inline std::string Message(mxc_status* status) {
  const std::string message = mxc_status_message(status);
  mxc_status_release(status);
  return message;
}

inline ModelHandle Open(const std::string& path) {
  mxc_model* model = nullptr;
  REQUIRE(Message(mxc_model_open(path.c_str(), nullptr, &model)) == "");
  return ModelHandle(model);
}

// Why `path` cannot be opened.
inline std::string Refusal(const std::string& path, mxc_code* code = nullptr) {
  mxc_model* model = nullptr;
  mxc_status* status = mxc_model_open(path.c_str(), nullptr, &model);
  if (status == nullptr) mxc_model_close(model);
  if (code != nullptr) *code = mxc_status_code(status);
  return Message(status);
}

inline ExecutorHandle Bind(mxc_model* model, int threads,
                           bool profile = false) {
  mxc_bind_options options = MXC_BIND_OPTIONS;
  options.threads = threads;
  options.profile = profile;
  mxc_executor* executor = nullptr;
  REQUIRE(Message(mxc_bind(model, &options, &executor)) == "");
  return ExecutorHandle(executor);
}

inline void SetInput(mxc_executor* executor, const std::vector<float>& values) {
  REQUIRE(Message(mxc_set_input(executor, nullptr, values.data(),
                                values.size() * sizeof(float))) == "");
}

inline std::vector<float> Output(mxc_executor* executor, size_t index) {
  const void* memory = nullptr;
  size_t size = 0;
  REQUIRE(Message(mxc_map_output(executor, index, &memory, &size)) == "");
  const auto* values = static_cast<const float*>(memory);
  const std::vector<float> output(values, values + size / sizeof(float));
  REQUIRE(Message(mxc_unmap(executor, memory)) == "");
  return output;
}

}  // namespace mxc::test
