// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/message.h"

#include <charconv>

#include "tools/usage/errors_json.h"

namespace mxc::serve {
namespace {

// "%20" is a space; false where two digits are missing.
bool Decode(std::string_view text, bool plus_is_space, std::string& decoded) {
  decoded.clear();
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_space) {
      decoded += ' ';
    } else if (text[i] != '%') {
      decoded += text[i];
    } else {
      unsigned byte = 0;
      if (i + 2 >= text.size()) return false;
      const char* digits = text.data() + i + 1;
      const auto [end, error] = std::from_chars(digits, digits + 2, byte, 16);
      if (error != std::errc() || end != digits + 2) return false;
      decoded += static_cast<char>(byte);
      i += 2;
    }
  }
  return true;
}

}  // namespace

Response JsonResponse(const Json& json, int status) {
  const auto replace = Json::error_handler_t::replace;
  Response response;
  response.status = status;
  response.body = json.dump(-1, ' ', false, replace) + "\n";
  return response;
}

Response ErrorResponse(int status, const std::vector<std::string>& messages) {
  return JsonResponse(ErrorsJson(messages), status);
}

Response BusyResponse(const std::string& why) {
  Response response = ErrorResponse(503, {why});
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

bool ParseTarget(std::string_view target, Request& request) {
  const size_t question = target.find('?');
  if (!target.starts_with('/') ||
      !Decode(target.substr(0, question), false, request.path)) {
    return false;
  }
  if (question == target.npos) return true;
  std::string_view rest = target.substr(question + 1);
  while (!rest.empty()) {
    const std::string_view pair = rest.substr(0, rest.find('&'));
    rest.remove_prefix(std::min(rest.size(), pair.size() + 1));
    if (pair.empty()) continue;
    const size_t equals = std::min(pair.find('='), pair.size());
    auto& [key, value] = request.query.emplace_back();
    if (!Decode(pair.substr(0, equals), true, key) ||
        !Decode(pair.substr(std::min(equals + 1, pair.size())), true, value)) {
      return false;
    }
  }
  return true;
}

}  // namespace mxc::serve
