// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/gate.h"

#include <sys/stat.h>

#include <algorithm>
#include <string_view>

#include "runtime/base/clock.h"
#include "runtime/base/file.h"
#include "tools/run/failure.h"

namespace mxc::serve {
namespace {

constexpr size_t kShortestKey = 16;
constexpr size_t kMostClients = 1 << 16;
constexpr std::string_view kBearer = "Bearer ";

std::vector<std::string> ReadKeys(const std::string& path) {
  const auto file = run::Take(runtime::MappedFile::Open(path));
  struct stat status;
  if (stat(path.c_str(), &status) == 0 && (status.st_mode & 077) != 0) {
    throw run::Failure("'" + path +
                       "' can be read by others; chmod 600 makes it yours");
  }
  std::vector<std::string> keys;
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()),
                        file.bytes().size());
  while (!rest.empty()) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (line.size() < kShortestKey) {
      throw run::Failure("'" + path + "' has a key of " +
                         std::to_string(line.size()) +
                         " characters, expected 16 or more");
    }
    keys.emplace_back(line);
  }
  if (keys.empty()) throw run::Failure("'" + path + "' has no key");
  return keys;
}

// Takes as long whatever the first difference is.
bool Equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned char difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    difference |= static_cast<unsigned char>(a[i] ^ b[i]);
  }
  return difference == 0;
}

}  // namespace

Gate::Gate(const std::string& key_file, double rate) : rate_(rate) {
  if (!key_file.empty()) keys_ = ReadKeys(key_file);
}

std::optional<Response> Gate::RefuseKey(const Request& request) const {
  const std::string_view given = request.authorization;
  bool known = !asks();
  for (const std::string& key : keys_) {
    known |=
        given.starts_with(kBearer) && Equal(given.substr(kBearer.size()), key);
  }
  if (known) return std::nullopt;
  Response response =
      ErrorResponse(401, {"a key is needed: Authorization: Bearer KEY"});
  response.headers.emplace_back("WWW-Authenticate", "Bearer");
  return response;
}

std::optional<Response> Gate::RefuseRate(const Request& request) {
  if (rate_ <= 0) return std::nullopt;
  const double most = std::max(rate_, 1.0);
  const int64_t now = runtime::Nanoseconds();
  const auto tokens = [&](const Bucket& bucket) {
    const double seconds = runtime::SecondsOf(now - bucket.time);
    return std::min(most, bucket.tokens + seconds * rate_);
  };
  if (clients_.size() >= kMostClients) {
    // Who has a full one is as one who has never come.
    std::erase_if(clients_, [&](const auto& client) {
      return tokens(client.second) >= most;
    });
  }
  const auto [place, is_new] =
      clients_.try_emplace(request.client, Bucket{most, now});
  place->second = {tokens(place->second), now};
  if (place->second.tokens < 1) {
    Response response =
        ErrorResponse(429, {"this client asks too often (--client-rate)"});
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }
  place->second.tokens -= 1;
  return std::nullopt;
}

}  // namespace mxc::serve
