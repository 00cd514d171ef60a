// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <functional>
#include <utility>

#include "runtime/remote/object.h"
#include "runtime/remote/request.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::ListedFile;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr int kMostEmptyPages = 100;

// The five characters that XML names, which is all that servers write otherwise.
std::string Unescaped(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, char>, 5> kNames = {
      {{"&lt;", '<'},
       {"&gt;", '>'},
       {"&quot;", '"'},
       {"&apos;", '\''},
       {"&amp;", '&'}}};
  std::string plain;
  while (!text.empty()) {
    const auto* const found = std::ranges::find_if(
        kNames, [&](const auto& name) { return text.starts_with(name.first); });
    const bool named = found != kNames.end();
    plain += named ? found->second : text.front();
    text.remove_prefix(named ? found->first.size() : 1);
  }
  return plain;
}

std::string TextIn(std::string_view element, const char* name) {
  size_t at = 0;
  return Unescaped(NextElement(element, name, at).value_or(""));
}

// The objects whose names begin with `prefix`, each given to `take` with the text
// of its element and its name.
Status ForEachObject(
    const Location& location, const Pages& pages, const std::string& prefix,
    bool below,
    const std::function<Status(std::string_view, std::string)>& take) {
  MXC_RT_ASSIGN(const auto session, Session::Open());
  std::string marker;
  size_t names = 0;
  int empty = 0;
  do {
    const Answer answer = session->AskPatiently(
        location, {.url = pages.url(location, prefix, below, marker)});
    if (!answer.whole()) return Refusal(location, answer, "list");
    const std::string_view page = TextOf(answer);
    const bool encoded = page.find("<EncodingType>url<") != page.npos;
    size_t at = 0;
    const size_t before = names;
    while (const auto object = NextElement(page, pages.object, at)) {
      size_t inside = 0;
      const auto name = NextElement(*object, pages.name, inside);
      if (!name) continue;
      const std::string plain =
          encoded ? PercentDecoded(*name) : Unescaped(*name);
      if (!plain.starts_with(prefix)) continue;
      MXC_RT_RETURN_IF_ERROR(take(*object, plain));
      if (++names > kMostNames) return TooManyNames(location);
    }
    empty = names > before ? 0 : empty + 1;
    at = 0;
    marker = Unescaped(NextElement(page, pages.next, at).value_or(""));
  } while (!marker.empty() && empty < kMostEmptyPages);
  if (marker.empty()) return {};
  return Fail(StatusCode::kIo,
              "'%s': the server's list does not end: %d pages without a name",
              location.shown.c_str(), empty);
}

}  // namespace

const Store& StoreOf(Location::Kind kind) {
  switch (kind) {
    case Location::Kind::kS3:
      return S3Store();
    case Location::Kind::kAzure:
      return AzureStore();
    case Location::Kind::kWebHdfs:
      return WebHdfsStore();
    case Location::Kind::kHttp:
      return HttpStore();
    case Location::Kind::kFile:
      break;
  }
  std::abort();
}

Status Store::Remove(const Location& location) const {
  MXC_RT_ASSIGN(const auto session, Session::Open());
  const Answer answer = session->AskPatiently(
      location, {.url = location.url, .method = "DELETE"});
  if (answer.whole() || answer.status == 404) return {};
  return Refusal(location, answer, "remove");
}

Status TooManyNames(const Location& location) {
  return Fail(StatusCode::kUnsupported,
              "'%s': the server lists more than %zu names",
              location.shown.c_str(), kMostNames);
}

StatusOr<std::vector<std::string>> ListPages(const Location& location,
                                             const Pages& pages) {
  const size_t folder = location.Folder().size();
  std::vector<std::string> names;
  MXC_RT_RETURN_IF_ERROR(
      ForEachObject(location, pages, location.key, /*below=*/false,
                    [&](std::string_view, const std::string& name) -> Status {
                      if (name.find('/', folder) == name.npos) {
                        names.push_back(name.substr(folder));
                      }
                      return {};
                    }));
  return names;
}

StatusOr<std::vector<ListedFile>> ListPagesBelow(const Location& location,
                                                 const Pages& pages) {
  const std::string folder = location.Folder();
  std::vector<ListedFile> files;
  MXC_RT_RETURN_IF_ERROR(ForEachObject(
      location, pages, folder, /*below=*/true,
      [&](std::string_view object, const std::string& name) -> Status {
        ListedFile file{name.substr(folder.size()), 0,
                        TextIn(object, pages.tag)};
        const std::string size = TextIn(object, pages.size);
        const char* const end = size.data() + size.size();
        const auto [stop, error] =
            std::from_chars(size.data(), end, file.bytes);
        if (error != std::errc() || stop != end || file.bytes > kMostObject) {
          return Fail(StatusCode::kIo,
                      "'%s': the server's list does not say how many bytes it "
                      "has",
                      location.Below(file.name).shown.c_str());
        }
        // Headers have tags in quotes; not all lists do.
        if (!file.version.empty() &&
            file.version.find('"') == std::string::npos) {
          file.version = '"' + file.version + '"';
        }
        if (!file.name.empty()) files.push_back(std::move(file));
        return {};
      }));
  return files;
}

}  // namespace mxc::remote
