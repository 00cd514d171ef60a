// SPDX-License-Identifier: Apache-2.0
// Under what an object cache keeps what was compiled.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace mxc {

// A digest of the texts, in hexadecimal digits, and of the builds of this
// compiler and of LLVM: of all that decides what is compiled, where the texts say
// all that is. Empty where the linker left these no build id.
std::string KeyOfTexts(std::span<const std::string_view> texts);

}  // namespace mxc
