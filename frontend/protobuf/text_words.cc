// SPDX-License-Identifier: Apache-2.0
#include "frontend/protobuf/text_words.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>

namespace mxc::protobuf {
namespace {

bool IsDigitByte(char c) { return c >= '0' && c <= '9'; }

bool IsNameByte(char c) {
  return IsDigitByte(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         c == '_';
}

int HexDigit(char c) {
  if (IsDigitByte(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendUtf8(uint32_t code, std::string& to) {
  const auto more = [&](int shift) {
    to += static_cast<char>(0x80 | ((code >> shift) & 0x3f));
  };
  if (code < 0x80) {
    to += static_cast<char>(code);
  } else if (code < 0x800) {
    to += static_cast<char>(0xc0 | (code >> 6));
    more(0);
  } else if (code < 0x10000) {
    to += static_cast<char>(0xe0 | (code >> 12));
    more(6), more(0);
  } else {
    to += static_cast<char>(0xf0 | (code >> 18));
    more(12), more(6), more(0);
  }
}

// The digits of an escape, at most so many.
struct EscapeDigits {
  uint32_t value = 0;
  size_t count = 0;
};

EscapeDigits ReadDigits(std::string_view text, uint32_t base, size_t most) {
  EscapeDigits digits;
  while (digits.count < std::min(most, text.size())) {
    const int digit = HexDigit(text[digits.count]);
    if (digit < 0 || digit >= static_cast<int>(base)) break;
    digits.value = digits.value * base + static_cast<uint32_t>(digit);
    ++digits.count;
  }
  return digits;
}

// Of "\n": what stands behind the backslash, which is not empty. How many bytes
// were read; 0: it is no escape.
size_t ReadEscape(std::string_view text, std::string& to) {
  constexpr std::string_view kLetters = "abfnrtv\\'\"?";
  constexpr std::string_view kMeant = "\a\b\f\n\r\t\v\\'\"?";
  if (const size_t at = kLetters.find(text[0]); at != kLetters.npos) {
    to += kMeant[at];
    return 1;
  }
  if (text[0] == 'x' || text[0] == 'X') {
    const EscapeDigits hex = ReadDigits(text.substr(1), 16, 2);
    to += static_cast<char>(hex.value);
    return hex.count == 0 ? 0 : 1 + hex.count;
  }
  if (text[0] == 'u' || text[0] == 'U') {
    const size_t wanted = text[0] == 'u' ? 4 : 8;
    const EscapeDigits code = ReadDigits(text.substr(1), 16, wanted);
    if (code.count != wanted || code.value > 0x10ffff) return 0;
    AppendUtf8(code.value, to);
    return 1 + wanted;
  }
  const EscapeDigits octal = ReadDigits(text, 8, 3);
  if (octal.value > 0xff) return 0;
  to += static_cast<char>(octal.value);
  return octal.count;
}

// Without the quotes; nothing if there are not two of them.
std::optional<std::string_view> Inside(std::string_view quoted) {
  if (quoted.size() < 2 || quoted.front() != quoted.back()) return {};
  return quoted.substr(1, quoted.size() - 2);
}

}  // namespace

TextWords::TextWords(std::string_view text) : text_(text) {
  if (text_.starts_with("\xef\xbb\xbf")) at_ = line_begin_ = 3;
  Next();
}

void TextWords::SkipBlanks() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '\n') {
      ++at_, ++line_;
      line_begin_ = at_;
    } else if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      ++at_;
    } else {
      return;
    }
  }
}

size_t TextWords::End(TextWord::Kind& kind) const {
  const char first = text_[at_];
  size_t end = at_ + 1;
  if (first == '"' || first == '\'') {
    kind = TextWord::Kind::kString;
    while (end < text_.size() && text_[end] != first && text_[end] != '\n') {
      end += text_[end] == '\\' ? 2 : 1;
    }
    // A string ends with its line.
    const bool whole = end < text_.size() && text_[end] == first;
    return std::min(whole ? end + 1 : end, text_.size());
  }
  const bool fraction =
      first == '.' && end < text_.size() && IsDigitByte(text_[end]);
  if (!IsNameByte(first) && !fraction) {
    kind = TextWord::Kind::kSign;
    return end;
  }
  const bool number = IsDigitByte(first) || fraction;
  kind = number ? TextWord::Kind::kNumber : TextWord::Kind::kName;
  const bool hex = text_.substr(at_).starts_with("0x") ||
                   text_.substr(at_).starts_with("0X");
  while (end < text_.size()) {
    const char c = text_[end];
    const char before = text_[end - 1];
    const bool sign = number && !hex && (c == '-' || c == '+') &&
                      (before == 'e' || before == 'E');
    if (!IsNameByte(c) && !sign && !(number && c == '.')) break;
    ++end;
  }
  return end;
}

TextWord TextWords::Next() {
  const TextWord word = word_;
  SkipBlanks();
  word_ = {};
  word_.line = line_;
  word_.column = static_cast<uint32_t>(at_ - line_begin_) + 1;
  if (at_ < text_.size()) {
    const size_t end = End(word_.kind);
    word_.text = text_.substr(at_, end - at_);
    at_ = end;
  }
  return word;
}

std::optional<uint64_t> WholeNumber(std::string_view digits) {
  int base = 10;
  if (digits.size() > 2 && digits[0] == '0' &&
      (digits[1] == 'x' || digits[1] == 'X')) {
    base = 16;
    digits.remove_prefix(2);
  } else if (digits.size() > 1 && digits[0] == '0') {
    base = 8;
  }
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc() || stop != end) return {};
  return value;
}

std::optional<double> RealNumber(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  if (lower == "inf" || lower == "infinity") {
    return std::numeric_limits<double>::infinity();
  }
  if (lower == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (lower.empty() || (!IsDigitByte(lower[0]) && lower[0] != '.')) return {};
  if (lower.ends_with('f')) lower.pop_back();
  double value = 0;
  const char* end = lower.data() + lower.size();
  const auto [stop, error] = std::from_chars(lower.data(), end, value);
  if (error == std::errc::result_out_of_range && stop == end) {
    // As strtod has it: what is too small is 0, what is too large is infinite.
    return lower.find("e-") != lower.npos
               ? 0
               : std::numeric_limits<double>::infinity();
  }
  if (error != std::errc() || stop != end) return {};
  return value;
}

bool IsPlain(std::string_view quoted) {
  const auto inside = Inside(quoted);
  return inside && inside->find('\\') == inside->npos;
}

bool Unquote(std::string_view quoted, std::string& to) {
  const auto inside = Inside(quoted);
  if (!inside) return false;
  for (size_t i = 0; i < inside->size();) {
    if ((*inside)[i] != '\\') {
      to += (*inside)[i++];
      continue;
    }
    if (++i == inside->size()) return false;
    const size_t read = ReadEscape(inside->substr(i), to);
    if (read == 0) return false;
    i += read;
  }
  return true;
}

}  // namespace mxc::protobuf
