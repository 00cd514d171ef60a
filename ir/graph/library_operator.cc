// SPDX-License-Identifier: Apache-2.0
#include "ir/graph/library_operator.h"

#include "ir/support/check.h"

namespace mxc {
namespace {

class NoOperators : public LibraryOperators {
 public:
  std::optional<LibraryOperator> Find(const std::string&,
                                      const std::string&) const override {
    return std::nullopt;
  }
  std::optional<std::string> Infer(const std::string& name, const std::string&,
                                   std::span<TensorType>) const override {
    MXC_CHECK(false, "operator '{}'", name);
    return std::nullopt;
  }
};

const LibraryOperators* library_operators = nullptr;

}  // namespace

void SetLibraryOperators(const LibraryOperators* operators) {
  library_operators = operators;
}

const LibraryOperators& TheLibraryOperators() {
  static const NoOperators kNone;
  return library_operators == nullptr ? kNone : *library_operators;
}

}  // namespace mxc
