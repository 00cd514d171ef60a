// SPDX-License-Identifier: Apache-2.0
// Texts that a language model writes behind prompts, side by side in its streams;
// each begins when a stream is free.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/run/sample/chooser.h"
#include "tools/run/sample/language_model.h"
#include "tools/run/sample/symbols.h"

namespace mxc::run {

// Why a text has ended: it is as long as asked for, it drew the symbol that ends
// texts, it came to the text that is to end it, or the model keeps no more.
enum class Ending { kLength, kEnd, kStop, kBound };
const char* NameOf(Ending ending);  // "length" …

struct WritingOptions {
  ChoiceOptions choice;
  int64_t length = 0;  // the most symbols that are written behind a prompt
  std::string stop;    // ends a text, of which it is no part; empty: nothing
};

struct WrittenText {
  std::string prompt, text;  // what stands behind the prompt
  size_t given = 0, symbols = 0;
  Ending ending = Ending::kLength;
};

// What hears of texts as they are written.
class WritingListener {
 public:
  virtual ~WritingListener() = default;
  // Comes behind what was told of this text before; no character is cut in two,
  // though tokens cut them.
  virtual void Said(size_t text, std::string_view piece) = 0;
  virtual void Ended(size_t text, const WrittenText& written) = 0;
};

class TextWriter {
 public:
  TextWriter(const WritingOptions& options, const Symbols& symbols,
             LanguageModel& model, WritingListener& listener);

  // Each text depends on the seed, its number, its prompt and the model, not on
  // the other texts. Throws before the first one begins where a prompt is none.
  void Write(std::span<const std::string> prompts);

 private:
  struct Prompt {
    std::string text;
    std::vector<uint32_t> symbols;
  };
  // A text that a stream writes.
  struct Growing {
    size_t number = 0;
    uint32_t next = 0;  // the symbol that the model has not seen
    bool first = true;  // nothing stands before the next symbol
    // May be the beginning of options.stop, or of a character.
    std::string held;
    WrittenText written;
  };

  Prompt Read(const std::string& text, size_t number, size_t count) const;
  void WriteNothing(std::span<const Prompt> prompts);
  void Begin(size_t stream, size_t number, const Prompt& prompt);
  // Draws a symbol; the reason where the text ends.
  std::optional<Ending> Grow(size_t stream, Growing& text);
  // Returns whether the text that ends others is there.
  bool Say(Growing& text, const std::string& piece);
  void Tell(Growing& text, std::string_view piece);

  const WritingOptions options_;
  const Symbols& symbols_;
  LanguageModel& model_;
  WritingListener& listener_;
  Chooser chooser_;
  std::vector<std::optional<Growing>> streams_;
};

}  // namespace mxc::run
