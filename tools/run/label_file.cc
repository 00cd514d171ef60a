// SPDX-License-Identifier: Apache-2.0
#include "tools/run/label_file.h"

#include <string_view>

#include "runtime/data/label_names.h"
#include "tools/run/input_file.h"

namespace mxc::run {

runtime::StatusOr<std::vector<std::string>> ReadLabelFile(
    const std::string& path) {
  constexpr size_t kMostBytes = 1 << 24;
  const auto file = OpenInput(path);
  if (!file.ok()) return file.status();
  const auto bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()),
                              bytes.size());
  const char* wrong = bytes.empty()                  ? "it is empty"
                      : bytes.size() >= kMostBytes   ? "16 MiB or more"
                      : text.find('\0') != text.npos ? "a binary file"
                                                     : nullptr;
  if (wrong == nullptr) return data::LabelNamesOfLines(text);
  return runtime::Fail(runtime::StatusCode::kInvalidArgument,
                       "'%s' is no list of names: %s", path.c_str(), wrong);
}

}  // namespace mxc::run
