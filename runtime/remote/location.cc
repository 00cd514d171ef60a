// SPDX-License-Identifier: Apache-2.0
#include "runtime/remote/location.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <map>
#include <utility>

#include "runtime/base/visible.h"

namespace mxc::remote {
namespace {

using runtime::Fail;
using runtime::Status;
using runtime::StatusCode;
using runtime::StatusOr;

std::string Variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

std::string FirstVariable(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    std::string text = Variable(name);
    if (!text.empty()) return text;
  }
  return "";
}

std::string Encoded(std::string_view path) {
  return PercentEncoded(path, "-._~/");
}

std::string Trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// A section of a file of AWS: "[default]", then "name = value".
std::map<std::string, std::string> Profile(const std::string& path,
                                           const std::string& profile) {
  std::map<std::string, std::string> values;
  std::ifstream file(path);
  bool inside = false;
  for (std::string line; std::getline(file, line);) {
    line = Trimmed(line);
    if (line.starts_with("[")) inside = line == "[" + profile + "]";
    const size_t equals = line.find('=');
    if (!inside || equals == std::string::npos) continue;
    values[Trimmed(line.substr(0, equals))] = Trimmed(line.substr(equals + 1));
  }
  return values;
}

struct Keys {
  std::string id, secret, session;
};

Keys KeysOfAws() {
  Keys keys{Variable("AWS_ACCESS_KEY_ID"), Variable("AWS_SECRET_ACCESS_KEY"),
            Variable("AWS_SESSION_TOKEN")};
  if (!keys.id.empty() && !keys.secret.empty()) return keys;
  std::string path = Variable("AWS_SHARED_CREDENTIALS_FILE");
  if (path.empty()) path = Variable("HOME") + "/.aws/credentials";
  std::string profile = Variable("AWS_PROFILE");
  if (profile.empty()) profile = "default";
  auto values = Profile(path, profile);
  return {values["aws_access_key_id"], values["aws_secret_access_key"],
          values["aws_session_token"]};
}

// "bucket/key" in two; false where one is missing.
bool Cut(std::string_view text, std::string& first, std::string& rest) {
  const size_t slash = text.find('/');
  if (slash == 0 || slash == text.npos || slash + 1 == text.size())
    return false;
  first = text.substr(0, slash);
  rest = text.substr(slash + 1);
  return true;
}

std::string WithoutEnd(std::string text, char end) {
  while (!text.empty() && text.back() == end) text.pop_back();
  return text;
}

Status Lacks(const std::string& name, const char* expected) {
  return Fail(StatusCode::kInvalidArgument, "'%s': expected %s", name.c_str(),
              expected);
}

Status LocateS3(const std::string& name, std::string_view rest,
                Location& location) {
  std::string bucket, key;
  if (!Cut(rest, bucket, key)) return Lacks(name, "s3://BUCKET/KEY");
  std::string region = FirstVariable({"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (region.empty()) region = "us-east-1";
  const std::string endpoint = WithoutEnd(
      FirstVariable({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"}), '/');
  location.kind = Location::Kind::kS3;
  location.base =
      endpoint.empty() ? "https://s3." + region + ".amazonaws.com" : endpoint;
  location.base += "/" + Encoded(bucket);
  location.key = key;
  location.url = location.UrlWith("");
  const Keys keys = KeysOfAws();
  if (keys.id.empty() || keys.secret.empty()) return {};
  location.signing = "aws:amz:" + region + ":s3";
  location.credentials = keys.id + ":" + keys.secret;
  location.headers.emplace_back("x-amz-content-sha256: UNSIGNED-PAYLOAD");
  if (!keys.session.empty()) {
    location.headers.push_back("x-amz-security-token: " + keys.session);
  }
  return {};
}

Status LocateAzure(const std::string& name, std::string_view rest,
                   Location& location) {
  std::string container, blob;
  if (!Cut(rest, container, blob)) return Lacks(name, "az://CONTAINER/BLOB");
  std::string endpoint =
      WithoutEnd(Variable("AZURE_STORAGE_BLOB_ENDPOINT"), '/');
  const std::string account = Variable("AZURE_STORAGE_ACCOUNT");
  if (endpoint.empty() && account.empty()) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s': AZURE_STORAGE_ACCOUNT does not say whose it is",
                name.c_str());
  }
  if (endpoint.empty()) {
    endpoint = "https://" + account + ".blob.core.windows.net";
  }
  location.kind = Location::Kind::kAzure;
  location.base = endpoint + "/" + Encoded(container);
  location.key = blob;
  location.headers.emplace_back("x-ms-version: 2021-08-06");
  std::string token = Variable("AZURE_STORAGE_SAS_TOKEN");
  if (token.starts_with("?")) token.erase(0, 1);
  location.query = token;
  location.url = location.UrlWith("");
  return {};
}

Status LocateWebHdfs(const std::string& name, std::string_view rest,
                     Location& location) {
  std::string host, path;
  if (!Cut(rest, host, path)) return Lacks(name, "webhdfs://HOST:PORT/PATH");
  location.kind = Location::Kind::kWebHdfs;
  const std::string user = Variable("HADOOP_USER_NAME");
  location.base = "http://" + host + "/webhdfs/v1";
  location.key = path;
  if (!user.empty()) location.query = "user.name=" + Encoded(user);
  location.url = location.UrlWith("");
  return {};
}

// A user and a password stay out of messages, and so does a query, which may be
// a signature.
std::string Shown(const std::string& name) {
  std::string shown = name.substr(0, name.find_first_of("?#"));
  const size_t host = shown.find("://") + 3;
  const size_t slash = shown.find('/', host);
  const size_t at = shown.substr(0, slash).rfind('@');
  if (at != std::string::npos && at > host) shown.erase(host, at + 1 - host);
  return shown;
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(
      text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

}  // namespace

std::string PercentEncoded(std::string_view text, std::string_view plain) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte) != 0) ||
        plain.find(c) != plain.npos) {
      encoded += c;
      continue;
    }
    encoded += {'%', kHex[byte >> 4], kHex[byte & 15]};
  }
  return encoded;
}

std::string PercentDecoded(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned value = 0;
    const char* digits = text.data() + i + 1;
    const bool coded =
        text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(digits, digits + 2, value, 16).ptr == digits + 2;
    if (coded) i += 2;
    bytes += coded ? static_cast<char>(value) : text[i] == '+' ? ' ' : text[i];
  }
  return bytes;
}

std::string Location::UrlOf(std::string_view other,
                            std::string_view parameters) const {
  std::string made = base;
  if (!other.empty() || kind == Kind::kWebHdfs) made += "/" + Encoded(other);
  char join = '?';
  for (const std::string_view part : {std::string_view(query), parameters}) {
    if (part.empty()) continue;
    made += join;
    made += part;
    join = '&';
  }
  return made;
}

Location Location::Below(const std::string& name) const {
  Location below = *this;
  below.key = Folder() + name;
  below.url = below.UrlWith("");
  below.shown = shown.substr(0, shown.rfind('/') + 1) + runtime::Visible(name);
  return below;
}

std::string Location::RangeUrl(uint64_t offset, uint64_t length) const {
  return UrlWith("op=OPEN&offset=" + std::to_string(offset) +
                 "&length=" + std::to_string(length));
}

bool IsUrl(std::string_view name) {
  const size_t end = name.find("://");
  return end != name.npos && end > 0 &&
         std::ranges::all_of(name.substr(0, end), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '+' || c == '-' || c == '.';
         });
}

StatusOr<Location> Locate(const std::string& name) {
  const size_t end = name.find("://");
  const std::string scheme = name.substr(0, end);
  const std::string rest = name.substr(end + 3);
  Location location;
  location.shown = Shown(name);
  if (HasControl(name)) return Lacks(location.shown, "a URL on one line");
  if (scheme == "file") {
    location.kind = Location::Kind::kFile;
    location.url = rest;
    if (!rest.starts_with("/")) return Lacks(name, "file:///PATH");
  } else if (scheme == "http" || scheme == "https") {
    location.url = name;
    if (rest.empty() || rest.starts_with("/")) {
      return Lacks(location.shown, "a host behind ://");
    }
  } else if (scheme == "s3") {
    MXC_RT_RETURN_IF_ERROR(LocateS3(name, rest, location));
  } else if (scheme == "az") {
    MXC_RT_RETURN_IF_ERROR(LocateAzure(name, rest, location));
  } else if (scheme == "webhdfs") {
    MXC_RT_RETURN_IF_ERROR(LocateWebHdfs(name, rest, location));
  } else {
    return Fail(StatusCode::kInvalidArgument,
                "'%s': '%s' is none of file, http, https, s3, az, webhdfs",
                location.shown.c_str(), scheme.c_str());
  }
  return location;
}

StatusOr<Location> LocateInFolder(const std::string& name) {
  return Locate(name + (name.ends_with("/") ? "." : "/."));
}

}  // namespace mxc::remote
