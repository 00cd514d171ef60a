// SPDX-License-Identifier: Apache-2.0
#include "tools/output_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <span>

#include "runtime/base/file_writer.h"

namespace mxc {
namespace {

using runtime::FileWriter;

Status WriteWhole(const std::string& path, std::string_view bytes,
                  FileWriter::Sync sync) {
  FileWriter out(path);
  out.Append(std::as_bytes(std::span(bytes)));
  const runtime::Status status = out.Commit(sync);
  if (!status.ok()) return Complaint(status.message());
  return Done{};
}

}  // namespace

Status WriteOutput(const std::string& path, std::string_view bytes) {
  return WriteWhole(path, bytes, FileWriter::Sync::kYes);
}

Status WriteDump(const std::string& path, std::string_view bytes) {
  return WriteWhole(path, bytes, FileWriter::Sync::kNo);
}

void PrintWrote(const Manners& manners, const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  PrintPhase(manners, "wrote",
             error ? path
                   : fmt::format("{}, {}", path,
                                 FormatBytes(static_cast<int64_t>(size))));
}

}  // namespace mxc
