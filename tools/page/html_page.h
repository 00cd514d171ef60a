// SPDX-License-Identifier: Apache-2.0
// One page about an entry, all in one file: the steps as a picture that folds,
// memory over time, the table of steps. Its script is in it and asks for no
// other file, so that it opens from a mail, years later; facts, memory and
// table need no script.
#pragma once

#include <string>

#include "tools/diagram/diagram.h"
#include "tools/overview.h"

namespace mxc {

std::string MakeHtmlPage(const Overview& overview, const Diagram& diagram);

}  // namespace mxc
