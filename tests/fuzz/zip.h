// SPDX-License-Identifier: Apache-2.0
// What zlib packs.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "runtime/data/files/inflate.h"

namespace mxc::fuzz {

std::string Deflated(std::string_view text, data::Deflated form);

// A zip archive of one member, deflated.
std::string ZipOf(const std::string& name, std::string_view content);

// Makes the checksums of a zip archive's members right, as far as they can be
// found.
void SealZip(std::span<std::byte> archive);

}  // namespace mxc::fuzz
