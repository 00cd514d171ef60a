// SPDX-License-Identifier: Apache-2.0
// Names of labels (Iterator::label_names) as one line of text: what an artifact
// and a checkpoint keep of the data that a network was trained on.
//
// Names stand between single spaces; a byte up to space, a backslash and DEL
// are written \xHH.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/base/status.h"

namespace mxc::data {

std::string LabelNamesText(std::span<const std::string> names);

// Costs no more than a string for each byte of the line. Refuses a backslash
// that begins no \xHH; an empty line holds no names.
runtime::StatusOr<std::vector<std::string>> ParseLabelNames(
    std::string_view line);

// Those of a file as it comes with weights (synset.txt): a class a line, which
// may be empty; "\r\n" ends a line, too, and nothing the last one.
std::vector<std::string> LabelNamesOfLines(std::string_view text);

}  // namespace mxc::data
