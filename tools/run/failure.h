// SPDX-License-Identifier: Apache-2.0
// Carries errors to the command line, the one place of these tools that prints
// them.
#pragma once

#include <exception>
#include <string>
#include <utility>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::run {

// What the user has to put right: each message is one sentence.
class Failure : public std::exception {
 public:
  explicit Failure(std::string message) : messages_{std::move(message)} {}
  explicit Failure(std::vector<std::string> messages)
      : messages_(std::move(messages)) {}

  const std::vector<std::string>& messages() const { return messages_; }
  const char* what() const noexcept override {
    return messages_.front().c_str();
  }

 private:
  std::vector<std::string> messages_;
};

// The value, or its status thrown.
template <class T>
T Take(runtime::StatusOr<T> value) {
  if (!value.ok()) throw Failure(value.status().message());
  return std::move(*value);
}

inline void Require(const runtime::Status& status) {
  if (!status.ok()) throw Failure(status.message());
}

}  // namespace mxc::run
