// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <span>

#include "codegen/artifact/tables.h"
#include "codegen/artifact/weights.h"
#include "codegen/codegen.h"
#include "codegen/llvm/kernel_table.h"
#include "codegen/llvm/link.h"
#include "runtime/abi/abi.h"
#include "runtime/base/checksum.h"
#include "runtime/base/file_writer.h"

namespace mxc {
namespace {

using Bytes = std::span<const std::byte>;

Bytes AsBytes(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string ManifestText(const Manifest& manifest) {
  std::string text;
  for (const auto& [key, value] : manifest) text += key + ": " + value + "\n";
  return text;
}

// Piece by piece where somebody looks on.
void Append(Bytes bytes, runtime::FileWriter& file, WorkCount* count) {
  constexpr size_t kPiece = 32 << 20;
  while (count != nullptr && bytes.size() > kPiece) {
    file.Append(bytes.first(kPiece));
    file.Settle();
    count->Raise(kPiece);
    bytes = bytes.subspan(kPiece);
  }
  file.Append(bytes);
  if (count != nullptr) count->Raise(static_cast<int64_t>(bytes.size()));
}

// The sections one after the other, each from a page, then the trailer. What
// most files lack takes no page.
Result<int64_t> WriteFile(const std::string& path,
                          const std::array<Bytes, MXC_SECTION_COUNT>& sections,
                          WorkCount* count) {
  static const std::array<std::byte, MXC_PAGE> kZeros = {};
  mxc_trailer trailer = {};
  runtime::FileWriter file(path);
  uint64_t at = 0;
  for (size_t i = 0; i < sections.size(); ++i) {
    if (i == MXC_SECTION_DEVICE && sections[i].empty()) {
      trailer.sections[i] = {0, 0, runtime::Checksum({})};
      continue;
    }
    const uint64_t start = (at + MXC_PAGE - 1) / MXC_PAGE * MXC_PAGE;
    file.Append(Bytes(kZeros).first(start - at));
    Append(sections[i], file, count);
    trailer.sections[i] = {start, sections[i].size(),
                           runtime::Checksum(sections[i])};
    at = start + sections[i].size();
  }
  trailer.file_size = at + sizeof trailer;
  trailer.abi_version = MXC_ABI_VERSION;
  trailer.section_count = MXC_SECTION_COUNT;
  const Bytes whole = std::as_bytes(std::span(&trailer, 1));
  trailer.checksum =
      runtime::Checksum(whole.first(offsetof(mxc_trailer, checksum)));
  trailer.magic = MXC_TRAILER_MAGIC;
  file.Append(whole);
  const runtime::Status status = file.Commit();
  if (!status.ok()) return Error({}, "{}", status.message());
  return static_cast<int64_t>(trailer.file_size);
}

}  // namespace

Result<ArtifactSections> MakeSections(std::span<const Program> entries,
                                      const CodeImage& code,
                                      const Target& target,
                                      const TensorRoles& roles) {
  WeightsSection weights;
  ArtifactSections sections;
  MXC_ASSIGN(sections.tables,
             MakeTables(entries, code, target, roles, weights));
  std::vector<std::string> objects = code.objects;
  objects.push_back(EmitKernelTable(
      code, runtime::Checksum(AsBytes(sections.tables)), target));
  MXC_ASSIGN(sections.code, Link(objects));
  sections.weights = std::move(weights).bytes();
  sections.device = code.device;
  return sections;
}

Result<ArtifactSizes> WriteArtifact(const std::string& path,
                                    const ArtifactSections& sections,
                                    const Manifest& manifest,
                                    const std::string& symbol_json,
                                    WorkCount* count) {
  const std::string manifest_text = ManifestText(manifest);
  const std::array<Bytes, MXC_SECTION_COUNT> parts = {
      AsBytes(sections.code),   Bytes(sections.weights),
      AsBytes(sections.tables), AsBytes(manifest_text),
      AsBytes(symbol_json),     AsBytes(sections.device)};
  if (count != nullptr) {
    int64_t total = 0;
    for (const Bytes part : parts) total += static_cast<int64_t>(part.size());
    count->total = total;
  }
  MXC_ASSIGN(const int64_t file_bytes, WriteFile(path, parts, count));
  ArtifactSizes sizes;
  sizes.code_bytes = static_cast<int64_t>(sections.code.size());
  sizes.weight_bytes = static_cast<int64_t>(sections.weights.size());
  sizes.file_bytes = file_bytes;
  return sizes;
}

Result<ArtifactSizes> WriteArtifact(const std::string& path,
                                    std::span<const Program> entries,
                                    const Target& target,
                                    const CodegenOptions& options) {
  MXC_ASSIGN(const CodeImage code, GenerateCode(entries, target, options));
  MXC_ASSIGN(const ArtifactSections sections,
             MakeSections(entries, code, target));
  return WriteArtifact(path, sections, {}, "");
}

}  // namespace mxc
