// SPDX-License-Identifier: Apache-2.0
#include "tools/serve/folder_application.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "runtime/base/file.h"
#include "tools/run/failure.h"

namespace mxc::serve {
namespace {

std::string_view TypeOf(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", "text/html; charset=utf-8"},
      {".mjs", "text/javascript; charset=utf-8"},
      {".wasm", "application/wasm"}};
  for (const auto& [ending, type] : kTypes) {
    if (name.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

// A file's name; empty where the path names none.
std::string_view FileNameOf(std::string_view path) {
  path.remove_prefix(1);
  if (path.empty()) return "index.html";
  const bool plain =
      !path.starts_with('.') &&
      path.find_first_of(std::string_view("/\0", 2)) == path.npos;
  return plain ? path : std::string_view();
}

struct Piece {
  size_t first = 0, end = 0;
};

bool ReadNumber(std::string_view text, size_t& number) {
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// What "bytes=4-7", "bytes=4-" or "bytes=-3" asks for of so many bytes; nothing
// where it is another form, which asks for all of them. Empty: there are none.
std::optional<Piece> PieceOf(std::string_view range, size_t size) {
  constexpr std::string_view kUnit = "bytes=";
  if (!range.starts_with(kUnit)) return std::nullopt;
  range.remove_prefix(kUnit.size());
  const size_t dash = range.find('-');
  if (dash == range.npos) return std::nullopt;
  const std::string_view from = range.substr(0, dash),
                         to = range.substr(dash + 1);
  size_t first = 0, last = 0;
  if (from.empty()) {
    if (!ReadNumber(to, last)) return std::nullopt;
    return Piece{size - std::min(last, size), size};
  }
  if (!ReadNumber(from, first)) return std::nullopt;
  if (to.empty()) return Piece{first, std::max(first, size)};
  if (!ReadNumber(to, last) || last < first) return std::nullopt;
  return Piece{first, first < size ? std::min(last, size - 1) + 1 : first};
}

std::string_view Text(runtime::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

void TakePiece(std::string_view content, std::string_view range,
               Response& response) {
  const auto piece = PieceOf(range, content.size());
  const std::string size = std::to_string(content.size());
  if (!piece) {
    response.body = content;
  } else if (piece->first >= piece->end) {
    response = ErrorResponse(416, {"the file has " + size + " bytes"});
    response.headers.emplace_back("Content-Range", "bytes */" + size);
  } else {
    response.status = 206;
    response.body = content.substr(piece->first, piece->end - piece->first);
    response.headers.emplace_back(
        "Content-Range", "bytes " + std::to_string(piece->first) + "-" +
                             std::to_string(piece->end - 1) + "/" + size);
  }
}

void Isolate(Response& response) {
  static constexpr std::pair<const char*, const char*> kHeaders[] = {
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cross-Origin-Embedder-Policy", "require-corp"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"X-Content-Type-Options", "nosniff"},
      {"Cache-Control", "no-cache"},
      {"Accept-Ranges", "bytes"}};
  for (const auto& [name, value] : kHeaders) {
    response.headers.emplace_back(name, value);
  }
}

}  // namespace

FolderApplication::FolderApplication(std::string folder,
                                     std::optional<std::string> log)
    : folder_(std::move(folder)) {
  const auto page = runtime::OpenFile(folder_ + "/index.html");
  if (!page.ok()) {
    throw run::Failure(page.status().message() +
                       "; mxc compile --emit web writes such a folder");
  }
  if (log) log_.emplace(*log);
}

std::optional<Response> FolderApplication::Refuse(const Request& head) {
  if (head.method == "GET" || head.method == "HEAD") return std::nullopt;
  Response response = ErrorResponse(405, {"files are only read: GET or HEAD"});
  response.headers.emplace_back("Allow", "GET, HEAD");
  return response;
}

void FolderApplication::Handle(std::shared_ptr<const Request> request,
                               Respond respond) {
  Response response = Answer(*request);
  Isolate(response);
  respond(std::move(response));
}

Response FolderApplication::Answer(const Request& request) const {
  const std::string_view name = FileNameOf(request.path);
  const Response missing =
      ErrorResponse(404, {"there is no file " + request.path});
  if (name.empty()) return missing;
  const auto file =
      runtime::MappedFile::Open(folder_ + "/" + std::string(name));
  if (!file.ok()) return missing;
  Response response;
  response.content_type = TypeOf(name);
  TakePiece(Text(file->bytes()), request.range, response);
  return response;
}

void FolderApplication::Finished(const Request& request, int status,
                                 uint64_t sent) {
  ++answered_;
  if (log_) log_->Add(request, status, sent);
}

}  // namespace mxc::serve
