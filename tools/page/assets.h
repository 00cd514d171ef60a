// SPDX-License-Identifier: Apache-2.0
// The files of this folder that a page holds, as they are; write_assets.cmake
// makes them part of the program.
#pragma once

#include <string_view>

namespace mxc {

std::string_view Asset_page();   // page.css
std::string_view Asset_dagre();  // dagre.min.js
// diagram_facts.js, diagram_layout.js and diagram.js: the statements of one
// function, in this order.
std::string_view Asset_diagram_facts();
std::string_view Asset_diagram_layout();
std::string_view Asset_diagram();

}  // namespace mxc
