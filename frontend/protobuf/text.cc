// SPDX-License-Identifier: Apache-2.0
#include "frontend/protobuf/text.h"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "frontend/protobuf/text_words.h"
#include "ir/support/nearest.h"

namespace mxc::protobuf {
namespace {

using WordKind = TextWord::Kind;

// "a whole number", "one of MAX, AVE"
std::string Expected(const Field& field) {
  switch (field.kind) {
    case Kind::kInt32:
    case Kind::kInt64:
      return "a whole number";
    case Kind::kUint32:
    case Kind::kUint64:
      return "a whole number of at least 0";
    case Kind::kBool:
      return "true or false";
    case Kind::kFloat:
    case Kind::kDouble:
      return "a number";
    case Kind::kText:
      return "a quoted string";
    case Kind::kMessage:
      return "'{'";
    case Kind::kEnum:
      break;
  }
  std::string words = "one of ";
  for (const auto& [word, value] : field.enumeration().values) {
    if (words.back() != ' ') words += ", ";
    words += word;
  }
  return words;
}

std::optional<int64_t> EnumValue(const EnumType& type, std::string_view word) {
  for (const auto& [name, value] : type.values) {
    if (word == name) return value;
  }
  return std::nullopt;
}

std::optional<int64_t> TruthValue(std::string_view word) {
  if (word == "true" || word == "True" || word == "t" || word == "1") return 1;
  if (word == "false" || word == "False" || word == "f" || word == "0") {
    return 0;
  }
  return std::nullopt;
}

// The largest magnitude of a number of that kind, or of a negative one.
uint64_t LargestOf(Kind kind, bool negative) {
  switch (kind) {
    case Kind::kUint32:
      return negative ? 0 : std::numeric_limits<uint32_t>::max();
    case Kind::kUint64:
      return negative ? 0 : std::numeric_limits<uint64_t>::max();
    case Kind::kInt64:
      return (uint64_t{1} << 63) - (negative ? 0 : 1);
    default:
      return (uint64_t{1} << 31) - (negative ? 0 : 1);
  }
}

class TextReader {
 public:
  TextReader(std::shared_ptr<const SourceFile> source, Storage& storage,
             const TextLimits& limits)
      : source_(std::move(source)),
        words_(source_->text),
        storage_(storage),
        limits_(limits) {}

  Status Run(const MessageType& type, Message& message) {
    message.line = message.column = 1;
    if (source_->text.size() > limits_.bytes) {
      return Error({source_, 1, 1, 1, {}},
                   "{}: a text of {} bytes, at most {} are read", source_->path,
                   source_->text.size(), limits_.bytes);
    }
    ReadFields(type, &message, "", 1);
    if (!errors_.empty()) return std::move(errors_);
    return Done{};
  }

 private:
  SourceLoc LocOf(const TextWord& word) const {
    const auto length = std::max<size_t>(word.text.size(), 1);
    return {source_, word.line, word.column, static_cast<uint32_t>(length), {}};
  }

  template <class... Args>
  void Report(const TextWord& word, fmt::format_string<Args...> format,
              Args&&... args) {
    errors_.push_back(Error(LocOf(word), format, std::forward<Args>(args)...));
  }

  // The text is no such text: nothing after this makes sense.
  bool Stop(const TextWord& word, const std::string& expected) {
    if (word.kind == WordKind::kEnd) {
      Report(word, "the text ends, expected {}", expected);
    } else {
      Report(word, "found '{}', expected {}", word.text, expected);
    }
    return false;
  }

  bool Accept(std::string_view sign) {
    if (!words_.Peek().Is(sign)) return false;
    words_.Next();
    return true;
  }

  // The fields up to `end`, or to the end of the text where it is empty.
  // Without a message they are read for nothing. False after Stop.
  bool ReadFields(const MessageType& type, Message* message,
                  std::string_view end, int depth) {
    std::set<int> seen;
    while (true) {
      const TextWord word = words_.Peek();
      if (word.kind == WordKind::kEnd && end.empty()) return true;
      if (!end.empty() && Accept(end)) return true;
      if (word.kind != WordKind::kName) {
        return Stop(word, end.empty() ? "a field"
                                      : fmt::format("a field or '{}'", end));
      }
      if (errors_.full()) return false;
      words_.Next();
      const Field* field = nullptr;
      if (message != nullptr) field = FindField(type, word, seen);
      const bool read = field == nullptr
                            ? SkipField(word, depth)
                            : ReadField(*field, word, *message, depth);
      if (!read) return false;
      if (!Accept(",")) Accept(";");
    }
  }

  const Field* FindField(const MessageType& type, const TextWord& word,
                         std::set<int>& seen) {
    const Field* field = type.Find(word.text);
    if (field == nullptr) {
      std::vector<std::string_view> known;
      for (const Field& one : type.fields) known.emplace_back(one.name);
      Report(word, "{} has no field '{}'{}", type.name, word.text,
             NearestNote(Nearest(word.text, known)));
      return nullptr;
    }
    if (!seen.insert(field->number).second && !field->repeated) {
      Report(word, "field '{}' is there twice, {} has one", word.text,
             type.name);
    }
    return field;
  }

  bool ReadField(const Field& field, const TextWord& name, Message& message,
                 int depth) {
    const bool colon = Accept(":");
    if (!colon && field.kind != Kind::kMessage) {
      return Stop(words_.Peek(), fmt::format("':' after '{}'", name.text));
    }
    if (!words_.Peek().Is("[")) return ReadValue(field, name, message, depth);
    const TextWord bracket = words_.Next();
    if (!field.repeated) {
      Report(bracket, "'{}' has one value, not a list", name.text);
    }
    if (Accept("]")) return true;
    do {
      if (!ReadValue(field, name, message, depth)) return false;
    } while (Accept(","));
    return Accept("]") || Stop(words_.Peek(), "',' or ']'");
  }

  bool ReadValue(const Field& field, const TextWord& name, Message& message,
                 int depth) {
    if (field.kind == Kind::kMessage) {
      return ReadMessage(&field.message(), &field, name, &message, depth);
    }
    Scalar value;
    if (field.kind == Kind::kText) {
      if (words_.Peek().kind != WordKind::kString) return Misfit(field, depth);
      if (!ReadString(value.text)) return true;
    } else if (!ReadScalar(field, value)) {
      return Misfit(field, depth);
    }
    field.set(&message, value);
    return true;
  }

  // Reports the value that comes and passes over it.
  bool Misfit(const Field& field, int depth) {
    const TextWord word = words_.Peek();
    if (word.kind == WordKind::kEnd || word.Is("}") || word.Is(">")) {
      return Stop(word, Expected(field));
    }
    std::string found(misfit_.empty() ? word.text : misfit_);
    misfit_.clear();
    std::vector<std::string_view> known;
    if (field.kind == Kind::kEnum) {
      for (const auto& [name, value] : field.enumeration().values) {
        known.emplace_back(name);
      }
    }
    Report(word, "field '{}' is '{}', expected {}{}", field.name, found,
           Expected(field), NearestNote(Nearest(found, known)));
    return SkipValue(depth);
  }

  // Consumes the value only if it fits; else the sign before it at most, of
  // which misfit_ has a note.
  bool ReadScalar(const Field& field, Scalar& value) {
    const bool negative = Accept("-");
    const TextWord word = words_.Peek();
    if (negative) misfit_ = "-" + std::string(word.text);
    std::optional<int64_t> integer;
    switch (field.kind) {
      case Kind::kFloat:
      case Kind::kDouble: {
        const auto number = RealNumber(word.text);
        if (!number) return false;
        value.number = negative ? -*number : *number;
        break;
      }
      case Kind::kBool:
        if (!negative) integer = TruthValue(word.text);
        if (!integer) return false;
        break;
      case Kind::kEnum:
        if (!negative) integer = EnumValue(field.enumeration(), word.text);
        if (integer) break;
        [[fallthrough]];
      default: {
        const auto magnitude = WholeNumber(word.text);
        if (!magnitude || *magnitude > LargestOf(field.kind, negative)) {
          return false;
        }
        integer = static_cast<int64_t>(negative ? 0 - *magnitude : *magnitude);
        if (field.kind == Kind::kEnum && !field.enumeration().Has(*integer)) {
          return false;
        }
      }
    }
    if (integer) value.integer = *integer;
    misfit_.clear();
    words_.Next();
    return true;
  }

  // Strings that follow one another are one.
  bool ReadString(Text& text) {
    const TextWord first = words_.Next();
    const bool alone = words_.Peek().kind != WordKind::kString;
    if (alone && IsPlain(first.text)) {
      text = first.text.substr(1, first.text.size() - 2);
      return true;
    }
    std::string joined;
    bool whole = AddString(first, joined);
    while (words_.Peek().kind == WordKind::kString) {
      whole &= AddString(words_.Next(), joined);
    }
    storage_.push_back(std::move(joined));
    text = storage_.back();
    return whole;
  }

  bool AddString(const TextWord& word, std::string& to) {
    if (Unquote(word.text, to)) return true;
    const bool open = word.text.size() < 2 || word.text.back() != word.text[0];
    Report(
        word, "the string {}",
        open ? "does not end on its line" : "has an escape that there is not");
    return false;
  }

  // Into a new message of `owner`, or for nothing where `field` is null.
  bool ReadMessage(const MessageType* type, const Field* field,
                   const TextWord& name, Message* owner, int depth) {
    const TextWord brace = words_.Peek();
    if (!brace.Is("{") && !brace.Is("<")) {
      if (field == nullptr) return Stop(brace, "a value");
      return Misfit(*field, depth);
    }
    words_.Next();
    if (depth >= limits_.depth) {
      Report(brace, "messages lie in messages more than {} deep",
             limits_.depth);
      return false;
    }
    if (++messages_ > limits_.messages) {
      Report(brace, "there are more than {} messages", limits_.messages);
      return false;
    }
    Message* message = field != nullptr ? field->open(owner) : nullptr;
    if (message != nullptr) {
      message->line = name.line;
      message->column = name.column;
    }
    return ReadFields(*type, message, brace.Is("{") ? "}" : ">", depth + 1);
  }

  bool SkipField(const TextWord& name, int depth) {
    const bool colon = Accept(":");
    if (!Accept("[")) {
      if (!colon && !words_.Peek().Is("{") && !words_.Peek().Is("<")) {
        return Stop(words_.Peek(),
                    fmt::format("':' or '{{' after '{}'", name.text));
      }
      return SkipValue(depth);
    }
    if (Accept("]")) return true;
    do {
      if (!SkipValue(depth)) return false;
    } while (Accept(","));
    return Accept("]") || Stop(words_.Peek(), "',' or ']'");
  }

  bool SkipValue(int depth) {
    static const MessageType kAny{"", {}};
    Accept("-");
    const TextWord word = words_.Peek();
    if (word.Is("{") || word.Is("<")) {
      return ReadMessage(&kAny, nullptr, word, nullptr, depth);
    }
    if (word.kind == WordKind::kEnd || word.kind == WordKind::kSign) {
      return Stop(word, "a value");
    }
    words_.Next();
    while (word.kind == WordKind::kString &&
           words_.Peek().kind == WordKind::kString) {
      words_.Next();
    }
    return true;
  }

  const std::shared_ptr<const SourceFile> source_;
  TextWords words_;
  Storage& storage_;
  const TextLimits& limits_;
  size_t messages_ = 0;
  std::string misfit_;
  Diagnostics errors_;
};

}  // namespace

Status ParseText(std::shared_ptr<const SourceFile> source,
                 const MessageType& type, Message& message, Storage& storage,
                 const TextLimits& limits) {
  return TextReader(std::move(source), storage, limits).Run(type, message);
}

bool LooksLike(std::string_view text, const MessageType& type) {
  TextWords words(text);
  const TextWord name = words.Next();
  if (name.kind != WordKind::kName) return false;
  const Field* field = type.Find(name.text);
  if (field == nullptr) return false;
  const TextWord& next = words.Peek();
  if (next.Is(":")) return true;
  return field->kind == Kind::kMessage && (next.Is("{") || next.Is("<"));
}

SourceLoc LocateIn(const std::shared_ptr<const SourceFile>& source,
                   const Message& message) {
  if (message.line == 0) return {};
  return {source, message.line, message.column, 1, {}};
}

}  // namespace mxc::protobuf
