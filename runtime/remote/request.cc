// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/request.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "runtime/base/visible.h"
#include "runtime/remote/curl.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr long kConnectSeconds = 10;
constexpr long kStallSeconds = 10;  // without a byte
constexpr size_t kMostHeaders = 64 << 10;
// Before each further try.
constexpr int kPauses[] = {25, 100, 400, 800, 1600};  // ms

// What is received of a request.
struct Receiving {
  Answer* answer = nullptr;
  const Question* question = nullptr;
  size_t header_bytes = 0;
};

bool ReadNumber(std::string_view text, int64_t& number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() &&
         number >= 0;
}

// "bytes 0-9/100"
void ReadRange(std::string_view text, Answer& answer) {
  const size_t dash = text.find('-'), slash = text.find('/');
  if (!text.starts_with("bytes ") || dash == text.npos || slash == text.npos) {
    return;
  }
  int64_t begin = 0, total = 0;
  if (!ReadNumber(text.substr(6, dash - 6), begin) ||
      !ReadNumber(text.substr(slash + 1), total)) {
    return;
  }
  answer.range_begin = begin;
  answer.range_total = total;
}

size_t ReceiveHeader(char* bytes, size_t size, size_t count, void* user) {
  auto& receiving = *static_cast<Receiving*>(user);
  receiving.header_bytes += size * count;
  if (receiving.header_bytes > kMostHeaders) return 0;  // an error
  std::string_view line(bytes, size * count);
  Answer& answer = *receiving.answer;
  if (line.starts_with("HTTP/")) {  // of this answer of several
    answer.etag.clear();
    answer.range_begin = answer.range_total = answer.length = -1;
    return size * count;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos) return size * count;
  std::string name(line.substr(0, colon));
  std::ranges::transform(name, name.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  std::string_view value = line.substr(colon + 1);
  while (!value.empty() && value.front() == ' ') value.remove_prefix(1);
  while (!value.empty() &&
         std::isspace(static_cast<unsigned char>(value.back())) != 0) {
    value.remove_suffix(1);
  }
  if (name == "etag") answer.etag = value;
  if (name == "content-range") ReadRange(value, answer);
  if (name == "content-length") ReadNumber(value, answer.length);
  return size * count;
}

size_t ReceiveBody(char* bytes, size_t size, size_t count, void* user) {
  auto& receiving = *static_cast<Receiving*>(user);
  std::vector<std::byte>& body = receiving.answer->body;
  const uint64_t most = receiving.question->most;
  if (body.size() + size * count > most) return 0;
  if (body.empty() && receiving.answer->length > 0) {
    body.reserve(
        std::min(most, static_cast<uint64_t>(receiving.answer->length)));
  }
  const auto* data = reinterpret_cast<const std::byte*>(bytes);
  body.insert(body.end(), data, data + size * count);
  return size * count;
}

// How far a body has been sent.
struct Sending {
  const Sent* sent = nullptr;
  uint64_t done = 0;
};

size_t SendBody(char* bytes, size_t size, size_t count, void* user) {
  auto& sending = *static_cast<Sending*>(user);
  const Sent& sent = *sending.sent;
  const size_t room =
      std::min<uint64_t>(size * count, sent.bytes - sending.done);
  if (sent.file < 0) {
    std::memcpy(bytes, sent.text.data() + sending.done, room);
    sending.done += room;
    return room;
  }
  ssize_t read = -1;
  do {
    read = pread(sent.file, bytes, room,
                 static_cast<off_t>(sent.offset + sending.done));
  } while (read < 0 && errno == EINTR);
  // Less than was promised: the request must not end as if it were whole.
  if (read < 0 || (read == 0 && room > 0)) return CURL_READFUNC_ABORT;
  sending.done += static_cast<uint64_t>(read);
  return static_cast<size_t>(read);
}

// libcurl begins anew on another connection.
int SeekBody(void* user, curl_off_t offset, int origin) {
  auto& sending = *static_cast<Sending*>(user);
  if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_FAIL;
  sending.done = static_cast<uint64_t>(offset);
  return CURL_SEEKFUNC_OK;
}

int LookWhetherWanted(void* user, curl_off_t, curl_off_t, curl_off_t,
                      curl_off_t) {
  const auto* unwanted = static_cast<const std::atomic<bool>*>(user);
  return unwanted != nullptr && *unwanted ? 1 : 0;
}

// "AccessDenied" of <Code>AccessDenied</Code>; empty: it says none.
std::string CodeOf(const Answer& answer) {
  size_t at = 0;
  const auto element = NextElement(TextOf(answer), "Code", at);
  if (!element) return "";
  const std::string_view code = element->substr(0, 40);
  const bool word = std::ranges::all_of(
      code, [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; });
  return word ? std::string(code) : "";
}

}  // namespace

struct Session::Handle {
  const Curl* curl = nullptr;
  CURL* handle = nullptr;
  char error[CURL_ERROR_SIZE] = "";

  ~Handle() {
    if (handle != nullptr) curl->curl_easy_cleanup(handle);
  }
  template <class T>
  void Set(CURLoption option, T value) {
    curl->curl_easy_setopt(handle, option, value);
  }
  void SetMethod(const Question& question, Sending& sending);
};

void Session::Handle::SetMethod(const Question& question, Sending& sending) {
  const std::string_view method = question.method;
  const bool sends = method == "PUT" || method == "POST";
  const bool plain = method == "GET" || method == "HEAD";
  Set(CURLOPT_UPLOAD, sends ? 1L : 0L);
  Set(CURLOPT_NOBODY, method == "HEAD" ? 1L : 0L);
  if (!sends && method != "HEAD") Set(CURLOPT_HTTPGET, 1L);
  Set(CURLOPT_CUSTOMREQUEST, plain ? nullptr : question.method);
  Set(CURLOPT_READDATA, &sending);
  Set(CURLOPT_SEEKDATA, &sending);
  Set(CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(sending.sent->bytes));
}

Session::Session(std::unique_ptr<Handle> handle) : handle_(std::move(handle)) {}
Session::~Session() = default;

StatusOr<std::unique_ptr<Session>> Session::Open() {
  auto handle = std::make_unique<Handle>();
  MXC_RT_ASSIGN(handle->curl, Curl::Get("a file that is named by a URL"));
  handle->handle = handle->curl->curl_easy_init();
  if (handle->handle == nullptr) {
    return Fail(StatusCode::kOutOfMemory, "libcurl cannot begin");
  }
  Handle& session = *handle;
  session.Set(CURLOPT_NOSIGNAL, 1L);
  session.Set(CURLOPT_PROTOCOLS_STR, "http,https");
  session.Set(CURLOPT_MAXREDIRS, 5L);
  session.Set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  session.Set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  session.Set(CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  // Some servers never say "100 Continue". That it is not to be asked for cannot be
  // said: libcurl 7.88 signs the empty header and does not send it.
  session.Set(CURLOPT_EXPECT_100_TIMEOUT_MS, 200L);
  session.Set(CURLOPT_ERRORBUFFER, session.error);
  session.Set(CURLOPT_HEADERFUNCTION, &ReceiveHeader);
  session.Set(CURLOPT_WRITEFUNCTION, &ReceiveBody);
  session.Set(CURLOPT_READFUNCTION, &SendBody);
  session.Set(CURLOPT_SEEKFUNCTION, &SeekBody);
  session.Set(CURLOPT_XFERINFOFUNCTION, &LookWhetherWanted);
  session.Set(CURLOPT_NOPROGRESS, 0L);
  return std::unique_ptr<Session>(new Session(std::move(handle)));
}

Answer Session::Ask(const Location& location, const Question& question) {
  Handle& session = *handle_;
  Answer answer;
  Receiving receiving{&answer, &question};
  Sending sending{&question.sent};
  curl_slist* headers = nullptr;
  for (const auto* list : {&location.headers, &question.headers}) {
    for (const std::string& header : *list) {
      headers = session.curl->curl_slist_append(headers, header.c_str());
    }
  }
  session.error[0] = '\0';
  session.Set(CURLOPT_URL, question.url.c_str());
  // libcurl gives headers of its caller's to every host that it is led to: a
  // session's token must not leave the one that it is for. And who asked by TLS
  // is not led out of it.
  session.SetMethod(question, sending);
  const std::string_view method = question.method;
  const bool led =
      location.signing.empty() && (method == "GET" || method == "HEAD");
  session.Set(CURLOPT_FOLLOWLOCATION, led ? 1L : 0L);
  session.Set(CURLOPT_REDIR_PROTOCOLS_STR,
              question.url.starts_with("https:") ? "https" : "http,https");
  session.Set(CURLOPT_HTTPHEADER, headers);
  session.Set(CURLOPT_HEADERDATA, &receiving);
  session.Set(CURLOPT_WRITEDATA, &receiving);
  session.Set(CURLOPT_XFERINFODATA,
              const_cast<std::atomic<bool>*>(question.unwanted));
  if (!location.signing.empty()) {
    session.Set(CURLOPT_AWS_SIGV4, location.signing.c_str());
    session.Set(CURLOPT_USERPWD, location.credentials.c_str());
  }
  const CURLcode code = session.curl->curl_easy_perform(session.handle);
  session.Set(CURLOPT_HTTPHEADER, static_cast<curl_slist*>(nullptr));
  session.curl->curl_slist_free_all(headers);
  answer.too_long = code == CURLE_WRITE_ERROR;
  if (code != CURLE_OK && !answer.too_long) {
    answer.error = session.curl->curl_easy_strerror(code);
    return answer;
  }
  session.curl->curl_easy_getinfo(session.handle, CURLINFO_RESPONSE_CODE,
                                  &answer.status);
  const char* leads_to = nullptr;
  session.curl->curl_easy_getinfo(session.handle, CURLINFO_REDIRECT_URL,
                                  &leads_to);
  if (leads_to != nullptr) answer.leads_to = leads_to;
  return answer;
}

Answer Session::AskPatiently(const Location& location,
                             const Question& question) {
  Answer answer;
  for (const int pause : kPauses) {
    answer = Ask(location, question);
    const bool unwanted = question.unwanted != nullptr && *question.unwanted;
    if (!answer.passing() || unwanted) return answer;
    std::this_thread::sleep_for(std::chrono::milliseconds(pause));
  }
  return Ask(location, question);
}

std::string_view TextOf(const Answer& answer) {
  return {reinterpret_cast<const char*>(answer.body.data()),
          answer.body.size()};
}

std::optional<std::string_view> NextElement(std::string_view text,
                                            std::string_view name, size_t& at) {
  const std::string tag = std::string(name) + ">";
  const size_t begin = text.find("<" + tag, at);
  if (begin == text.npos) return std::nullopt;
  const size_t inside = begin + 1 + tag.size();
  const size_t end = text.find("</" + tag, inside);
  if (end == text.npos) return std::nullopt;
  at = end + 2 + tag.size();
  return text.substr(inside, end - inside);
}

Status Refusal(const Location& location, const Answer& answer,
               const char* what) {
  const std::string code = CodeOf(answer);
  const std::string said = code.empty() ? "" : ", " + code;
  std::string why = answer.too_long ? "sends more than it should"
                                    : "answers what it should not";
  StatusCode kind = StatusCode::kIo;
  if (answer.status == 0) {
    return Fail(kind, "'%s': the server does not answer: %s",
                location.shown.c_str(), answer.error.c_str());
  }
  if (code == "ExpiredToken" || code == "TokenRefreshRequired" ||
      code == "RequestTimeTooSkewed") {
    why = "says that the keys have expired";
  } else if (answer.status == 401 || answer.status == 403) {
    why = std::string("does not let these keys ") + what + " it";
  } else if (answer.status == 404 || answer.status == 410) {
    why = "has no such object";
    kind = StatusCode::kNotFound;
  } else if (answer.status == 412 || answer.status == 416) {
    why = "has another object there since the reading began";
  } else if (answer.passing()) {
    why = "does not recover";
  }
  return Fail(kind, "'%s': the server %s (%ld%s)", location.shown.c_str(),
              why.c_str(), answer.status, said.c_str());
}

}  // namespace mxc::remote
