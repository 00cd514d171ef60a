// SPDX-License-Identifier: Apache-2.0
// A request and its answer, whatever carries them.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/serve/byte_buffer.h"

namespace mxc::serve {

using Json = nlohmann::ordered_json;

struct Request {
  std::string method, path;
  std::vector<std::pair<std::string, std::string>> query;  // as it was sent
  std::string content_type, content_encoding;
  std::string authorization, range;
  std::string id;      // the client's X-Request-Id, or one of this server's
  std::string client;  // its address, without the port
  ByteBuffer body;
  int64_t begun = 0;  // when its first byte was read, by Nanoseconds()
};

struct Response {
  int status = 200;
  std::string body;
  std::string content_type = "application/json";
  std::vector<std::pair<std::string, std::string>> headers;
};

// JSON in one line; what is no UTF-8 becomes U+FFFD.
Response JsonResponse(const Json& json, int status = 200);
// {"errors": [{"message": …}…], "count": …}
Response ErrorResponse(int status, const std::vector<std::string>& messages);
// 503: there is no room for the request now.
Response BusyResponse(const std::string& why);

// "/predict?top=5&x=%20" into path and query; false: it is malformed.
bool ParseTarget(std::string_view target, Request& request);

// Takes the answer, from any thread, once.
using Respond = std::function<void(Response)>;

// What answers requests. It is called by the thread that reads them, which must
// not wait.
class Application {
 public:
  virtual ~Application() = default;

  // Asked when the head is there and no body yet: an answer refuses the request.
  virtual std::optional<Response> Refuse(const Request& head) = 0;
  virtual void Handle(std::shared_ptr<const Request> request,
                      Respond respond) = 0;
  // Told of every answer that was sent as far as it would go.
  virtual void Finished(const Request& request, int status, uint64_t sent) = 0;
  virtual int64_t answered() const = 0;  // requests
};

}  // namespace mxc::serve
