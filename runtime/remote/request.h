// SPDX-License-Identifier: Apache-2.0
// One request over HTTP, by libcurl: no redirect out of http and https, from https
// to http, or of a request that is signed; no answer larger than was asked for, no
// wait for a server that sends nothing.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"
#include "runtime/remote/location.h"

namespace mxc::remote {

struct Answer {
  long status = 0;    // of HTTP; 0: there was no answer
  std::string error;  // why there was none
  std::vector<std::byte> body;
  std::string etag;
  std::string leads_to;  // where a redirect goes that was not followed
  // Of "Content-Range: bytes 0-9/100"; -1: there is none.
  int64_t range_begin = -1, range_total = -1;
  int64_t length = -1;    // Content-Length; -1: it does not say
  bool too_long = false;  // it sends more than it should; the body is cut

  bool whole() const { return status >= 200 && status < 300; }
  // Returns whether the same request may do better later.
  bool passing() const {
    return !too_long &&
           (status == 0 || status == 408 || status == 429 || status >= 500);
  }
};

// The most that is said beside an object's bytes: refusals, listings.
inline constexpr uint64_t kMostWords = 4 << 20;

// What is sent: a part of a file, or a text.
struct Sent {
  int file = -1;  // of the caller
  uint64_t offset = 0, bytes = 0;
  std::string text = {};
};

struct Question {
  std::string url;
  // "HEAD" asks for no body; "PUT" and "POST" send one, and are led nowhere.
  const char* method = "GET";
  std::vector<std::string> headers = {};        // beside the location's
  uint64_t most = kMostWords;                   // bytes of an answer
  const std::atomic<bool>* unwanted = nullptr;  // ends it
  Sent sent = {};
};

// A connection that is kept between requests; one thread at a time.
class Session {
 public:
  static runtime::StatusOr<std::unique_ptr<Session>> Open();
  ~Session();

  Answer Ask(const Location& location, const Question& question);
  // Until there is an answer that stays, six times at most, with pauses that grow.
  Answer AskPatiently(const Location& location, const Question& question);

 private:
  struct Handle;
  explicit Session(std::unique_ptr<Handle> handle);

  const std::unique_ptr<Handle> handle_;
};

// What is said of an answer that is none: one sentence, without any secret.
// `what` was to be done: "write".
runtime::Status Refusal(const Location& location, const Answer& answer,
                        const char* what = "read");

std::string_view TextOf(const Answer& answer);
// "x" of "<Key>x</Key>" behind `at`, which is moved behind it; nothing: there is
// none.
std::optional<std::string_view> NextElement(std::string_view text,
                                            std::string_view name, size_t& at);

}  // namespace mxc::remote
