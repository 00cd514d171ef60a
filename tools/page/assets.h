// SPDX-License-Identifier: Apache-2.0
// The files of this folder that a page holds, as they are; write_assets.cmake
// makes them part of the program.
#pragma once

#include <string_view>

namespace mxc {

std::string_view Asset_page();     // page.css
std::string_view Asset_diagram();  // diagram.js
std::string_view Asset_dagre();    // dagre.min.js

}  // namespace mxc
