// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/etcd/etcd.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "runtime/job/etcd/base64.h"
#include "runtime/remote/curl.h"

namespace mxc::job {
namespace {

using Json = nlohmann::ordered_json;
using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr long kPatience = 2000;        // ms, of one endpoint
constexpr size_t kMostBytes = 1 << 20;  // of an answer

size_t Receive(char* bytes, size_t size, size_t count, void* user) {
  auto& answer = *static_cast<std::string*>(user);
  if (answer.size() + size * count > kMostBytes) return 0;  // an error
  answer.append(bytes, size * count);
  return size * count;
}

Status Unexpected(const std::string& what) {
  return Fail(StatusCode::kIo, "etcd answers what it should not: %s",
              what.c_str());
}

// Member `name` of an object, by its path; discarded where there is none.
Json Member(const std::string& text, std::initializer_list<const char*> path) {
  Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  for (const char* name : path) {
    if (!json.is_object() || !json.contains(name)) {
      return Json(Json::value_t::discarded);
    }
    json = Json(json[name]);
  }
  return json;
}

// etcd writes numbers of 64 bits as text, and leaves zeros out.
std::optional<int64_t> Number(const Json& json) {
  if (json.is_discarded()) return 0;
  if (!json.is_string()) return std::nullopt;
  const std::string text = json.get<std::string>();
  int64_t number = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) {
    return std::nullopt;
  }
  return number;
}

}  // namespace

// A connection, which goes on from call to call.
struct Etcd::Session {
  const remote::Curl* curl = nullptr;
  CURL* handle = nullptr;
  curl_slist* headers = nullptr;
  char error[CURL_ERROR_SIZE] = "";

  ~Session() {
    if (curl == nullptr) return;
    curl->curl_slist_free_all(headers);
    curl->curl_easy_cleanup(handle);
  }

  template <class T>
  void Set(CURLoption option, T value) {
    curl->curl_easy_setopt(handle, option, value);
  }
  void SetFile(CURLoption option, const std::string& file) {
    if (!file.empty()) Set(option, file.c_str());
  }
};

Etcd::Etcd(EtcdOptions options)
    : options_(std::move(options)), session_(std::make_unique<Session>()) {}

Etcd::~Etcd() = default;

StatusOr<std::unique_ptr<Etcd>> Etcd::Make(const EtcdOptions& options) {
  const auto curl = remote::Curl::Get("a job whose servers etcd knows");
  if (!curl.ok()) return curl.status();
  std::unique_ptr<Etcd> etcd(new Etcd(options));
  Session& session = *etcd->session_;
  session.handle = (*curl)->curl_easy_init();
  if (session.handle == nullptr) {
    return Fail(StatusCode::kOutOfMemory, "libcurl cannot begin");
  }
  session.curl = *curl;
  session.headers = session.curl->curl_slist_append(
      nullptr, "Content-Type: application/json");
  session.Set(CURLOPT_HTTPHEADER, session.headers);
  session.Set(CURLOPT_NOSIGNAL, 1L);
  session.Set(CURLOPT_NOPROXY, "*");
  session.Set(CURLOPT_PROTOCOLS_STR, "http,https");
  session.Set(CURLOPT_TIMEOUT_MS, kPatience);
  session.Set(CURLOPT_ERRORBUFFER, session.error);
  session.Set(CURLOPT_WRITEFUNCTION, &Receive);
  session.SetFile(CURLOPT_CAINFO, options.authority);
  session.SetFile(CURLOPT_SSLCERT, options.certificate);
  session.SetFile(CURLOPT_SSLKEY, options.key);
  return etcd;
}

StatusOr<std::string> Etcd::Call(const std::string& path,
                                 const std::string& body) {
  StatusOr<std::string> answer{std::string()};
  for (size_t i = 0; i < options_.endpoints.size(); ++i) {
    answer = CallOne(options_.endpoints[current_] + "/v3/" + path, body);
    if (answer.ok()) return answer;
    current_ = (current_ + 1) % options_.endpoints.size();
  }
  return answer;
}

StatusOr<std::string> Etcd::CallOne(const std::string& url,
                                    const std::string& body) {
  Session& session = *session_;
  std::string answer;
  session.Set(CURLOPT_URL, url.c_str());
  session.Set(CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
  session.Set(CURLOPT_POSTFIELDS, body.c_str());
  session.Set(CURLOPT_WRITEDATA, &answer);
  session.error[0] = '\0';
  const CURLcode code = session.curl->curl_easy_perform(session.handle);
  if (code != CURLE_OK) {
    const bool told = session.error[0] != '\0';
    return Fail(StatusCode::kIo, "etcd does not answer: %s: %s", url.c_str(),
                told ? session.error : session.curl->curl_easy_strerror(code));
  }
  long status = 0;
  const char* address = nullptr;
  session.curl->curl_easy_getinfo(session.handle, CURLINFO_RESPONSE_CODE,
                                  &status);
  session.curl->curl_easy_getinfo(session.handle, CURLINFO_LOCAL_IP, &address);
  if (address != nullptr) local_address_ = address;
  if (status == 200) return answer;
  return Fail(StatusCode::kIo, "%s answers %ld: %.200s", url.c_str(), status,
              answer.c_str());
}

StatusOr<std::optional<std::string>> Etcd::Get(const std::string& key) {
  const auto answer = Call("kv/range", Json{{"key", EncodeBase64(key)}}.dump());
  if (!answer.ok()) return answer.status();
  const Json found = Member(*answer, {"kvs"});
  if (found.is_discarded()) return std::optional<std::string>();
  // A value without bytes is left out.
  if (!found.is_array() || found.empty() || !found[0].is_object()) {
    return Unexpected(*answer);
  }
  const Json value = found[0].value("value", Json(""));
  auto bytes =
      value.is_string() ? DecodeBase64(value.get<std::string>()) : std::nullopt;
  if (!bytes) return Unexpected(*answer);
  return bytes;
}

StatusOr<bool> Etcd::PutIf(const Condition& condition, const std::string& key,
                           const std::string& value, int64_t lease) {
  Json compare = {{"key", EncodeBase64(condition.key)}, {"result", "EQUAL"}};
  if (condition.value) {
    compare["target"] = "VALUE";
    compare["value"] = EncodeBase64(*condition.value);
  } else {
    compare["target"] = "CREATE";
    compare["create_revision"] = "0";
  }
  const Json put = {{"key", EncodeBase64(key)},
                    {"value", EncodeBase64(value)},
                    {"lease", std::to_string(lease)}};
  const Json transaction = {
      {"compare", Json::array({compare})},
      {"success", Json::array({Json{{"requestPut", put}}})}};
  const auto answer = Call("kv/txn", transaction.dump());
  if (!answer.ok()) return answer.status();
  const Json succeeded = Member(*answer, {"succeeded"});
  return succeeded.is_boolean() && succeeded.get<bool>();
}

StatusOr<int64_t> Etcd::Grant(int64_t seconds) {
  const auto answer =
      Call("lease/grant", Json{{"TTL", std::to_string(seconds)}}.dump());
  if (!answer.ok()) return answer.status();
  const auto lease = Number(Member(*answer, {"ID"}));
  if (!lease || *lease == 0) return Unexpected(*answer);
  return *lease;
}

StatusOr<bool> Etcd::KeepAlive(int64_t lease) {
  const auto answer =
      Call("lease/keepalive", Json{{"ID", std::to_string(lease)}}.dump());
  if (!answer.ok()) return answer.status();
  const auto seconds = Number(Member(*answer, {"result", "TTL"}));
  if (!seconds) return Unexpected(*answer);
  return *seconds > 0;
}

Status Etcd::Revoke(int64_t lease) {
  return Call("lease/revoke", Json{{"ID", std::to_string(lease)}}.dump())
      .status();
}

}  // namespace mxc::job
