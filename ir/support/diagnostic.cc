// SPDX-License-Identifier: Apache-2.0
#include "ir/support/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "runtime/base/visible.h"

namespace mxc {
namespace {

constexpr size_t kMaxQuotedColumns = 160;

std::string_view LineOf(const std::string& text, uint32_t line) {
  size_t begin = 0;
  for (uint32_t i = 1; i < line; ++i) {
    begin = text.find('\n', begin);
    if (begin == std::string::npos) return {};
    ++begin;
  }
  const size_t end = text.find('\n', begin);
  return std::string_view(text).substr(begin, end - begin);
}

// Control bytes and invalid UTF-8 of a damaged file must not reach a terminal.
std::string Printable(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += byte == '\t' ? ' ' : (byte < 0x20 || byte >= 0x7f) ? '?' : c;
  }
  return out;
}

std::string Quote(const SourceLoc& loc) {
  std::string_view line = LineOf(loc.file->text, loc.line);
  size_t column =
      std::min<size_t>(loc.column == 0 ? 0 : loc.column - 1, line.size());
  // A long line (minified JSON) is cut to a window around the place.
  if (line.size() > kMaxQuotedColumns) {
    const size_t begin = column > 60 ? column - 60 : 0;
    line = line.substr(begin, kMaxQuotedColumns);
    column -= begin;
  }
  const size_t length = std::clamp<size_t>(
      loc.length, 1, std::max<size_t>(1, line.size() - column));
  const std::string number = std::to_string(loc.line);
  return fmt::format("  {} | {}\n  {:{}} | {:{}}^{}\n", number, Printable(line),
                     "", number.size(), "", column,
                     std::string(length - 1, '~'));
}

void CutLong(std::string& text) {
  if (text.size() <= Diagnostics::kMostBytes) return;
  text.resize(Diagnostics::kMostBytes);
  text += " …";
}

}  // namespace

void Diagnostics::push_back(Diagnostic diagnostic) {
  ++count_;
  if (full()) return;
  CutLong(diagnostic.message);
  CutLong(diagnostic.loc.path);
  for (std::string& note : diagnostic.notes) CutLong(note);
  kept_.push_back(std::move(diagnostic));
}

void Diagnostics::Append(const Diagnostics& more) {
  const size_t count = count_ + more.count_;
  for (const Diagnostic& diagnostic : more) push_back(diagnostic);
  count_ = count;
}

void Diagnostics::Reverse() { std::ranges::reverse(kept_); }

std::string NotShown(const Diagnostics& diagnostics) {
  const size_t kept = std::min(diagnostics.size(), Diagnostics::kMostKept);
  const size_t more = diagnostics.size() - kept;
  if (more == 0) return "";
  return fmt::format("{} more error{} not shown", more,
                     more == 1 ? " is" : "s are");
}

std::string Render(const Diagnostic& d) {
  using runtime::Visible;
  std::string out;
  const std::string path = d.loc.file ? Visible(d.loc.file->path) : "";
  const std::string message = Visible(d.message);
  if (d.loc.known()) {
    out = fmt::format("{}:{}:{}: error: {}\n", path, d.loc.line, d.loc.column,
                      message);
    out += Quote(d.loc);
  } else if (d.loc.file) {
    out = fmt::format("{}: error: {}\n", path, message);
  } else {
    out = fmt::format("error: {}\n", message);
  }
  std::string last;
  if (!d.loc.path.empty()) last = "at " + d.loc.path;
  for (const std::string& note : d.notes) {
    last += (last.empty() ? "" : "; ") + note;
  }
  if (!last.empty()) out += "  " + Visible(last) + "\n";
  return out;
}

std::string Render(const Diagnostics& diagnostics) {
  std::string out;
  for (const Diagnostic& d : diagnostics) out += Render(d);
  if (const std::string more = NotShown(diagnostics); !more.empty()) {
    out += more + "\n";
  }
  const size_t n = diagnostics.size();
  out += fmt::format("{} error{}\n", n, n == 1 ? "" : "s");
  return out;
}

}  // namespace mxc
