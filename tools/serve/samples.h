// SPDX-License-Identifier: Apache-2.0
// Splits requests into samples that a batch can be made of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "tools/run/session.h"
#include "tools/serve/question.h"

namespace mxc::serve {

// The samples of a question to a network that reads one input: rows that any
// batch can take.
struct Samples {
  runtime::ElementType type = runtime::ElementType::kF32;
  std::vector<int64_t> shape;  // the samples' axis first
  std::span<const std::byte> elements;
  std::shared_ptr<const void> owner;  // of the elements; null: the body

  int64_t count() const { return shape.empty() ? 0 : shape[0]; }
  // Converts sample `k` to the input's type.
  void Copy(int64_t k, runtime::ElementType to,
            std::span<std::byte> memory) const;

  // Nothing where the parts are not samples of the input, which is then for
  // others to say.
  static std::optional<Samples> Of(const Question& question,
                                   const run::NetworkInput& input,
                                   const run::PictureOptions& pictures);
};

}  // namespace mxc::serve
