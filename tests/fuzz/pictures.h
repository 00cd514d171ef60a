// SPDX-License-Identifier: Apache-2.0
// JPEG and PNG pictures as seeds.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace mxc::fuzz {

// Small ones of every kind that is read.
std::vector<std::string> Pictures();

// Makes the checksums of a PNG's chunks right.
void SealPng(std::span<std::byte> file);

}  // namespace mxc::fuzz
