// SPDX-License-Identifier: Apache-2.0
// Texts as tokens of a vocabulary; tests/tokens/peers.py compares many more with
// Hugging Face's tokenizers.
#include "runtime/data/text/tokenizer.h"

#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "runtime/data/text/unicode.h"
#include "tests/support/temporary_folder.h"

namespace mxc::data {
namespace {

using Tokens = std::vector<uint32_t>;
using test::WriteText;

const char* const kWords =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nun\n##aff\n##able\nrunning\ncafe\n,\n!"
    "\n日\n本\n##s\na\n";

std::shared_ptr<const Tokenizer> WordPiece(const std::string& lines = kWords) {
  const test::TemporaryFolder folder("word-piece");
  WriteText(folder.File("vocab.txt"), lines);
  auto tokenizer = Tokenizer::Open(folder.path().string());
  REQUIRE(tokenizer.ok());
  return *tokenizer;
}

TEST_CASE("WordPiece: the longest token first, without case and accents") {
  const auto words = WordPiece();
  CHECK(words->Encode("UNAFFABLE, running!") == Tokens{5, 6, 7, 10, 8, 11});
  CHECK(words->Encode("Café cafe\u0301s") == Tokens{9, 9, 14});
  CHECK(words->Encode("日本a") == Tokens{12, 13, 15});
  CHECK(words->Encode("a\x01\u200b\ta\n") == Tokens{15, 15});
  CHECK(words->Encode("unx una") == Tokens{1, 1});
  CHECK(words->Encode("") == Tokens{});
  // A word of 100 characters is looked at, one of 101 unknown.
  std::string word = "a";
  while (word.size() < 100) word += "s";
  CHECK(words->Encode(word).size() == 100);
  CHECK(words->Encode(word + "s") == Tokens{1});
  CHECK(words->Encode("a [MASK][SEP] a [mask]") ==
        Tokens{15, 4, 3, 15, 1, 1, 1});
  CHECK(words->Encode("a\xff\xc3") == Tokens{15});
}

TEST_CASE("WordPiece: one text, a pair, and back") {
  const auto words = WordPiece();
  Tokens types;
  CHECK(words->Framed("a", std::nullopt, &types) == Tokens{2, 15, 3});
  CHECK(types == Tokens{0, 0, 0});
  CHECK(words->Framed("a", "un", &types) == Tokens{2, 15, 3, 5, 3});
  CHECK(types == Tokens{0, 0, 0, 1, 1});
  CHECK(words->Piece(5, true) + words->Piece(6, false) +
            words->Piece(15, false) ==
        "unaff a");
  CHECK(words->Piece(99, true) == "");
}

TEST_CASE("WordPiece: a vocabulary with capitals keeps case and accents") {
  const auto words = WordPiece("[UNK]\n[CLS]\n[SEP]\nCafé\ncafe\r\n");
  CHECK(words->Encode("Café cafe café") == Tokens{3, 4, 0});
}

// Unicode Standard Annex 15, table 7: marks of lower classes stand first.
TEST_CASE("marks are decomposed into their one order") {
  const data::Unicode& unicode = **data::Unicode::Get();
  using Codes = std::vector<int32_t>;
  CHECK(unicode.Decomposed({0x1e0b, 0x0323}) == Codes{'d', 0x0323, 0x0307});
  CHECK(unicode.Decomposed({0x1e0d, 0x0307}) == Codes{'d', 0x0323, 0x0307});
  CHECK(unicode.Decomposed({0xac01, 0x0307, 0x0308, 'q'}) ==
        Codes{0x1100, 0x1161, 0x11a8, 0x0307, 0x0308, 'q'});
}

TEST_CASE("WordPiece: a letter with endless marks costs a moment") {
  std::string text = "a";
  for (int i = 0; i < 200'000; ++i) text += "\u0301\u0323";
  CHECK(WordPiece()->Encode(text) == Tokens{15});
}

// Byte b is token b; then pairs of them, the end of a text last.
class Pairs {
 public:
  Pairs() {
    const auto add = [&](const std::string& name) {
      vocabulary[name] = vocabulary.size();
    };
    int32_t hidden = 0x100;
    for (int32_t byte = 0; byte < 256; ++byte) {
      std::string name;
      const bool seen = (byte > ' ' && byte < 0x7f) ||
                        (byte > 0xa0 && byte < 0xad) || byte > 0xad;
      AppendUtf8(seen ? byte : hidden++, &name);
      add(name);
    }
    for (const char* name : {"he", "ll", "hell", "Ġw", "Ãł", "<|endoftext|>"}) {
      add(name);
    }
  }

  runtime::StatusOr<std::shared_ptr<const Tokenizer>> Open() const {
    const test::TemporaryFolder folder("byte-pairs");
    WriteText(folder.File("vocab.json"), vocabulary.dump());
    WriteText(folder.File("merges.txt"), merges);
    return Tokenizer::Open(folder.File("vocab.json"));
  }

  nlohmann::json vocabulary = nlohmann::json::object();
  std::string merges = "#version: 0.2\nh e\nl l\nhe ll\nĠ w\nÃ ł\n";
};

TEST_CASE("pairs of bytes: joined in the order of the file") {
  const auto pairs = *Pairs().Open();
  CHECK(pairs->Encode("hello world") ==
        Tokens{258, 'o', 259, 'o', 'r', 'l', 'd'});
  CHECK(pairs->Encode("elll") == Tokens{'e', 257, 'l'});
  // The last space goes to the word, a contraction to none.
  CHECK(pairs->Encode("  w w") == Tokens{' ', 259, 259});
  CHECK(pairs->Encode("he's \n") == Tokens{256, '\'', 's', ' ', '\n'});
  CHECK(pairs->Encode("à\xff") == Tokens{260, 0xff});
  CHECK(pairs->Encode("he<|endoftext|>he") == Tokens{256, 261, 256});
  CHECK(pairs->end() == 261);
}

TEST_CASE("pairs of bytes: every text comes back, whatever its bytes") {
  const auto pairs = *Pairs().Open();
  std::string text = "Ünïcödé 日本 😀 \t\r\n  hell's ";
  for (int byte = 0; byte < 256; ++byte) text += static_cast<char>(byte);
  std::string again;
  for (const uint32_t token : pairs->Encode(text)) {
    again += pairs->Piece(token, again.empty());
  }
  CHECK(again == text);
}

TEST_CASE("pairs of bytes: one endless word costs a moment") {
  Pairs pairs;
  pairs.merges = "l l\n";
  const auto tokenizer = *pairs.Open();
  CHECK(tokenizer->Encode(std::string(1'000'000, 'l')) == Tokens(500'000, 257));
}

TEST_CASE("vocabularies that are none are refused with their mistake") {
  const auto says = [](const Pairs& pairs, const std::string& what) {
    const auto opened = pairs.Open();
    REQUIRE_FALSE(opened.ok());
    return opened.status().message().find(what) != std::string::npos;
  };
  Pairs pairs;
  pairs.merges += "h q\n";
  CHECK(says(pairs, "merges.txt: line 7 is 'h q', expected two tokens"));
  pairs = Pairs();
  pairs.vocabulary["x1"] = 3;
  CHECK(says(pairs, "have number 3"));
  pairs = Pairs();
  pairs.vocabulary["x1"] = -3;
  CHECK(says(pairs, "token 'x1' has no number from 0 to 4194303"));
  pairs = Pairs();
  pairs.vocabulary["x1"] = uint64_t{1} << 40;
  CHECK(says(pairs, "token 'x1' has no number"));
  pairs = Pairs();
  pairs.vocabulary.erase("!");
  CHECK(says(pairs, "it has no token '!' for byte 33"));
  pairs = Pairs();
  pairs.vocabulary = nlohmann::json::array({1});
  CHECK(says(pairs, "vocab.json: expected an object"));

  const test::TemporaryFolder folder("vocabulary");
  const auto refused = [&](const std::string& name, const std::string& text) {
    WriteText(folder.File(name), text);
    const auto opened = Tokenizer::Open(folder.File(name));
    REQUIRE_FALSE(opened.ok());
    return opened.status().message();
  };
  CHECK(refused("a.txt", "[UNK]\n[CLS]\n").ends_with("has no line '[SEP]'"));
  CHECK(refused("b.txt", "[UNK]\n[CLS]\n[SEP]\nx\nx\n")
            .ends_with("line 5 repeats 'x' of line 4"));
  CHECK(refused("c.bin", "").find("is no vocabulary") != std::string::npos);
  CHECK_FALSE(Tokenizer::Open(folder.File("absent")).ok());
}

}  // namespace
}  // namespace mxc::data
