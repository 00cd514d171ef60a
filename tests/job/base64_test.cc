// SPDX-License-Identifier: Apache-2.0
#include "runtime/job/etcd/base64.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace mxc::job {
namespace {

TEST_CASE("bytes as text, by RFC 4648's vectors") {
  const std::pair<std::string, std::string> vectors[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {std::string("\xff\xfe\0", 3), "//4A"},
  };
  for (const auto& [bytes, text] : vectors) {
    CHECK(EncodeBase64(bytes) == text);
    CHECK(DecodeBase64(text) == bytes);
  }
}

TEST_CASE("what is no such text is refused") {
  for (const char* text : {"Z", "Zg", "Zg=", "Zg===", "=",
                           "Zh==", "Zm9v=", "Zm 9", "Zm9v\n", "Zg==Zg=="}) {
    CAPTURE(text);
    CHECK(!DecodeBase64(text));
  }
}

}  // namespace
}  // namespace mxc::job
