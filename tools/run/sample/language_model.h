// SPDX-License-Identifier: Apache-2.0
// An artifact that says which symbol comes next in texts that grow side by side,
// in streams: one that was compiled to write (entries decode and prefill), or
// one whose hidden states come out and go in again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tools/run/session.h"

namespace mxc::run {

class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  virtual size_t streams() const = 0;
  // The most symbols that a text has; 0: any number.
  virtual size_t bound() const = 0;
  // A text begins in the stream with the given symbols, perhaps none.
  virtual void Begin(size_t stream, std::span<const uint32_t> symbols) = 0;
  // Adds a symbol to the text of each stream that has one here.
  virtual void Add(std::span<const std::optional<uint32_t>> symbols) = 0;
  // What the last Add said of each symbol behind the stream's text.
  virtual std::span<const float> Said(size_t stream) const = 0;
};

// Throws what the artifact lacks.
std::unique_ptr<LanguageModel> OpenLanguageModel(const Session& session);

}  // namespace mxc::run
