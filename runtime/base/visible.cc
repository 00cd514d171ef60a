// SPDX-License-Identifier: Apache-2.0
#include "runtime/base/visible.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace mxc::runtime {
namespace {

struct Decoded {
  uint32_t code = 0;
  size_t bytes = 0;  // 0: no UTF-8
};

// How many bytes a character has that begins so; 0: none does.
size_t BytesFrom(uint8_t first) {
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  return first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
}

// The first character (RFC 3629): no overlong forms, no surrogates.
Decoded DecodeFirst(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<uint8_t>(i < text.size() ? text[i] : 0);
  };
  const uint8_t first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t bytes = BytesFrom(first);
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  if (bytes == 0) return {};
  uint32_t code = first & (0xff >> (bytes + 1));
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[bytes] || code > 0x10ffff || surrogate) return {};
  return {code, bytes};
}

bool IsHidden(uint32_t code) {
  const auto within = [&](uint32_t first, uint32_t last) {
    return first <= code && code <= last;
  };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0x061c ||
         within(0x200e, 0x200f) || within(0x2028, 0x202e) ||
         within(0x2066, 0x2069) || within(0xfffe, 0xffff);
}

std::string Escaped(const char* format, uint32_t value) {
  char text[8];
  std::snprintf(text, sizeof text, format, static_cast<unsigned>(value));
  return text;
}

// Calls `known` with each character, `hidden` with the code of each that is
// hidden and `broken` with each byte that is no UTF-8.
template <class Known, class Hidden, class Broken>
void ForEachCharacter(std::string_view text, Known known, Hidden hidden,
                      Broken broken) {
  while (!text.empty()) {
    const Decoded next = DecodeFirst(text);
    if (next.bytes == 0) {
      broken(static_cast<uint8_t>(text[0]));
    } else if (IsHidden(next.code)) {
      hidden(next.code);
    } else {
      known(text.substr(0, next.bytes));
    }
    text.remove_prefix(next.bytes == 0 ? 1 : next.bytes);
  }
}

std::string MakeVisible(std::string_view text, bool keep_lines) {
  std::string out;
  out.reserve(text.size());
  ForEachCharacter(
      text, [&](std::string_view known) { out += known; },
      [&](uint32_t code) {
        const bool kept = keep_lines && (code == '\n' || code == '\t');
        out += kept ? std::string(1, static_cast<char>(code))
                    : Escaped("\\u%04x", code);
      },
      [&](uint8_t byte) { out += Escaped("\\x%02x", byte); });
  return out;
}

std::string JsonEscaped(uint32_t code) {
  switch (code) {
    case '\n':
      return "\\n";
    case '\r':
      return "\\r";
    case '\t':
      return "\\t";
  }
  return Escaped("\\u%04x", code);
}

}  // namespace

std::string Visible(std::string_view text) { return MakeVisible(text, false); }

std::string VisibleLines(std::string_view text) {
  return MakeVisible(text, true);
}

std::string JsonQuoted(std::string_view text) {
  std::string out = "\"";
  ForEachCharacter(
      text,
      [&](std::string_view known) {
        if (known == "\"" || known == "\\") out += '\\';
        out += known;
      },
      [&](uint32_t code) { out += JsonEscaped(code); },
      [&](uint8_t) { out += "\\ufffd"; });
  return out + "\"";
}

namespace {

bool BeginsCharacter(char c) {
  return (static_cast<unsigned char>(c) >> 6) != 2;
}

}  // namespace

std::size_t CharactersIn(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, BeginsCharacter));
}

std::size_t UnfinishedBytes(std::string_view text) {
  for (std::size_t bytes = 1; bytes <= std::min<std::size_t>(3, text.size());
       ++bytes) {
    const char first = text[text.size() - bytes];
    if (!BeginsCharacter(first)) continue;
    return BytesFrom(static_cast<uint8_t>(first)) > bytes ? bytes : 0;
  }
  return 0;
}

std::string Shortened(std::string_view text, std::size_t most) {
  if (CharactersIn(text) <= most) return std::string(text);
  std::size_t characters = 0;
  const auto end = std::ranges::find_if(
      text, [&](char c) { return BeginsCharacter(c) && ++characters == most; });
  return std::string(text.begin(), end) + "…";
}

}  // namespace mxc::runtime
