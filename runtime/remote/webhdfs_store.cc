// SPDX-License-Identifier: Apache-2.0
// Hadoop's files over HTTP. Source: hadoop.apache.org/docs, WebHDFS REST API (CREATE,
// RENAME, DELETE, LISTSTATUS).
#include <functional>
#include <nlohmann/json.hpp>

#include "runtime/remote/object.h"
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
    const std::string folder = location.Folder();
    MXC_RT_ASSIGN(const auto session, Session::Open());
    std::vector<std::string> names;
    const std::string beginning = location.key.substr(folder.size());
    const auto take = [&](const nlohmann::json& file) -> Status {
      const std::string name = file.value("pathSuffix", "");
      if (file.value("type", "") == "FILE" && name.starts_with(beginning)) {
        names.push_back(name);
      }
      return {};
    };
    MXC_RT_RETURN_IF_ERROR(ForEachIn(*session, location, folder, take));
    return names;
  }

  StatusOr<std::vector<runtime::ListedFile>> ListBelow(
      const Location& location) const override {
    const std::string top = location.Folder();
    MXC_RT_ASSIGN(const auto session, Session::Open());
    std::vector<runtime::ListedFile> files;
    std::vector<std::string> folders = {""};  // each with "/" at its end
    for (size_t i = 0; i < folders.size(); ++i) {
      const std::string folder = folders[i];
      const auto take = [&](const nlohmann::json& file) -> Status {
        const std::string name = folder + file.value("pathSuffix", "");
        if (file.value("type", "") == "DIRECTORY")
          folders.push_back(name + "/");
        if (file.value("type", "") == "FILE") {
          const auto bytes = file.value("length", int64_t{-1});
          if (bytes < 0 || static_cast<uint64_t>(bytes) > kMostObject) {
            return Fail(StatusCode::kIo,
                        "'%s': the server's list does not say how many bytes "
                        "it has",
                        location.Below(name).shown.c_str());
          }
          const auto changed = file.value("modificationTime", int64_t{-1});
          files.push_back({name, static_cast<uint64_t>(bytes),
                           changed < 0 ? "" : std::to_string(changed)});
        }
        const size_t names = folders.size() + files.size();
        return names > kMostNames ? TooManyNames(location) : Status();
      };
      MXC_RT_RETURN_IF_ERROR(ForEachIn(*session, location, top + folder, take));
    }
    return files;
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

  // What lies in a folder, each as Hadoop's FileStatus has it; nothing where there
  // is no folder.
  static Status ForEachIn(
      Session& session, const Location& location, const std::string& folder,
      const std::function<Status(const nlohmann::json&)>& take) {
    const Answer answer = session.AskPatiently(
        location,
        {.url = location.UrlOf(folder, "op=LISTSTATUS"), .most = kMostListing});
    if (answer.status == 404) return {};
    if (!answer.whole() || answer.too_long) {
      return Refusal(location, answer, "list");
    }
    const auto json = nlohmann::json::parse(TextOf(answer), nullptr, false);
    const nlohmann::json::json_pointer list("/FileStatuses/FileStatus");
    const Status none = Fail(StatusCode::kIo, "'%s': the server's list is none",
                             location.shown.c_str());
    if (!json.is_object() || !json.contains(list) ||
        !json.at(list).is_array()) {
      return none;
    }
    for (const auto& file : json.at(list)) {
      try {
        if (file.is_object()) MXC_RT_RETURN_IF_ERROR(take(file));
      } catch (const nlohmann::json::type_error&) {
        return none;
      }
    }
    return {};
  }
};

}  // namespace

const Store& WebHdfsStore() {
  static const WebHdfs store;
  return store;
}

}  // namespace mxc::remote
