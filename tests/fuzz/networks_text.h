// SPDX-License-Identifier: Apache-2.0
// Networks as text, for seeds and dictionaries.
#pragma once

#include <memory>
#include <string>
#include <vector>

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

// Infers all types; whether that was possible. What was inferred verifies.
bool Infers(Graph& graph);

}  // namespace mxc::fuzz
