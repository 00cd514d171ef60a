// SPDX-License-Identifier: Apache-2.0
// A JSON document in which every value knows its place in the text.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/support/diagnostic.h"
#include "ir/support/result.h"

namespace mxc {

struct JsonMember;

struct JsonValue {
  enum class Kind : uint8_t {
    kNull,
    kBool,
    kInteger,  // fits 64 bits, written without fraction or exponent
    kReal,
    kString,
    kArray,
    kObject,
  };

  Kind kind = Kind::kNull;
  bool boolean = false;
  uint32_t begin = 0,
           end = 0;  // bytes of the text, brackets and quotes included
  int64_t integer = 0;
  double real = 0;
  std::string string;
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  // in the order of the text, keys unique
  const JsonValue* parent = nullptr;
  uint32_t position = 0;  // among the parent's items or members

  bool Is(Kind k) const { return kind == k; }
  const JsonValue* Find(std::string_view key) const;  // null if absent
};

struct JsonMember {
  std::string key;
  uint32_t begin = 0, end = 0;  // of the key, quotes included
  JsonValue value;
};

// "an integer", "a string" … for messages.
std::string_view KindName(JsonValue::Kind kind);

class JsonDocument {
 public:
  const JsonValue& root() const { return *root_; }
  const std::shared_ptr<const SourceFile>& source() const { return source_; }

  // Strings without their quotes, brackets alone, other values whole.
  SourceLoc Locate(const JsonValue& value) const;
  SourceLoc LocateKey(const JsonValue& object, const JsonMember& member) const;
  // The text of the value as it stands in the file.
  std::string_view Text(const JsonValue& value) const;

 private:
  friend Result<JsonDocument> ParseJson(std::shared_ptr<const SourceFile>);
  SourceLoc At(uint32_t begin, uint32_t end, std::string path) const;

  std::shared_ptr<const SourceFile> source_;
  std::unique_ptr<JsonValue> root_;
  std::vector<uint32_t> line_starts_;
};

// What a reader of a document says about it. A value that is read many times is
// wrong once: the same words about the same place are not repeated.
class JsonDiagnostics {
 public:
  JsonDiagnostics(const JsonDocument& document, Diagnostics& errors)
      : document_(document), errors_(errors) {}

  template <class... Args>
  void Fail(const SourceLoc& loc, fmt::format_string<Args...> format,
            Args&&... args) {
    Report(Error(loc, format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void Fail(const JsonValue& at, fmt::format_string<Args...> format,
            Args&&... args) {
    Fail(document_.Locate(at), format, std::forward<Args>(args)...);
  }
  // "'nodes' is a string, expected a list"; whether the value is of that kind.
  bool Expect(const JsonValue& value, JsonValue::Kind kind,
              std::string_view what);
  void Report(Diagnostic error);

 protected:
  const JsonDocument& document_;
  Diagnostics& errors_;

 private:
  std::set<std::pair<uint64_t, std::string>> reported_;  // place, message
};

// "nodes[12].attrs.kernel"; empty for the root.
std::string PathOf(const JsonValue& value);

// Refuses what is not JSON, keys that appear twice, nesting deeper than 100,
// texts over 256 MiB and documents of more than 4 million values.
Result<JsonDocument> ParseJson(std::shared_ptr<const SourceFile> source);

}  // namespace mxc
