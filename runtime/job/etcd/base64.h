// SPDX-License-Identifier: Apache-2.0
// Bytes as text: RFC 4648, section 4.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace mxc::job {

std::string EncodeBase64(std::string_view bytes);
// None where the text is nothing that EncodeBase64 writes.
std::optional<std::string> DecodeBase64(std::string_view text);

}  // namespace mxc::job
