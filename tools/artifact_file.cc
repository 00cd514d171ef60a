// SPDX-License-Identifier: Apache-2.0
#include "tools/artifact_file.h"

#include <future>
#include <string_view>
#include <utility>

#include "runtime/executor/model.h"
#include "tools/golden.h"
#include "tools/manifest.h"
#include "tools/signature/digest.h"
#include "tools/temporary_file.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

namespace rt = runtime;

rt::Bytes SectionBytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

// The weights, which may be large, are read where they are.
Result<std::vector<std::string>> RunSections(const ArtifactSections& sections) {
  MXC_ASSIGN(const runtime::NamelessFile file, MakeTemporaryFile());
  const ArtifactSections bare = {
      .code = sections.code, .tables = sections.tables, .weights = {}};
  MXC_RETURN_IF_ERROR(WriteArtifact(file.path(), bare, {}, ""));
  rt::OpenOptions open;
  open.weights = sections.weights;
  const auto model = rt::Model::Open(file.path(), open);
  if (!model.ok()) return Complaint(model.status().message());
  return GoldenLines(*model);
}

Status AddGolden(const ArtifactSections& sections, Manifest& manifest) {
  Result<std::vector<std::string>> lines = RunSections(sections);
  if (!lines.ok()) {
    Diagnostics errors = lines.errors();
    for (Diagnostic& error : errors) {
      error.message =
          "the golden digest cannot be computed here: " + error.message +
          "; --golden off leaves it out";
    }
    return errors;
  }
  for (std::string& line : *lines) {
    manifest.emplace_back("golden", std::move(line));
  }
  return Done{};
}

// The weights' takes longest: it is computed beside the golden digests.
Status AddDigests(const ArtifactSections& sections, const std::string& symbol,
                  std::future<rt::StatusOr<signature::Digest>> weights,
                  Manifest& manifest) {
  const auto add =
      [&](const char* key,
          const rt::StatusOr<signature::Digest>& digest) -> Status {
    if (!digest.ok()) return Complaint(digest.status().message());
    manifest.emplace_back(key, signature::Hex(*digest));
    return Done{};
  };
  MXC_RETURN_IF_ERROR(
      add("sha256_code", signature::DigestOf(SectionBytes(sections.code))));
  MXC_RETURN_IF_ERROR(add("sha256_weights", weights.get()));
  MXC_RETURN_IF_ERROR(
      add("sha256_tables", signature::DigestOf(SectionBytes(sections.tables))));
  return add("sha256_symbol", signature::DigestOf(SectionBytes(symbol)));
}

}  // namespace

Result<ArtifactSizes> WriteModel(const std::string& path,
                                 const PlanOptions& options, const Plan& plan,
                                 std::span<const Program> entries,
                                 const CodeImage& code, Golden golden) {
  MXC_ASSIGN(const std::string symbol, SymbolText(options, plan));
  MXC_ASSIGN(const ArtifactSections sections,
             MakeSections(entries, code, plan.target));
  auto weights = std::async(std::launch::async, [&] {
    return signature::DigestOf(sections.weights);
  });
  Manifest manifest = MakeManifest(options, plan);
  if (golden == Golden::kAuto) {
    golden = options.target == "native" ? Golden::kOn : Golden::kOff;
  }
  if (golden == Golden::kOn) {
    MXC_RETURN_IF_ERROR(AddGolden(sections, manifest));
  }
  MXC_RETURN_IF_ERROR(
      AddDigests(sections, symbol, std::move(weights), manifest));
  return WriteArtifact(path, sections, manifest, symbol);
}

}  // namespace mxc
