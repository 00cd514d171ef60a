// SPDX-License-Identifier: Apache-2.0
#include "frontend/json/json.h"

#include "tests/fuzz/networks_text.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

void Walk(const JsonDocument& document, const JsonValue& value) {
  Touch(BytesOf(document.Text(value)));
  (void)document.Locate(value);
  for (const JsonValue& item : value.items) Walk(document, item);
  for (const JsonMember& member : value.members) {
    (void)document.LocateKey(value, member);
    if (value.Find(member.key) != &member.value) Wrong("a key is not found");
    Walk(document, member.value);
  }
}

void RunJson(Bytes input) {
  const auto document = ParseJson(SourceOf(input));
  if (!document.ok()) {
    (void)Render(document.errors());
  } else {
    Walk(*document, document->root());
  }
}

std::vector<std::string> JsonSeeds() {
  return {"{\"a\": [1, -2.5e3, true, false, null], \"\\u00e4\\n\": {}}",
          "[9223372036854775807, -9223372036854775808, 1e308, \"\\ud83d\\ude00"
          "\"]",
          "\"text\"", " 0 "};
}

}  // namespace

extern const Target json;
const Target json = {
    .run = RunJson,
    .seeds = JsonSeeds,
    .most_bytes = 128,
    .words = {"true", "false", "null", "\\u0000", "\\ud83d\\ude00", "1e999",
              "18446744073709551616", "[[[[", "]]]]", "{\"a\":", "\xef\xbb\xbf",
              "\xf0\x9f\x98\x80"}};

}  // namespace mxc::fuzz
