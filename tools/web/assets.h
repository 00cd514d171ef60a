// SPDX-License-Identifier: Apache-2.0
// The files of a page that are the same for all networks, as they are;
// tools/page/write_assets.cmake makes them part of the program.
#pragma once

#include <string_view>

namespace mxc {

std::string_view Asset_net();     // net.mjs, without its description
std::string_view Asset_worker();  // worker.mjs
std::string_view Asset_digits();  // digits.mjs, without its glyphs
std::string_view Asset_index();   // index.html, which imports NAME.mjs

}  // namespace mxc
