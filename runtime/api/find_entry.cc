// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/api/handles.h"

namespace mxc::runtime {
namespace {

// "infer (batch 1), infer (batch 8)"
std::string EntryNames(const Tables& tables) {
  std::string names;
  for (const mxc_entry& entry : tables.entries()) {
    names +=
        Format("%s%s (batch %lld)", names.empty() ? "" : ", ",
               tables.Text(entry.name), static_cast<long long>(entry.batch));
    if (names.size() > 500) return names + ", …";
  }
  return names;
}

}  // namespace

StatusOr<size_t> FindEntry(const Tables& tables, const char* name,
                           int64_t batch) {
  const auto find = [&](const char* wanted) -> size_t {
    const auto entries = tables.entries();
    for (size_t i = 0; i < entries.size(); ++i) {
      if (std::strcmp(tables.Text(entries[i].name), wanted) == 0 &&
          (batch == 0 || entries[i].batch == batch)) {
        return i;
      }
    }
    return entries.size();
  };
  const size_t count = tables.entries().size();
  size_t found = find(name != nullptr ? name : "infer");
  if (found == count && name == nullptr) {
    found = find(tables.Text(tables.entries().front().name));
  }
  if (found < count) return found;
  return Fail(
      StatusCode::kNotFound, "no entry '%s'%s; the model has %s",
      name != nullptr ? name : "infer",
      batch == 0
          ? ""
          : Format(" for batch %lld", static_cast<long long>(batch)).c_str(),
      EntryNames(tables).c_str());
}

namespace {

// Returns whether entries of these lengths hold sequences of the others.
bool Holds(const std::vector<OpenLength>& open,
           std::span<const int64_t> lengths) {
  return std::ranges::equal(
      open, lengths,
      [](const OpenLength& own, int64_t length) { return length <= own.most; });
}

// How much longer, in all axes together.
double SizeOf(const std::vector<OpenLength>& open) {
  double size = 1;
  for (const OpenLength& length : open)
    size *= static_cast<double>(length.most);
  return size;
}

std::string Listed(std::span<const int64_t> lengths) {
  std::string text;
  for (const int64_t length : lengths) {
    text += Format("%s%lld", text.empty() ? "" : " and ",
                   static_cast<long long>(length));
  }
  return text;
}

}  // namespace

StatusOr<size_t> FindLengths(const Tables& tables, const char* name,
                             int64_t batch, std::span<const int64_t> lengths) {
  const std::string word = name != nullptr ? name : "infer";
  const auto entries = tables.entries();
  size_t found = entries.size();
  for (size_t i = 0; i < entries.size(); ++i) {
    const mxc_entry& entry = entries[i];
    const std::string_view own = tables.Text(entry.name);
    if (own.substr(0, own.find(':')) != word ||
        (batch != 0 && entry.batch != batch)) {
      continue;
    }
    if (lengths.size() == 1 && entry.length == lengths[0]) return i;
    const auto& open = tables.Lengths(entry);
    if (open.empty() || !Holds(open, lengths)) continue;
    if (found == entries.size() ||
        SizeOf(open) < SizeOf(tables.Lengths(entries[found]))) {
      found = i;
    }
  }
  if (found < entries.size()) return found;
  return Fail(StatusCode::kNotFound,
              "no entry '%s' for sequences of %s; the model has %s",
              word.c_str(), Listed(lengths).c_str(),
              EntryNames(tables).c_str());
}

}  // namespace mxc::runtime
