// SPDX-License-Identifier: Apache-2.0
// The words of the text format: names, numbers, quoted strings, punctuation;
// '#' begins a comment that ends with the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace mxc::protobuf {

struct TextWord {
  enum class Kind : uint8_t { kEnd, kName, kNumber, kString, kSign };

  Kind kind = Kind::kEnd;
  std::string_view text;  // as written, quotes included
  uint32_t line = 1, column = 1;

  bool Is(std::string_view sign) const {
    return kind == Kind::kSign && text == sign;
  }
};

// Walks a text once. It must outlive the words.
class TextWords {
 public:
  explicit TextWords(std::string_view text);

  const TextWord& Peek() const { return word_; }
  TextWord Next();  // what Peek gave; then the word after it

 private:
  void SkipBlanks();
  size_t End(TextWord::Kind& kind) const;

  std::string_view text_;
  size_t at_ = 0;          // where the next word begins
  size_t line_begin_ = 0;  // of the line of at_
  uint32_t line_ = 1;
  TextWord word_;
};

// A whole number in decimal, octal (0…) or hexadecimal (0x…) digits.
std::optional<uint64_t> WholeNumber(std::string_view digits);
// Decimal, with or without an 'f' at its end; inf, infinity and nan.
std::optional<double> RealNumber(std::string_view word);

// What stands in the quotes, appended to `to`; false if the quotes or an escape
// are not whole.
bool Unquote(std::string_view quoted, std::string& to);
// Returns whether it stands there as it is.
bool IsPlain(std::string_view quoted);

}  // namespace mxc::protobuf
