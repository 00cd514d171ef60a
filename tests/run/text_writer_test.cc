// SPDX-License-Identifier: Apache-2.0
// Texts side by side in the streams of a language model: where each begins, ends,
// and what is told of it meanwhile.
#include "tools/run/sample/text_writer.h"

#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "tools/run/failure.h"

namespace mxc::run {
namespace {

// Each piece is a symbol, which the last one ends if `ends`; prompts have symbols
// of a byte.
class Pieces : public Symbols {
 public:
  explicit Pieces(std::vector<std::string> pieces, bool ends = false)
      : pieces_(std::move(pieces)), ends_(ends) {}

  size_t count() const override { return pieces_.size(); }
  std::vector<uint32_t> Encode(const std::string& text) const override {
    std::vector<uint32_t> symbols;
    for (const char c : text) {
      const auto found = std::ranges::find(pieces_, std::string(1, c));
      if (found == pieces_.end()) throw Failure("no symbol");
      symbols.push_back(static_cast<uint32_t>(found - pieces_.begin()));
    }
    return symbols;
  }
  std::string Piece(uint32_t symbol, bool) const override {
    return pieces_[symbol];
  }
  std::optional<uint32_t> end() const override {
    if (!ends_) return std::nullopt;
    return static_cast<uint32_t>(pieces_.size() - 1);
  }
  uint32_t beginning() const override { return 0; }

 private:
  const std::vector<std::string> pieces_;
  const bool ends_;
};

// Says of a text what is computed from its symbols.
class FakeModel : public LanguageModel {
 public:
  FakeModel(size_t streams, size_t bound, size_t symbols)
      : bound_(bound), texts_(streams), said_(streams, Row(symbols)) {}
  virtual void Say(const std::vector<uint32_t>& text,
                   std::span<float> said) = 0;

  size_t streams() const override { return texts_.size(); }
  size_t bound() const override { return bound_; }
  void Begin(size_t stream, std::span<const uint32_t> symbols) override {
    texts_[stream].assign(symbols.begin(), symbols.end());
  }
  void Add(std::span<const std::optional<uint32_t>> symbols) override {
    REQUIRE(symbols.size() == texts_.size());
    ++runs;
    for (size_t s = 0; s < texts_.size(); ++s) {
      if (!symbols[s]) continue;
      texts_[s].push_back(*symbols[s]);
      if (bound_ > 0) REQUIRE(texts_[s].size() <= bound_);
      std::ranges::fill(said_[s], 0.0f);
      Say(texts_[s], said_[s]);
    }
  }
  std::span<const float> Said(size_t stream) const override {
    return said_[stream];
  }

  size_t runs = 0;

 private:
  using Row = std::vector<float>;
  const size_t bound_;
  std::vector<std::vector<uint32_t>> texts_;
  std::vector<Row> said_;
};

// The symbol behind the last one; after the last the first.
class Counting : public FakeModel {
 public:
  using FakeModel::FakeModel;
  void Say(const std::vector<uint32_t>& text, std::span<float> said) override {
    said[(text.back() + 1) % said.size()] = 1;
  }
};

// Some distribution that depends on the whole text.
class Mixing : public FakeModel {
 public:
  using FakeModel::FakeModel;
  void Say(const std::vector<uint32_t>& text, std::span<float> said) override {
    uint32_t hash = 1;
    for (const uint32_t symbol : text) hash = hash * 31 + symbol + 7;
    float sum = 0;
    for (float& p : said) {
      hash = hash * 1664525 + 1013904223;
      sum += p = static_cast<float>(hash >> 20);
    }
    for (float& p : said) p /= sum;
  }
};

class Heard : public WritingListener {
 public:
  void Said(size_t text, std::string_view piece) override {
    CHECK_FALSE(ended.contains(text));
    pieces[text].emplace_back(piece);
  }
  void Ended(size_t text, const WrittenText& written) override {
    CHECK_FALSE(ended.contains(text));
    std::string told;
    for (const std::string& piece : pieces[text]) told += piece;
    CHECK(told == written.text);
    ended[text] = written;
  }

  std::map<size_t, std::vector<std::string>> pieces;
  std::map<size_t, WrittenText> ended;
};

const std::vector<std::string> kLetters = {"a", "b", "c", "d", "e",
                                           "f", "g", "h", "."};

WritingOptions Likeliest(int64_t length, std::string stop = "") {
  return {
      .choice = {.temperature = 0}, .length = length, .stop = std::move(stop)};
}

Heard Write(const WritingOptions& options, const Symbols& symbols,
            LanguageModel& model, const std::vector<std::string>& prompts) {
  Heard heard;
  TextWriter(options, symbols, model, heard).Write(prompts);
  REQUIRE(heard.ended.size() == prompts.size());
  return heard;
}

std::string MessageOf(const WritingOptions& options, const Symbols& symbols,
                      LanguageModel& model,
                      const std::vector<std::string>& prompts) {
  Heard heard;
  try {
    TextWriter(options, symbols, model, heard).Write(prompts);
  } catch (const Failure& failure) {
    CHECK(model.streams() > 0);
    CHECK(heard.pieces.empty());
    return failure.what();
  }
  return "";
}

}  // namespace

TEST_CASE("writing: as many symbols as asked for, behind the prompt") {
  Counting model(1, 0, 9);
  const Heard heard = Write(Likeliest(3), Pieces(kLetters), model, {"ab"});
  const WrittenText& text = heard.ended.at(0);
  CHECK(text.prompt == "ab");
  CHECK(text.text == "cde");
  CHECK(text.symbols == 3);
  CHECK(text.ending == Ending::kLength);
  CHECK(heard.pieces.at(0) == std::vector<std::string>{"c", "d", "e"});
}

TEST_CASE("writing: without a prompt behind the symbol between texts") {
  Counting model(1, 0, 9);
  CHECK(Write(Likeliest(2), Pieces(kLetters), model, {""}).ended.at(0).text ==
        "bc");
}

TEST_CASE("writing: nothing, where no symbol is asked for") {
  Counting model(2, 0, 9);
  const Heard heard = Write(Likeliest(0), Pieces(kLetters), model, {"a", "b"});
  CHECK(heard.ended.at(1).prompt == "b");
  CHECK(heard.ended.at(1).text.empty());
  CHECK(model.runs == 0);
}

TEST_CASE("writing: ends with the symbol that ends texts, which is not told") {
  Counting model(1, 0, 9);
  const Heard heard =
      Write(Likeliest(50), Pieces(kLetters, /*ends=*/true), model, {"e"});
  CHECK(heard.ended.at(0).text == "fgh");
  CHECK(heard.ended.at(0).symbols == 3);
  CHECK(heard.ended.at(0).ending == Ending::kEnd);
}

TEST_CASE("writing: ends before the text that is to end it") {
  Counting model(1, 0, 9);
  Heard heard = Write(Likeliest(50, "ef"), Pieces(kLetters), model, {"a"});
  CHECK(heard.ended.at(0).text == "bcd");
  CHECK(heard.ended.at(0).ending == Ending::kStop);
  // "e" was not told before it was known what follows; "ex" does not follow.
  CHECK(heard.pieces.at(0).back() == "d");
  heard = Write(Likeliest(5, "ex"), Pieces(kLetters), model, {"a"});
  CHECK(heard.ended.at(0).text == "bcdef");
  CHECK(heard.pieces.at(0) == std::vector<std::string>{"b", "c", "d", "ef"});
  // What may have been its beginning is told where the text ends otherwise.
  heard = Write(Likeliest(4, "ef"), Pieces(kLetters), model, {"a"});
  CHECK(heard.ended.at(0).text == "bcde");
  // In the midst of symbols, and of what looked like it: "aab" in "aaab".
  Counting pair(1, 0, 3);
  heard = Write(Likeliest(9, "aab"), Pieces({"x", "aa", "ab!"}), pair, {"x"});
  CHECK(heard.ended.at(0).text == "a");
  CHECK(heard.ended.at(0).ending == Ending::kStop);
}

TEST_CASE("writing: ends where the model keeps no more") {
  // The last symbol of five is drawn, and never seen.
  Counting model(1, 4, 9);
  const Heard heard = Write(Likeliest(50), Pieces(kLetters), model, {"ab"});
  CHECK(heard.ended.at(0).text == "cde");
  CHECK(heard.ended.at(0).ending == Ending::kBound);
  Counting full(1, 4, 9);
  CHECK(
      Write(Likeliest(50), Pieces(kLetters), full, {"abcd"}).ended.at(0).text ==
      "e");
}

TEST_CASE("writing: no character is told in two pieces") {
  // "é" and "🙂" in symbols of a byte each, and a byte that begins nothing.
  const std::vector<std::string> bytes = {"a",    "\xc3", "\xa9", "b",
                                          "\xf0", "\x9f", "\x99", "\x82",
                                          "\x99", "c",    "\xe2"};
  Counting model(1, 0, bytes.size());
  Heard heard = Write(Likeliest(9), Pieces(bytes), model, {"a"});
  CHECK(heard.pieces.at(0) ==
        std::vector<std::string>{"é", "b", "🙂", "\x99", "c"});
  // What never becomes one is told at the end.
  heard = Write(Likeliest(10), Pieces(bytes), model, {"a"});
  CHECK(heard.pieces.at(0).back() == "\xe2");
  heard = Write(Likeliest(10,
                          "\x82\x99"
                          "c"),
                Pieces(bytes), model, {"a"});
  CHECK(heard.ended.at(0).text == "éb\xf0\x9f\x99");
}

TEST_CASE("writing: texts take streams as these are free") {
  // Of 9 texts two streams write 5 symbols each: 45 in 23 runs of two.
  Counting model(2, 0, 9);
  std::vector<std::string> prompts;
  for (const std::string& letter : kLetters) prompts.push_back(letter);
  const Heard heard = Write(Likeliest(5), Pieces(kLetters), model, prompts);
  CHECK(model.runs == 25);  // the ninth is alone
  CHECK(heard.ended.at(8).text == "abcde");
  CHECK(heard.ended.at(7).text == ".abcd");
}

TEST_CASE("writing: a text depends on no other, however many are beside it") {
  const std::vector<std::string> prompts = {"a", "abc", "",   "hgfedcba",
                                            "b", "cc",  "dab"};
  const WritingOptions options{
      .choice = {.temperature = 0.7, .top_p = 0.9, .seed = 11},
      .length = 30,
      .stop = "b"};
  const Pieces symbols(kLetters, /*ends=*/true);
  Mixing one(1, 20, 9), three(3, 20, 9), nine(9, 20, 9);
  const Heard alone = Write(options, symbols, one, prompts);
  std::map<Ending, int> endings;
  for (FakeModel* model : {&three, &nine}) {
    const Heard beside = Write(options, symbols, *model, prompts);
    for (size_t i = 0; i < prompts.size(); ++i) {
      CHECK(beside.ended.at(i).text == alone.ended.at(i).text);
      CHECK(beside.ended.at(i).ending == alone.ended.at(i).ending);
      ++endings[beside.ended.at(i).ending];
    }
  }
  CHECK(endings.size() > 1);
  // The same prompt as another text draws otherwise.
  Mixing again(2, 20, 9);
  const Heard same = Write(options, symbols, again, {"abc", "abc"});
  CHECK(same.ended.at(1).text == alone.ended.at(1).text);
  CHECK(same.ended.at(0).text != alone.ended.at(1).text);
}

TEST_CASE("writing: a prompt that is none is refused before any text begins") {
  Counting model(2, 3, 9);
  CHECK(MessageOf(Likeliest(5), Pieces(kLetters), model, {"abcd"}) ==
        "the prompt has 4 tokens, expected at most 3, of which a text of this "
        "network consists");
  CHECK(MessageOf(Likeliest(5), Pieces(kLetters), model, {"a", "abcd", "x"}) ==
        "prompt 2 has 4 tokens, expected at most 3, of which a text of this "
        "network consists");
  CHECK(MessageOf(Likeliest(5), Pieces(kLetters), model, {"a", "x"}) ==
        "no symbol");
}

}  // namespace mxc::run
