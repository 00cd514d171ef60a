// SPDX-License-Identifier: Apache-2.0
// Networks as text, for seeds and dictionaries.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "frontend/frontend.h"
#include "ir/graph/graph.h"
#include "ir/support/diagnostic.h"
#include "tests/fuzz/target.h"

namespace mxc::fuzz {

// Small networks in our own JSON that use every part of the language.
std::vector<std::string> NativeNetworks();
// The same and others as MXNet's symbol JSON, of several releases.
std::vector<std::string> SymbolNetworks();
// Names of operators and attributes, and what stands between them.
std::vector<std::string> NetworkWords();

std::shared_ptr<const SourceFile> SourceOf(Bytes input);

// What is read is printed, and that is read and printed as the same again.
template <class Read, class Text>
void CheckReadsBack(Bytes input, Read read, Text text) {
  const auto value = read(SourceOf(input));
  if (!value.ok()) {
    (void)Render(value.errors());
    return;
  }
  const std::string printed = text(*value);
  const auto again = read(SourceOf(BytesOf(printed)));
  if (!again.ok()) Wrong("what is printed is refused:\n" + printed);
  if (text(*again) != printed) Wrong("printed otherwise:\n" + printed);
}

// The network that is read of what is written of one.
Model ReadAgain(const std::string& written);

// Infers all types; whether that was possible. What was inferred verifies.
bool Infers(Graph& graph);

}  // namespace mxc::fuzz
