// SPDX-License-Identifier: Apache-2.0
#include "ir/support/lexer.h"

#include <cctype>
#include <charconv>
#include <cstdlib>

namespace mxc {
namespace {

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

constexpr std::string_view kPairs[] = {
    "..", "->", "<=", "==", "!=", "&&", "||"};

}  // namespace

std::string Quoted(std::string_view text, bool keep_lines) {
  std::string out = "\"";
  for (const char c : text) {
    const bool line_feed = c == '\n' && !keep_lines;
    if (c == '"' || c == '\\' || line_feed) out += '\\';
    out += line_feed ? 'n' : c;
  }
  return out + "\"";
}

Lexer::Lexer(std::shared_ptr<const SourceFile> file) : file_(std::move(file)) {
  Next();
}

void Lexer::Next() {
  const std::string& text = file_->text;
  while (at_ < text.size() &&
         (std::isspace(static_cast<unsigned char>(text[at_])) ||
          text[at_] == '#')) {
    if (text[at_] != '#') {
      ++at_;
      continue;
    }
    at_ = std::min(text.find('\n', at_), text.size());
  }
  const size_t begin = at_;
  if (at_ == text.size()) {
    word_ = {};
    return;
  }
  const std::string_view rest = std::string_view(text).substr(at_);
  bool pair = false;
  for (const std::string_view p : kPairs) pair |= rest.starts_with(p);
  if (text[at_] == '"') {
    for (++at_; at_ < text.size() && text[at_] != '"'; ++at_) {
      if (text[at_] == '\\') ++at_;
    }
    at_ = std::min(at_ + 1, text.size());
  } else if (pair) {
    at_ += 2;
  } else if (IsWordByte(text[at_])) {
    // A number's ".." ends it; an exponent may carry a sign.
    while (at_ < text.size() && IsWordByte(text[at_]) &&
           !std::string_view(text).substr(at_).starts_with("..")) {
      const bool exponent =
          (text[at_] == 'e' || text[at_] == 'E') &&
          std::isdigit(static_cast<unsigned char>(text[begin])) &&
          at_ + 1 < text.size() &&
          (text[at_ + 1] == '-' || text[at_ + 1] == '+');
      at_ += exponent ? 2 : 1;
    }
  } else {
    ++at_;
  }
  word_ = std::string_view(text).substr(begin, at_ - begin);
}

bool Lexer::Accept(std::string_view word) {
  if (failed() || word_ != word) return false;
  Next();
  return true;
}

void Lexer::Expect(std::string_view word) {
  if (!Accept(word)) Fail(fmt::format("'{}'", word));
}

void Lexer::ExpectEnd() {
  if (!AtEnd()) Fail("the end");
}

std::string Lexer::Identifier() {
  if (AtEnd() || !IsWordByte(word_[0])) {
    Fail("a name");
    return {};
  }
  std::string name(word_);
  Next();
  return name;
}

std::string Lexer::QuotedString() {
  if (AtEnd() || word_[0] != '"' || word_.size() < 2 || word_.back() != '"') {
    Fail("a quoted string");
    return {};
  }
  std::string out;
  for (size_t i = 1; i + 1 < word_.size(); ++i) {
    const bool escaped = word_[i] == '\\' && i + 2 < word_.size();
    if (escaped) ++i;
    out += escaped && word_[i] == 'n' ? '\n' : word_[i];
  }
  Next();
  return out;
}

int64_t Lexer::Integer() {
  const bool negative = Accept("-");
  int64_t value = 0;
  const std::string_view word = Peek();
  const auto [end, error] =
      std::from_chars(word.data(), word.data() + word.size(), value);
  if (word.empty() || error != std::errc() ||
      end != word.data() + word.size()) {
    Fail("an integer");
    return 0;
  }
  Next();
  return negative ? -value : value;
}

long double Lexer::Number() {
  const bool negative = Accept("-");
  const std::string word(Peek());
  char* end = nullptr;
  const bool whole = word.find_first_not_of("0123456789") == word.npos;
  const long double value = whole ? std::strtold(word.c_str(), &end)
                                  : std::strtod(word.c_str(), &end);
  if (word.empty() || *end != '\0') {
    Fail("a number");
    return 0;
  }
  Next();
  return negative ? -value : value;
}

void Lexer::Fail(std::string_view expected) {
  if (error_) return;
  SourceLoc loc;
  loc.file = file_;
  const size_t begin = at_ - word_.size();
  loc.line = 1;
  size_t line_begin = 0;
  for (size_t i = 0; i < begin; ++i) {
    if (file_->text[i] != '\n') continue;
    ++loc.line;
    line_begin = i + 1;
  }
  loc.column = static_cast<uint32_t>(begin - line_begin + 1);
  loc.length = static_cast<uint32_t>(std::max<size_t>(1, word_.size()));
  error_ = Error(
      loc, "expected {}, found {}", expected,
      word_.empty() ? std::string("the end") : fmt::format("'{}'", word_));
}

Diagnostics Lexer::errors() const {
  return error_ ? Diagnostics{*error_} : Diagnostics{};
}

}  // namespace mxc
