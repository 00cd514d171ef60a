// SPDX-License-Identifier: Apache-2.0
#include "tools/output_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "runtime/base/destination.h"

namespace mxc {
namespace {

using runtime::FileWriter;

Status FromRuntime(const runtime::Status& status) {
  if (!status.ok()) return UnplacedError(status.message());
  return Done{};
}

Status WriteWhole(const std::string& path, std::string_view bytes,
                  FileWriter::Sync sync) {
  FileWriter out(path);
  out.Append(std::as_bytes(std::span(bytes)));
  return FromRuntime(out.Commit(sync));
}

}  // namespace

Status WriteOutput(const std::string& path, std::string_view bytes) {
  return WriteWhole(path, bytes, FileWriter::Sync::kYes);
}

Status WriteDump(const std::string& path, std::string_view bytes) {
  return WriteWhole(path, bytes, FileWriter::Sync::kNo);
}

Status RequireOutputName(const std::string& output,
                         const std::vector<std::string>& inputs,
                         std::string_view own) {
  if (output == "-") {
    return UnplacedError("'-' is no file; /dev/stdout is standard output");
  }
  MXC_RETURN_IF_ERROR(FromRuntime(runtime::RequireNotRead(output, inputs)));
  return FromRuntime(runtime::RequireOwnKind(output, own));
}

Status OutputSet::Add(const std::string& path, std::string_view bytes) {
  return Add(path, std::vector{bytes});
}

Status OutputSet::Add(const std::string& path,
                      const std::vector<std::string_view>& pieces) {
  FileWriter& file = files_.emplace_back(path);
  for (const std::string_view bytes : pieces) {
    file.Append(std::as_bytes(std::span(bytes)));
  }
  return FromRuntime(file.Finish());
}

Status OutputSet::Commit() {
  for (FileWriter& file : files_) {
    MXC_RETURN_IF_ERROR(FromRuntime(file.Commit()));
    written_.push_back(file.path());
  }
  files_.clear();
  return Done{};
}

void PrintWrote(const ReportStyle& style, const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  PrintPhase(style, "wrote",
             error ? path
                   : fmt::format("{}, {}", path,
                                 FormatBytes(static_cast<int64_t>(size))));
}

}  // namespace mxc
