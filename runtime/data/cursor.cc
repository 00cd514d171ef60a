// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>

#include "runtime/data/iterator.h"

namespace mxc::data {
namespace {

constexpr std::string_view kWord = "cursor";

// Takes " 123" off the front of `text`.
template <class T>
bool TakeInteger(std::string_view* text, int base, T* value) {
  if (!text->starts_with(' ')) return false;
  text->remove_prefix(1);
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, *value, base);
  if (error != std::errc() || *value < T{0}) return false;
  text->remove_prefix(static_cast<size_t>(stop - text->data()));
  return true;
}

}  // namespace

std::string CursorText(const Cursor& cursor) {
  return runtime::Format("cursor %lld %lld %016llx",
                         static_cast<long long>(cursor.epoch),
                         static_cast<long long>(cursor.batch),
                         static_cast<unsigned long long>(cursor.order));
}

StatusOr<Cursor> ParseCursor(std::string_view text) {
  Cursor cursor;
  std::string_view rest = text;
  if (rest.starts_with(kWord)) {
    rest.remove_prefix(kWord.size());
    if (TakeInteger(&rest, 10, &cursor.epoch) &&
        TakeInteger(&rest, 10, &cursor.batch) &&
        TakeInteger(&rest, 16, &cursor.order) && rest.empty()) {
      return cursor;
    }
  }
  return runtime::Fail(StatusCode::kCorrupt,
                       "'%.*s' is not a data cursor; expected "
                       "'cursor EPOCH BATCH ORDER'",
                       static_cast<int>(std::min<size_t>(text.size(), 80)),
                       text.data());
}

}  // namespace mxc::data
