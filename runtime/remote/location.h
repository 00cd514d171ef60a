// SPDX-License-Identifier: Apache-2.0
// Where a URL's bytes are, and what a server wants to be told before it gives them.
//
//   https://host/path?query, http://…   as they are
//   s3://bucket/key     $AWS_ENDPOINT_URL_S3 or $AWS_ENDPOINT_URL, else Amazon's;
//                       $AWS_REGION; keys of $AWS_ACCESS_KEY_ID,
//                       $AWS_SECRET_ACCESS_KEY and $AWS_SESSION_TOKEN, else of
//                       $AWS_PROFILE in ~/.aws/credentials
//                       ($AWS_SHARED_CREDENTIALS_FILE); without keys unsigned
//   az://container/blob $AZURE_STORAGE_ACCOUNT, or the whole
//                       $AZURE_STORAGE_BLOB_ENDPOINT; $AZURE_STORAGE_SAS_TOKEN
//   webhdfs://host:port/path   user $HADOOP_USER_NAME
//   file:///path        a path
//
// Source: docs.aws.amazon.com/AmazonS3/latest/API, learn.microsoft.com/rest/api/
// storageservices, hadoop.apache.org/docs, WebHDFS REST API.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::remote {

struct Location {
  enum class Kind { kFile, kHttp, kS3, kAzure, kWebHdfs };

  Kind kind = Kind::kHttp;
  std::string url;  // of HTTP; of kFile a path. It may hold a secret.
  // For messages: without what follows '?', and without a user.
  std::string shown;
  // Of all but kFile and kHttp: the bucket's, container's or file system's URL, what
  // the object is called there (not encoded), and what each question carries.
  std::string base, key, query;
  std::vector<std::string> headers;
  // Of a signed request: "aws:amz:us-east-1:s3" and "key:secret".
  std::string signing, credentials;

  // Of what is called `other` there, or of all that is; `parameters`, "a=1&b=2", are encoded and, as
  // signatures want them, sorted.
  std::string UrlOf(std::string_view other, std::string_view parameters) const;
  // Of the object itself.
  std::string UrlWith(std::string_view parameters) const {
    return UrlOf(key, parameters);
  }
  // "folder/" of "folder/name".
  std::string Folder() const { return key.substr(0, key.rfind('/') + 1); }
  // What has this name in the folder.
  Location Below(const std::string& name) const;
  // Of WebHDFS.
  std::string RangeUrl(uint64_t offset, uint64_t length) const;
};

// RFC 3986: "%2F" for each byte that is no letter, no digit and not in `plain`.
std::string PercentEncoded(std::string_view text, std::string_view plain);
// Of a value behind "?".
inline std::string QueryEncoded(std::string_view text) {
  return PercentEncoded(text, "-._~");
}
// The bytes that a text stands for, "+" for a space.
std::string PercentDecoded(std::string_view text);
bool IsUrl(std::string_view name);
// Refuses schemes that are none of these, and what lacks a host or an object.
runtime::StatusOr<Location> Locate(const std::string& name);
// Any object in the folder that `name` is.
runtime::StatusOr<Location> LocateInFolder(const std::string& name);

}  // namespace mxc::remote
