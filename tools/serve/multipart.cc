// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/multipart.h"

#include <boost/beast/core/string.hpp>
#include <boost/beast/http/rfc7230.hpp>

namespace mxc::serve {
namespace {

using boost::beast::iequals;
using boost::beast::http::param_list;
using runtime::Status;
using runtime::StatusCode;

constexpr size_t kMostParts = 256;
constexpr size_t kLongestBoundary = 70;  // RFC 2046, section 5.1.1

Status Damaged(std::string what) {
  return Status(StatusCode::kInvalidArgument, "the form " + std::move(what));
}

boost::beast::string_view View(std::string_view text) {
  return {text.data(), text.size()};
}

// The value of a parameter of a header, as in `form-data; name="x"`, without
// its quotes; empty: there is none.
std::string Parameter(std::string_view header, std::string_view name) {
  const size_t begin = std::min(header.find(';'), header.size());
  for (const auto& [key, value] : param_list(View(header.substr(begin)))) {
    if (!iequals(key, View(name))) continue;
    std::string text(value);
    if (text.size() >= 2 && text.front() == '"') {
      text = text.substr(1, text.size() - 2);
    }
    return text;
  }
  return "";
}

// The name that a part's head gives it.
std::string NameOf(std::string_view head) {
  constexpr std::string_view kDisposition = "content-disposition:";
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    head.remove_prefix(std::min(head.size(), line.size() + 2));
    if (iequals(View(line.substr(0, kDisposition.size())),
                View(kDisposition))) {
      return Parameter(line, "name");
    }
  }
  return "";
}

}  // namespace

bool IsForm(std::string_view content_type) {
  return iequals(View(content_type.substr(0, content_type.find(';'))),
                 "multipart/form-data");
}

runtime::StatusOr<std::vector<FormPart>> ParseForm(
    std::string_view content_type, std::string_view body) {
  const std::string boundary = Parameter(content_type, "boundary");
  if (boundary.empty() || boundary.size() > kLongestBoundary) {
    return Damaged("does not say where its parts end (boundary)");
  }
  const std::string limit = "\r\n--" + boundary;
  // The first limit may stand at the very beginning.
  const size_t first = body.starts_with(limit.substr(2)) ? 0 : body.find(limit);
  if (first == body.npos) return Damaged("has no parts");
  size_t at = first + limit.size() - (first == 0 ? 2 : 0);
  std::vector<FormPart> parts;
  while (!body.substr(at).starts_with("--")) {
    const size_t head = body.find("\r\n", at);
    const size_t end_of_head =
        head == body.npos ? body.npos : body.find("\r\n\r\n", head);
    if (end_of_head == body.npos) return Damaged("is cut");
    const size_t content = end_of_head + 4;
    const size_t end = body.find(limit, content - 2);
    if (end == body.npos) return Damaged("is cut");
    if (parts.size() == kMostParts) {
      return Damaged("has more than " + std::to_string(kMostParts) + " parts");
    }
    std::string name = NameOf(body.substr(head, end_of_head - head));
    if (name.empty()) return Damaged("has a part without a name");
    parts.push_back(
        {std::move(name), body.substr(content, end - std::min(end, content))});
    at = end + limit.size();
  }
  if (parts.empty()) return Damaged("has no parts");
  return parts;
}

}  // namespace mxc::serve
