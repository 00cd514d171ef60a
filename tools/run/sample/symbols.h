// SPDX-License-Identifier: Apache-2.0
// The symbols of a language model, as text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/run/session.h"

namespace mxc::run {

class Symbols {
 public:
  virtual ~Symbols() = default;

  virtual size_t count() const = 0;
  // Of a prompt. Throws where it has symbols that there are not.
  virtual std::vector<uint32_t> Encode(const std::string& text) const = 0;
  // What the symbol adds to a text; `first`: it begins one.
  virtual std::string Piece(uint32_t symbol, bool first) const = 0;
  // The one that ends a text, if there is one.
  virtual std::optional<uint32_t> end() const = 0;
  // What a text without a prompt goes on from. Throws where it needs one.
  virtual uint32_t beginning() const = 0;
};

// Where the symbols are from; at most one is given. Else they are those of the
// text that the model was trained on, if the artifact knows them, else bytes.
struct SymbolSource {
  std::string vocabulary;  // a file or folder of data::Tokenizer
  std::string data;        // "text:FILE"
};

std::unique_ptr<Symbols> OpenSymbols(const SymbolSource& source,
                                     const Session& session);

}  // namespace mxc::run
