// SPDX-License-Identifier: Apache-2.0
// Circumstances at run time (a file, a device, memory): a code and one
// sentence, in lower case and without a full stop.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace mxc::runtime {

// The numbers of mxc_code in runtime/mxc.h.
enum class StatusCode {
  kOk = 0,
  kInvalidArgument = 1,  // the caller's mistake
  kNotFound = 2,         // no such file, name or entry
  kCorrupt = 3,          // a file that is not what it says it is
  kUnsupported = 4,      // legal, but not for this build or this machine
  kOutOfMemory = 5,
  kIo = 6,      // the operating system refused
  kBusy = 7,    // another thread is using it
  kFailed = 8,  // a function that the model calls
};

class [[nodiscard]] Status {
 public:
  Status() = default;  // success
  Status(StatusCode code, std::string message)
      : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == StatusCode::kOk; }
  StatusCode code() const { return code_; }
  const std::string& message() const { return message_; }

 private:
  StatusCode code_ = StatusCode::kOk;
  std::string message_;
};

// A value, or the status that says why there is none.
template <class T>
class [[nodiscard]] StatusOr {
 public:
  StatusOr(T value) : value_(std::move(value)) {}
  StatusOr(Status status) : status_(std::move(status)) {
    assert(!status_.ok());
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }
  T& operator*() { return *value_; }
  const T& operator*() const { return *value_; }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  Status status_;
  std::optional<T> value_;
};

// printf into a string, and into a status.
[[gnu::format(printf, 1, 2)]] std::string Format(const char* format, ...);
[[gnu::format(printf, 2, 3)]] Status Fail(StatusCode code, const char* format,
                                          ...);

}  // namespace mxc::runtime

// Leaves the function with the status of `expression` unless that is ok.
#define MXC_RT_RETURN_IF_ERROR(expression)                                  \
  do {                                                                      \
    if (::mxc::runtime::Status rt_status = (expression); !rt_status.ok()) { \
      return rt_status;                                                     \
    }                                                                       \
  } while (false)

// Declares or assigns the value of a StatusOr, or leaves the function with its
// status.
#define MXC_RT_ASSIGN(declaration, expression) \
  MXC_RT_ASSIGN_TO(MXC_RT_JOINED(rt_value_, __LINE__), declaration, expression)
#define MXC_RT_ASSIGN_TO(name, declaration, expression) \
  auto name = (expression);                             \
  if (!name.ok()) return name.status();                 \
  declaration = std::move(*name)
#define MXC_RT_JOINED(a, b) MXC_RT_JOINED_AGAIN(a, b)
#define MXC_RT_JOINED_AGAIN(a, b) a##b
