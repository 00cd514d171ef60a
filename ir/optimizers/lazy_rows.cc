// SPDX-License-Identifier: Apache-2.0
#include "ir/optimizers/lazy_rows.h"

#include <string>

namespace mxc {

bool UpdatesRows(LazyRows lazy, const Node& parameter) {
  if (lazy != LazyRows::kOfSparseWeights) return lazy == LazyRows::kOfAll;
  const std::string* stype = parameter.written.Annotation("__storage_type__");
  return stype != nullptr && *stype == "1";
}

}  // namespace mxc
