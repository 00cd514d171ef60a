// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/store.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

#include "runtime/remote/request.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

constexpr size_t kMostNames = 1'000'000;

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

std::string FolderOf(const Location& location) {
  return location.key.substr(0, location.key.rfind('/') + 1);
}

StatusOr<std::vector<std::string>> ListPages(const Location& location,
                                             const Pages& pages) {
  MXC_RT_ASSIGN(const auto session, Session::Open());
  const std::string folder = FolderOf(location);
  std::vector<std::string> names;
  std::string marker;
  do {
    const Answer answer =
        session->AskPatiently(location, {.url = pages.url(location, marker)});
    if (!answer.whole()) return Refusal(location, answer, "list");
    const std::string_view page = TextOf(answer);
    const bool encoded = page.find("<EncodingType>url<") != page.npos;
    size_t at = 0;
    while (const auto name = NextElement(page, pages.name, at)) {
      const std::string plain =
          encoded ? PercentDecoded(*name) : Unescaped(*name);
      if (plain.starts_with(location.key) &&
          plain.find('/', folder.size()) == plain.npos) {
        names.push_back(plain.substr(folder.size()));
      }
    }
    at = 0;
    marker = Unescaped(NextElement(page, pages.next, at).value_or(""));
    if (names.size() > kMostNames) {
      return Fail(StatusCode::kUnsupported,
                  "'%s': the server lists more than %zu names",
                  location.shown.c_str(), kMostNames);
    }
  } while (!marker.empty());
  return names;
}

}  // namespace mxc::remote
