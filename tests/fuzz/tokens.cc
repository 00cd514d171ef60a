// SPDX-License-Identifier: Apache-2.0
// Published vocabularies: the words of one, the pairs of another with a token for
// each byte and some more, and its numbers.
#include <nlohmann/json.hpp>

#include "runtime/data/text/tokenizer.h"
#include "runtime/data/text/unicode.h"
#include "tests/fuzz/corpus.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {
namespace {

const std::string& ByteVocabulary() {
  static const std::string text = [] {
    nlohmann::json tokens;
    int32_t hidden = 0x100;
    for (int32_t byte = 0; byte < 256; ++byte) {
      std::string name;
      const bool seen = (byte > ' ' && byte < 0x7f) ||
                        (byte > 0xa0 && byte < 0xad) || byte > 0xad;
      data::AppendUtf8(seen ? byte : hidden++, &name);
      tokens[name] = byte;
    }
    for (const char* name : {"aa", "aaa", "ab", "Ġa"}) {
      tokens[name] = tokens.size();
    }
    return tokens.dump();
  }();
  return text;
}

void RunTokens(Bytes input) {
  static MemoryFile file, bytes;
  static const std::string vocabulary =
      bytes.Hold(std::as_bytes(std::span(ByteVocabulary())));
  const std::string& path = file.Hold(input);
  const std::string text(TextOf(input));
  if (const auto words = data::OpenWordPiece(path); words.ok()) {
    for (const uint32_t token : (*words)->Encode(text)) {
      if (token >= (*words)->names().size()) Wrong("there is no such token");
    }
  }
  if (const auto pairs = data::OpenBytePairs(vocabulary, path); pairs.ok()) {
    std::string again;
    for (const uint32_t token : (*pairs)->Encode(text)) {
      again += (*pairs)->Piece(token, again.empty());
    }
    if (again != text) Wrong("the text does not come back");
  }
  (void)data::OpenBytePairs(path, "/dev/null");
}

std::vector<std::string> TokenSeeds() {
  return {"[UNK]\n[CLS]\n[SEP]\nab\n##c\n", "#version: 0.2\na a\naa a\nĠ a\n",
          R"({"a": 0, "b": 1})"};
}

}  // namespace

extern const Target tokens;
const Target tokens = {.run = RunTokens,
                       .seeds = TokenSeeds,
                       .most_bytes = 96,
                       .words = {"[SEP]\n", "##", "a a\n", "\": ", "\xcc\x88"}};

}  // namespace mxc::fuzz
