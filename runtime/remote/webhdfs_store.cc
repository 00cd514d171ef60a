// SPDX-License-Identifier: Apache-2.0
// Hadoop's files over HTTP. Source: hadoop.apache.org/docs, WebHDFS REST API (CREATE,
// RENAME, DELETE, LISTSTATUS).
#include <nlohmann/json.hpp>

#include "runtime/remote/store.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

bool IsTrue(const Answer& answer) {
  const auto json = nlohmann::json::parse(TextOf(answer), nullptr, false);
  return answer.whole() && json.is_object() &&
         json.value("boolean", nlohmann::json()) == true;
}

class WebHdfs final : public Store {
 public:
  // Under the name that Hadoop's own `-put` writes to, then under its own: a file
  // grows where everybody sees it, and nothing is renamed onto another.
  Status Put(const Location& location, const Source& source) const override {
    const std::string unfinished = location.key + "._COPYING_";
    MXC_RT_ASSIGN(const auto session, Session::Open());
    MXC_RT_RETURN_IF_ERROR(
        Write(*session, location, location.UrlOf(unfinished, kCreate), source));
    MXC_RT_RETURN_IF_ERROR(Remove(location));
    const std::string to = PercentEncoded("/" + location.key, "-._~/");
    const Answer renamed = session->AskPatiently(
        location,
        {.url = location.UrlOf(unfinished, "op=RENAME&destination=" + to),
         .method = "PUT"});
    if (IsTrue(renamed)) return {};
    if (!renamed.whole()) return Refusal(location, renamed, "write");
    return Fail(StatusCode::kIo, "'%s': the server does not rename '%s' to it",
                location.shown.c_str(), unfinished.c_str());
  }

  StatusOr<std::vector<std::string>> List(
      const Location& location) const override {
    const std::string folder = FolderOf(location);
    MXC_RT_ASSIGN(const auto session, Session::Open());
    const Answer answer = session->AskPatiently(
        location,
        {.url = location.UrlOf(folder, "op=LISTSTATUS"), .most = kMostListing});
    if (answer.status == 404) return std::vector<std::string>();
    if (!answer.whole() || answer.too_long) {
      return Refusal(location, answer, "list");
    }
    return NamesIn(location, answer, location.key.substr(folder.size()));
  }

  Status Remove(const Location& location) const override {
    MXC_RT_ASSIGN(const auto session, Session::Open());
    const Answer answer = session->AskPatiently(
        location, {.url = location.UrlWith("op=DELETE"), .method = "DELETE"});
    if (answer.whole() || answer.status == 404) return {};
    return Refusal(location, answer, "remove");
  }

 private:
  static constexpr const char* kCreate = "op=CREATE&overwrite=true";
  static constexpr uint64_t kMostListing = 64 << 20;

  // The name node says which data node takes the bytes.
  static Status Write(Session& session, const Location& location,
                      const std::string& url, const Source& source) {
    const Answer led =
        session.AskPatiently(location, {.url = url, .method = "PUT"});
    if (led.status != 307 || led.leads_to.empty()) {
      return Refusal(location, led, "write");
    }
    const Answer written = session.AskPatiently(
        location, {.url = led.leads_to,
                   .method = "PUT",
                   .headers = {"Content-Type: application/octet-stream"},
                   .sent = {source.file, 0, source.bytes}});
    return written.whole() ? Status() : Refusal(location, written, "write");
  }

  static StatusOr<std::vector<std::string>> NamesIn(
      const Location& location, const Answer& answer,
      const std::string& beginning) {
    const auto json = nlohmann::json::parse(TextOf(answer), nullptr, false);
    const nlohmann::json::json_pointer list("/FileStatuses/FileStatus");
    if (!json.is_object() || !json.contains(list) ||
        !json.at(list).is_array()) {
      return Fail(StatusCode::kIo, "'%s': the server's list is none",
                  location.shown.c_str());
    }
    std::vector<std::string> names;
    for (const auto& file : json.at(list)) {
      if (!file.is_object() || file.value("type", "") != "FILE") continue;
      const std::string name = file.value("pathSuffix", "");
      if (name.starts_with(beginning)) names.push_back(name);
    }
    return names;
  }
};

}  // namespace

const Store& WebHdfsStore() {
  static const WebHdfs store;
  return store;
}

}  // namespace mxc::remote
