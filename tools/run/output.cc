// SPDX-License-Identifier: Apache-2.0
#include "tools/run/output.h"

#include <cstdarg>
#include <cstdio>
#include <string>

#include "runtime/base/visible.h"

namespace mxc::run {
namespace {

void PrintLines(std::FILE* out, const std::string& lines) {
  const std::string text = runtime::VisibleLines(lines);
  std::fwrite(text.data(), 1, text.size(), out);
}

void PrintFormatted(std::FILE* out, const char* format, std::va_list values) {
  std::va_list again;
  va_copy(again, values);
  const int size = std::vsnprintf(nullptr, 0, format, again);
  va_end(again);
  if (size < 0) return;
  std::string text(static_cast<size_t>(size) + 1, '\0');
  std::vsnprintf(text.data(), text.size(), format, values);
  text.resize(static_cast<size_t>(size));
  PrintLines(out, text);
}

}  // namespace

void PrintOut(const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  PrintFormatted(stdout, format, values);
  va_end(values);
}

void PrintErr(const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  PrintFormatted(stderr, format, values);
  va_end(values);
}

void PrintJson(const nlohmann::ordered_json& json) {
  const auto replace = nlohmann::json::error_handler_t::replace;
  PrintLines(stdout, json.dump(2, ' ', false, replace) + "\n");
}

}  // namespace mxc::run
