// SPDX-License-Identifier: Apache-2.0
// Bodies of multipart/form-data (RFC 7578).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::serve {

struct FormPart {
  std::string name;
  std::string_view content;  // within the body
};

bool IsForm(std::string_view content_type);

// At most 256 parts, each of which has a name.
runtime::StatusOr<std::vector<FormPart>> ParseForm(
    std::string_view content_type, std::string_view body);

}  // namespace mxc::serve
