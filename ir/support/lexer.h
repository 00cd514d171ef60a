// SPDX-License-Identifier: Apache-2.0
// Words of the IRs' text forms: names, numbers, quoted strings, punctuation.
// '#' starts a comment that ends with the line.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "ir/support/diagnostic.h"
#include "ir/support/result.h"

namespace mxc {

// In quotes, with escapes, as Lexer::QuotedString reads it back. Line feeds are
// escapes, too, since lines within a body are indented; `keep_lines`: they stay.
std::string Quoted(std::string_view text, bool keep_lines = false);

// Reads a text once, from front to back. The first error is kept; from then on
// every question is answered as at the end of the text.
class Lexer {
 public:
  explicit Lexer(std::shared_ptr<const SourceFile> file);

  bool failed() const { return error_.has_value(); }
  bool AtEnd() const { return failed() || word_.empty(); }
  // The next word as written; strings with their quotes.
  std::string_view Peek() const {
    return failed() ? std::string_view() : word_;
  }

  // Consumes the word if it comes next.
  bool Accept(std::string_view word);
  // The same, but it must come.
  void Expect(std::string_view word);
  void ExpectEnd();            // of the text
  std::string Identifier();    // letters, digits, '_', '.'
  std::string QuotedString();  // without its quotes and escapes
  int64_t Integer();           // of any sign
  long double Number();        // exact if an integer; also inf, -inf, nan

  // Records "expected …, found '…'" at the next word.
  void Fail(std::string_view expected);
  // What was recorded, or nothing.
  Diagnostics errors() const;

 private:
  void Next();

  std::shared_ptr<const SourceFile> file_;
  size_t at_ = 0;          // end of word_
  std::string_view word_;  // empty at the end
  std::optional<Diagnostic> error_;
};

}  // namespace mxc
