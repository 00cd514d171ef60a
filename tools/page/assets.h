// SPDX-License-Identifier: Apache-2.0
// The files that a page holds, as they are; write_assets.cmake makes them part
// of the program.
#pragma once

#include <string_view>

namespace mxc {

std::string_view Asset_page();  // page.css
// dagre.min.js as Debian's package has it, and its licence as a comment.
std::string_view Asset_dagre();
std::string_view Asset_dagre_licence();
// diagram_facts.js, diagram_layout.js and diagram.js: the statements of one
// function, in this order.
std::string_view Asset_diagram_facts();
std::string_view Asset_diagram_layout();
std::string_view Asset_diagram();

}  // namespace mxc
