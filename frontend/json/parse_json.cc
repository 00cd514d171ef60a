// SPDX-License-Identifier: Apache-2.0
// nlohmann's reader checks the text and reports its tokens; the tree and the
// places are ours. The reader does not say where a token lies, but it reports
// them all and in order, so a cursor that walks the text along knows.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "frontend/json/json.h"

namespace mxc {
namespace {

constexpr size_t kMaxBytes = size_t{256} << 20;
constexpr size_t kMaxNesting = 100;
constexpr size_t kMaxValues = 4'000'000;

// Where the next token lies in a text that is known to be well-formed so far.
class TokenCursor {
 public:
  explicit TokenCursor(std::string_view text) : text_(text) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
  }

  std::pair<uint32_t, uint32_t> Next() {
    at_ = text_.find_first_not_of(" \t\r\n,:", at_);
    const size_t begin = at_ = std::min(at_, text_.size());
    if (at_ < text_.size()) at_ = End();
    return {static_cast<uint32_t>(begin), static_cast<uint32_t>(at_)};
  }

 private:
  size_t End() const {
    if (text_[at_] == '"') {
      size_t end = at_ + 1;
      while (end < text_.size() && text_[end] != '"') {
        end += text_[end] == '\\' ? 2 : 1;
      }
      return std::min(end + 1, text_.size());
    }
    if (std::string_view("[]{}").find(text_[at_]) != std::string_view::npos) {
      return at_ + 1;
    }
    return std::min(text_.find_first_of(" \t\r\n,:[]{}\"", at_), text_.size());
  }

  std::string_view text_;
  size_t at_ = 0;
};

// What is wrong, without the reader's own positions and quotations.
std::string Sentence(std::string message) {
  if (const size_t at = message.find(" - "); at != std::string::npos) {
    message.erase(0, at + 3);
  }
  if (const size_t last = message.find("; last read: ");
      last != std::string::npos) {
    const size_t expected = message.rfind("; expected ");
    message.erase(last, expected != std::string::npos && expected > last
                            ? expected - last
                            : std::string::npos);
  }
  return message;
}

// Builds the tree from the reader's events.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(std::string_view text) : cursor_(text) {}

  struct Failure {
    uint32_t begin, end;
    std::string message;
  };

  std::vector<Failure>& failures() { return failures_; }
  JsonValue& root() { return root_; }

  bool null() override { return Leaf(JsonValue::Kind::kNull).second; }
  bool boolean(bool value) override {
    auto [leaf, going_on] = Leaf(JsonValue::Kind::kBool);
    leaf.boolean = value;
    return going_on;
  }
  bool number_integer(int64_t value) override { return Integer(value); }
  bool number_unsigned(uint64_t value) override {
    if (value <= uint64_t{INT64_MAX}) {
      return Integer(static_cast<int64_t>(value));
    }
    return number_float(static_cast<double>(value), "");
  }
  bool number_float(double value, const std::string&) override {
    auto [leaf, going_on] = Leaf(JsonValue::Kind::kReal);
    leaf.real = value;
    return going_on;
  }
  bool string(std::string& value) override {
    auto [leaf, going_on] = Leaf(JsonValue::Kind::kString);
    leaf.string = std::move(value);
    return going_on;
  }
  bool binary(nlohmann::json::binary_t&) override { return false; }

  bool start_object(size_t) override { return Open(JsonValue::Kind::kObject); }
  bool start_array(size_t) override { return Open(JsonValue::Kind::kArray); }
  bool end_object() override {
    CheckKeys(*open_.back());
    return Close();
  }
  bool end_array() override { return Close(); }
  bool key(std::string& key) override {
    const auto [begin, end] = cursor_.Next();
    open_.back()->members.push_back({std::move(key), begin, end, {}});
    return true;
  }

  bool parse_error(size_t position, const std::string&,
                   const nlohmann::json::exception& error) override {
    const auto at = static_cast<uint32_t>(position > 0 ? position - 1 : 0);
    failures_.push_back({at, at + 1, "not JSON: " + Sentence(error.what())});
    return false;
  }

 private:
  bool Integer(int64_t value) {
    auto [leaf, going_on] = Leaf(JsonValue::Kind::kInteger);
    leaf.integer = value;
    leaf.real = static_cast<double>(value);
    return going_on;
  }

  // The slot of the next value: the root, an item or the last member.
  JsonValue& Slot() {
    if (open_.empty()) return root_;
    JsonValue& parent = *open_.back();
    if (parent.Is(JsonValue::Kind::kObject)) return parent.members.back().value;
    return parent.items.emplace_back();
  }

  std::pair<JsonValue&, bool> Leaf(JsonValue::Kind kind) {
    JsonValue& value = Slot();
    value.kind = kind;
    std::tie(value.begin, value.end) = cursor_.Next();
    if (++values_ <= kMaxValues) return {value, true};
    return {value, Stop(value, "the document has too many values")};
  }

  // Containers under construction stay where they are: a parent grows only
  // after its last child is closed.
  bool Open(JsonValue::Kind kind) {
    auto [value, going_on] = Leaf(kind);
    if (!going_on) return false;
    open_.push_back(&value);
    if (open_.size() <= kMaxNesting) return true;
    return Stop(value, "the document is nested too deeply");
  }

  bool Close() {
    open_.back()->end = cursor_.Next().second;
    open_.pop_back();
    return true;
  }

  bool Stop(const JsonValue& at, std::string message) {
    failures_.push_back({at.begin, at.end, std::move(message)});
    return false;
  }

  void CheckKeys(const JsonValue& object) {
    std::vector<const JsonMember*> sorted;
    for (const JsonMember& member : object.members) sorted.push_back(&member);
    std::ranges::stable_sort(sorted, {}, &JsonMember::key);
    for (size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i - 1]->key != sorted[i]->key) continue;
      failures_.push_back({sorted[i]->begin + 1, sorted[i]->end - 1,
                           fmt::format("key '{}' appears twice in one object",
                                       sorted[i]->key)});
    }
  }

  TokenCursor cursor_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  std::vector<Failure> failures_;
  size_t values_ = 0;
};

void SetParents(JsonValue& value) {
  uint32_t position = 0;  // a value has items or members
  for (JsonValue& item : value.items) {
    item.parent = &value;
    item.position = position++;
    SetParents(item);
  }
  for (JsonMember& member : value.members) {
    member.value.parent = &value;
    member.value.position = position++;
    SetParents(member.value);
  }
}

std::vector<uint32_t> LineStarts(std::string_view text) {
  std::vector<uint32_t> starts = {0};
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\n') starts.push_back(static_cast<uint32_t>(i) + 1);
  }
  return starts;
}

}  // namespace

Result<JsonDocument> ParseJson(std::shared_ptr<const SourceFile> source) {
  const std::string& text = source->text;
  JsonDocument document;
  document.source_ = source;
  if (text.size() > kMaxBytes) {
    return Error({source, 1, 1, 1, ""},
                 "the file has {} bytes; up to {} are read", text.size(),
                 kMaxBytes);
  }
  document.line_starts_ = LineStarts(text);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) {
    return Error({source, 1, 1, 1, ""}, "the file is empty");
  }
  TreeBuilder builder(text);
  nlohmann::json::sax_parse(text, &builder);
  if (!builder.failures().empty()) {
    Diagnostics errors;
    for (auto& [begin, end, message] : builder.failures()) {
      const auto size = static_cast<uint32_t>(text.size());
      begin = std::min(begin, size);
      errors.push_back(
          {document.At(begin, std::clamp(end, begin, size), ""), message, {}});
    }
    return errors;
  }
  document.root_ = std::make_unique<JsonValue>(std::move(builder.root()));
  SetParents(*document.root_);
  return document;
}

}  // namespace mxc
