// SPDX-License-Identifier: Apache-2.0
// Names and texts that a file brought along, as they may be shown.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace mxc::runtime {

// The text with whatever a terminal obeys instead of showing it, a drawing
// cannot hold or a reader does not see made visible: control characters (C0,
// delete, C1), separators of lines and paragraphs, marks that turn the
// direction of writing, noncharacters. They become \u001b, as JSON escapes
// them; bytes that are no UTF-8 become \x9b. All other text stays, so that
// nothing changes twice.
std::string Visible(std::string_view text);

// The same for a text of lines: line feeds and tabs stay.
std::string VisibleLines(std::string_view text);

// A JSON string, in quotes, in which nothing is hidden: what stands before in
// \u001b, and line feeds, quotes and backslashes by JSON's own escapes. Bytes
// that are no UTF-8 become U+FFFD.
std::string JsonQuoted(std::string_view text);

// Of UTF-8: each has one byte that continues none.
std::size_t CharactersIn(std::string_view text);

// How many bytes at the end begin a character of UTF-8 and lack its rest.
std::size_t UnfinishedBytes(std::string_view text);

// The text, or of a longer one so many characters, the last of them "…"; `most`
// is at least 1.
std::string Shortened(std::string_view text, std::size_t most);

}  // namespace mxc::runtime
