// SPDX-License-Identifier: Apache-2.0
#include "tools/run/sample/symbols.h"

#include <algorithm>
#include <utility>

#include "runtime/data/iterator.h"
#include "runtime/data/text/tokenizer.h"
#include "runtime/data/text/vocabulary.h"
#include "tools/run/failure.h"

namespace mxc::run {
namespace {

// Of a vocabulary that somebody published.
class Tokens : public Symbols {
 public:
  explicit Tokens(std::shared_ptr<const data::Tokenizer> tokenizer)
      : tokenizer_(std::move(tokenizer)) {}

  size_t count() const override { return tokenizer_->names().size(); }
  std::vector<uint32_t> Encode(const std::string& text) const override {
    return tokenizer_->Encode(text);
  }
  std::string Piece(uint32_t symbol, bool first) const override {
    return tokenizer_->Piece(symbol, first);
  }
  std::optional<uint32_t> end() const override { return tokenizer_->end(); }
  // Texts stand behind the ends of others where such models learn.
  uint32_t beginning() const override {
    if (end()) return *end();
    throw Failure(
        "the vocabulary has no token between texts; give the "
        "beginning of one by --prompt");
  }

 private:
  const std::shared_ptr<const data::Tokenizer> tokenizer_;
};

// Characters or words of the text that the model learned. Where 0 has no name,
// it learned lines, which that fills up.
class Units : public Symbols {
 public:
  explicit Units(data::Vocabulary vocabulary)
      : vocabulary_(std::move(vocabulary)), unit_(UnitOf(vocabulary_)) {}

  size_t count() const override { return names().size(); }
  std::vector<uint32_t> Encode(const std::string& text) const override {
    return Take(vocabulary_.Encode(text, unit_, /*unknown=*/""));
  }
  std::string Piece(uint32_t symbol, bool first) const override {
    const bool spaced = unit_ == data::TextUnit::kWord && !first;
    return (spaced ? " " : "") + names()[symbol];
  }
  std::optional<uint32_t> end() const override {
    if (names()[0].empty()) return 0;
    return std::nullopt;
  }
  uint32_t beginning() const override {
    if (!end()) return 0;
    throw Failure("the model knows lines; give their beginning by --prompt");
  }

 private:
  // Words, where a symbol is longer than a character.
  static data::TextUnit UnitOf(const data::Vocabulary& vocabulary) {
    const auto is_long = [](std::string_view name) {
      data::TakeUnit(&name, data::TextUnit::kCharacter);
      return !name.empty();
    };
    return std::ranges::any_of(vocabulary.names(), is_long)
               ? data::TextUnit::kWord
               : data::TextUnit::kCharacter;
  }

  const std::vector<std::string>& names() const { return vocabulary_.names(); }

  const data::Vocabulary vocabulary_;
  const data::TextUnit unit_;
};

data::Vocabulary Bytes() {
  std::vector<std::string> bytes;
  for (int byte = 0; byte < 256; ++byte) {
    bytes.emplace_back(1, static_cast<char>(byte));
  }
  return data::Vocabulary(std::move(bytes));
}

}  // namespace

std::unique_ptr<Symbols> OpenSymbols(const SymbolSource& source,
                                     const Session& session) {
  if (!source.vocabulary.empty()) {
    return std::make_unique<Tokens>(
        Take(data::Tokenizer::Open(source.vocabulary)));
  }
  std::vector<std::string> names = session.LabelNames();
  if (!source.data.empty()) {
    data::IteratorOptions options;
    options.threads = 0;
    names = Take(data::Open(source.data, options))->label_names();
  }
  return std::make_unique<Units>(
      names.empty() ? Bytes() : data::Vocabulary(std::move(names)));
}

}  // namespace mxc::run
