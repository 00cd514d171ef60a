// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/object.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr uint64_t kMostRefusal = 64 << 10;

// "length":123 of WebHDFS' FileStatus; -1: there is none.
int64_t JsonNumber(std::string_view text, std::string_view name) {
  const std::string key = "\"" + std::string(name) + "\":";
  size_t at = text.find(key);
  if (at == text.npos) return -1;
  at += key.size();
  while (at < text.size() && text[at] == ' ') ++at;
  int64_t number = -1;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    if (number > INT64_MAX / 16) return -1;
    number = std::max<int64_t>(number, 0) * 10 + (text[at] - '0');
  }
  return number;
}

// Only a strong tag can be asked for (RFC 9110, 13.1.1).
bool IsStrong(const std::string& version) { return version.starts_with('"'); }

Status Check(const Location& location, const ObjectFacts& facts,
             const Answer& answer, uint64_t offset, uint64_t length) {
  if (!answer.whole()) return Refusal(location, answer);
  const bool ranged = location.kind == Location::Kind::kWebHdfs ||
                      (answer.status == 206 &&
                       answer.range_begin == static_cast<int64_t>(offset));
  const bool all = offset == 0 && length == facts.bytes;
  if (!ranged && !(all && answer.status == 200)) {
    return Fail(StatusCode::kUnsupported,
                "'%s': the server gives no part of it, which was asked for",
                location.shown.c_str());
  }
  const bool same =
      (answer.range_total < 0 ||
       answer.range_total == static_cast<int64_t>(facts.bytes)) &&
      (location.kind == Location::Kind::kWebHdfs || facts.version.empty() ||
       answer.etag.empty() || answer.etag == facts.version);
  if (!same) {
    return Fail(StatusCode::kIo, "'%s' has changed while it was read",
                location.shown.c_str());
  }
  if (answer.too_long) return Refusal(location, answer);
  if (answer.body.size() == length) return {};
  return Fail(StatusCode::kIo,
              "'%s': the server sends %zu bytes, %llu were asked for",
              location.shown.c_str(), answer.body.size(),
              static_cast<unsigned long long>(length));
}

// What a server says that refuses to be asked about an object alone.
ObjectFacts FactsOf(const Answer& answer) {
  const int64_t bytes =
      answer.range_total >= 0 ? answer.range_total : answer.length;
  return {static_cast<uint64_t>(std::max<int64_t>(bytes, 0)), answer.etag};
}

}  // namespace

StatusOr<ObjectFacts> AskAbout(const Location& location) {
  MXC_RT_ASSIGN(const auto session, Session::Open());
  if (location.kind == Location::Kind::kWebHdfs) {
    const Answer answer = session->AskPatiently(
        location, {.url = location.UrlWith("op=GETFILESTATUS")});
    if (!answer.whole()) return Refusal(location, answer);
    const std::string_view text = TextOf(answer);
    const int64_t length = JsonNumber(text, "length");
    if (length < 0) return Refusal(location, answer);
    const int64_t changed = JsonNumber(text, "modificationTime");
    return ObjectFacts{static_cast<uint64_t>(length),
                       changed < 0 ? "" : std::to_string(changed)};
  }
  Answer answer =
      session->AskPatiently(location, {.url = location.url, .method = "HEAD"});
  // A refusal has no words without a body, and some servers know no HEAD.
  if (!answer.whole() || answer.length < 0) {
    Answer ranged = session->AskPatiently(
        location, {.url = location.url, .headers = {"Range: bytes=0-0"}});
    if (!ranged.whole() || ranged.range_total < 0) {
      return Refusal(location, ranged.whole() ? answer : ranged);
    }
    answer = std::move(ranged);
  }
  const ObjectFacts facts = FactsOf(answer);
  if (facts.bytes <= kMostObject) return facts;
  return Fail(
      StatusCode::kUnsupported, "'%s': the server says that it has %llu bytes",
      location.shown.c_str(), static_cast<unsigned long long>(facts.bytes));
}

StatusOr<std::vector<std::byte>> ReadRange(Session& session,
                                           const Location& location,
                                           const ObjectFacts& facts,
                                           uint64_t offset, uint64_t length,
                                           const std::atomic<bool>& unwanted) {
  Question question{.url = location.url,
                    .most = std::max(length, kMostRefusal),
                    .unwanted = &unwanted};
  if (location.kind == Location::Kind::kWebHdfs) {
    question.url = location.RangeUrl(offset, length);
  } else {
    if (length != facts.bytes) {
      question.headers.push_back("Range: bytes=" + std::to_string(offset) +
                                 "-" + std::to_string(offset + length - 1));
    }
    if (IsStrong(facts.version)) {
      question.headers.push_back("If-Match: " + facts.version);
    }
  }
  Answer answer = session.AskPatiently(location, question);
  if (unwanted) return std::move(answer.body);
  MXC_RT_RETURN_IF_ERROR(Check(location, facts, answer, offset, length));
  return std::move(answer.body);
}

}  // namespace mxc::remote
