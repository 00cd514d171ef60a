// SPDX-License-Identifier: Apache-2.0
#include "runtime/data/text/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "runtime/base/dynamic_library.h"

namespace mxc::data {
namespace {

using runtime::StatusOr;

#define MXC_UTF8PROC_FUNCTIONS(F) \
  F(utf8proc_category)            \
  F(utf8proc_decompose_char)      \
  F(utf8proc_get_property)        \
  F(utf8proc_iterate)             \
  F(utf8proc_tolower)

struct LibUtf8proc {
#define MXC_DECLARE(name) decltype(&::name) name = nullptr;
  MXC_UTF8PROC_FUNCTIONS(MXC_DECLARE)
#undef MXC_DECLARE
};

LibUtf8proc library;  // filled before anything is asked

runtime::Status Load() {
#define MXC_WANT(name) {#name, reinterpret_cast<void**>(&library.name)},
  const runtime::WantedFunction wanted[] = {MXC_UTF8PROC_FUNCTIONS(MXC_WANT)};
#undef MXC_WANT
  return runtime::LoadFunctions("libutf8proc.so.2", "a vocabulary of tokens",
                                "libutf8proc2", wanted);
}

// Canonical; no character becomes more than four.
void AppendDecomposed(int32_t code, std::vector<int32_t>& parts) {
  constexpr size_t kMost = 4;
  std::array<utf8proc_int32_t, kMost> buffer;
  int boundary = 0;
  const auto count = library.utf8proc_decompose_char(
      code, buffer.data(), kMost, UTF8PROC_DECOMPOSE, &boundary);
  if (count < 0 || static_cast<size_t>(count) > kMost) {
    parts.push_back(code);
  } else {
    parts.insert(parts.end(), buffer.begin(), buffer.begin() + count);
  }
}

}  // namespace

StatusOr<const Unicode*> Unicode::Get() {
  static const runtime::Status loaded = Load();
  static const Unicode unicode;
  if (!loaded.ok()) return loaded;
  return &unicode;
}

std::vector<Character> Unicode::Characters(std::string_view text) const {
  std::vector<Character> characters;
  while (!text.empty()) {
    int32_t code = -1;
    // Four bytes are the longest character.
    const auto most = static_cast<utf8proc_ssize_t>(
        text.size() < 4 ? text.size() : size_t{4});
    const auto size = library.utf8proc_iterate(
        reinterpret_cast<const utf8proc_uint8_t*>(text.data()), most, &code);
    const size_t bytes = size > 0 ? static_cast<size_t>(size) : 1;
    characters.push_back({size > 0 ? code : -1, text.substr(0, bytes)});
    text.remove_prefix(bytes);
  }
  return characters;
}

CharacterKind Unicode::KindOf(int32_t code) const {
  constexpr int32_t kNextLine = 0x85;
  if ((code >= '\t' && code <= '\r') || code == kNextLine) {
    return CharacterKind::kSpace;
  }
  if (code < 0) return CharacterKind::kOther;
  switch (library.utf8proc_category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
      return CharacterKind::kLetter;
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_NO:
      return CharacterKind::kNumber;
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return CharacterKind::kSpace;
    default:
      return CharacterKind::kOther;
  }
}

bool Unicode::IsPunctuation(int32_t code) const {
  const auto category = library.utf8proc_category(code);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool Unicode::IsControl(int32_t code) const {
  const auto category = library.utf8proc_category(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

bool Unicode::IsMark(int32_t code) const {
  return library.utf8proc_category(code) == UTF8PROC_CATEGORY_MN;
}

int32_t Unicode::LowerCase(int32_t code) const {
  return library.utf8proc_tolower(code);
}

// The characters by themselves, and the marks that follow one in the order of
// their classes: utf8proc_decompose of the whole sorts by exchanging neighbours,
// hours for a text that is all marks (Unicode 15, 3.11: canonical ordering).
std::vector<int32_t> Unicode::Decomposed(
    const std::vector<int32_t>& codes) const {
  std::vector<int32_t> parts;
  for (const int32_t code : codes) AppendDecomposed(code, parts);
  const auto class_of = [](int32_t code) {
    return library.utf8proc_get_property(code)->combining_class;
  };
  const auto is_base = [&](int32_t code) { return class_of(code) == 0; };
  for (auto marks = parts.begin(); marks != parts.end();) {
    marks = std::find_if_not(marks, parts.end(), is_base);
    const auto end = std::find_if(marks, parts.end(), is_base);
    std::ranges::stable_sort(marks, end, {}, class_of);
    marks = end;
  }
  return parts;
}

void AppendUtf8(int32_t code, std::string* text) {
  const auto bits = static_cast<uint32_t>(code);
  const auto add = [&](uint32_t byte) {
    text->push_back(static_cast<char>(byte));
  };
  const auto add_rest = [&](int shift) { add(0x80 | (bits >> shift & 0x3f)); };
  if (bits < 0x80) {
    add(bits);
  } else if (bits < 0x800) {
    add(0xc0 | bits >> 6);
    add_rest(0);
  } else if (bits < 0x10000) {
    add(0xe0 | bits >> 12);
    add_rest(6);
    add_rest(0);
  } else {
    add(0xf0 | bits >> 18);
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

}  // namespace mxc::data
