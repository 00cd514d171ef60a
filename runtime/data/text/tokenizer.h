// SPDX-License-Identifier: Apache-2.0
// Texts as tokens of a vocabulary that somebody published:
//
//   vocab.txt                 WordPiece, a token a line (BERT)
//   vocab.json, merges.txt    pairs of bytes, joined in order (GPT-2)
//
// The tokens are those that Hugging Face's tokenizers make with the settings of
// bert-base-uncased (of a vocabulary without capital letters; bert-base-cased of
// one with them) and of gpt2. Letters, accents and punctuation are those of
// libutf8proc's Unicode.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::data {

// Numbers of tokens are kept as floats, exactly.
inline constexpr uint32_t kMostTokens = 1 << 22;

class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // Of a vocab.txt, a vocab.json or the folder that holds one. Refuses files of
  // more than 64 MiB, and what they say that makes no vocabulary.
  static runtime::StatusOr<std::shared_ptr<const Tokenizer>> Open(
      const std::string& path);

  // Without what stands around texts; takes time linear in the text but for a
  // logarithm. What is no UTF-8 is passed over, or kept byte by byte.
  virtual std::vector<uint32_t> Encode(std::string_view text) const = 0;
  // One text or a pair as the network reads them: BERT's "[CLS] a [SEP] b
  // [SEP]". `types` gets 1 for the tokens of `b`.
  virtual std::vector<uint32_t> Framed(std::string_view a,
                                       const std::optional<std::string>& b,
                                       std::vector<uint32_t>* types) const = 0;
  // The bytes that the token adds to a text; `first`: it begins one.
  virtual std::string Piece(uint32_t token, bool first) const = 0;

  // The tokens' names by number, empty where there is none.
  const std::vector<std::string>& names() const { return names_; }
  // The token that ends a text, which is drawn and not printed.
  std::optional<uint32_t> end() const { return end_; }

 protected:
  std::vector<std::string> names_;
  std::optional<uint32_t> end_;
};

runtime::StatusOr<std::shared_ptr<const Tokenizer>> OpenWordPiece(
    const std::string& path);
runtime::StatusOr<std::shared_ptr<const Tokenizer>> OpenBytePairs(
    const std::string& vocabulary, const std::string& merges);

}  // namespace mxc::data
