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
  enum class Kind { kFile, kHttp, kWebHdfs };

  Kind kind = Kind::kHttp;
  std::string url;  // of HTTP; of kFile a path. It may hold a secret.
  // For messages: without what follows '?', and without a user.
  std::string shown;
  std::vector<std::string> headers;
  // Of a signed request: "aws:amz:us-east-1:s3" and "key:secret".
  std::string signing, credentials;

  // Of WebHDFS, which has a query for each of these.
  std::string StatusUrl() const { return url + "&op=GETFILESTATUS"; }
  std::string RangeUrl(uint64_t offset, uint64_t length) const;
};

// RFC 3986: "%2F" for each byte that is no letter, no digit and not in `plain`.
std::string PercentEncoded(std::string_view text, std::string_view plain);
bool IsUrl(std::string_view name);
// Refuses schemes that are none of these, and what lacks a host or an object.
runtime::StatusOr<Location> Locate(const std::string& name);

}  // namespace mxc::remote
