// SPDX-License-Identifier: Apache-2.0
#include "tools/artifact_check.h"

#include <fmt/format.h>

#include <string_view>

#include "runtime/artifact/image.h"
#include "runtime/artifact/manifest.h"
#include "runtime/executor/model.h"
#include "tools/driver/golden.h"
#include "tools/signature/signature.h"
#include "tools/terminal.h"

namespace mxc {
namespace {

namespace rt = runtime;

std::string_view ManifestTextOf(const rt::Container& container) {
  const rt::Bytes text = container.section(MXC_SECTION_MANIFEST);
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

rt::Status CheckDigest(const rt::Container& container, const char* key,
                       mxc_section_kind kind) {
  const auto lines = rt::ManifestValues(ManifestTextOf(container), key);
  const auto digest = signature::DigestOf(container.section(kind));
  if (!digest.ok()) return digest.status();
  if (lines.size() == 1 && lines.front() == signature::Hex(*digest)) return {};
  return rt::Fail(rt::StatusCode::kCorrupt,
                  "altered: its manifest has another %s", key);
}

rt::Status CheckCode(const rt::Container& container, const rt::Tables& tables) {
  const auto object =
      rt::SharedObject::Read(container.section(MXC_SECTION_CODE));
  if (!object.ok()) return object.status();
  const auto image = rt::Image::Read(*object);
  if (!image.ok()) return image.status();
  return image->Check(container, tables);
}

}  // namespace

Diagnostic ErrorAbout(const std::string& path, const rt::Status& status) {
  const bool named = status.message().find(path) != std::string::npos;
  return UnplacedError(named ? status.message()
                             : path + ": " + status.message());
}

Result<ArtifactFindings> CheckArtifact(const std::string& path,
                                       const rt::Container& container,
                                       const rt::Tables& tables) {
  Diagnostics errors;
  const auto check = [&](const rt::Status& status) {
    if (!status.ok()) errors.push_back(ErrorAbout(path, status));
  };
  check(container.CheckSection(MXC_SECTION_WEIGHTS));
  check(container.CheckSection(MXC_SECTION_SYMBOL));
  check(container.CheckGaps());
  check(CheckCode(container, tables));
  if (!errors.empty()) return errors;
  check(CheckDigest(container, "sha256_code", MXC_SECTION_CODE));
  check(CheckDigest(container, "sha256_weights", MXC_SECTION_WEIGHTS));
  check(CheckDigest(container, "sha256_tables", MXC_SECTION_TABLES));
  check(CheckDigest(container, "sha256_symbol", MXC_SECTION_SYMBOL));
  if (tables.header().device.count > 0) {
    check(CheckDigest(container, "sha256_device", MXC_SECTION_DEVICE));
  }
  const mxc_signature signature = signature::SignatureOf(container.bytes());
  ArtifactFindings findings;
  if (signature::IsSigned(signature)) {
    findings.signer = signature::SignerOf(signature);
    const auto key = signature::Key::OfSigner(signature);
    check(key.ok() ? key->Verify(container.bytes()) : key.status());
  }
  const auto content = signature::ContentDigest(container.bytes());
  if (!content.ok()) check(content.status());
  if (!errors.empty()) return errors;
  findings.sha256 = signature::Hex(*content);
  return findings;
}

Result<int> CheckGolden(const std::string& path, const rt::Approval& approve) {
  rt::OpenOptions open;
  open.approve = approve;
  const auto model = rt::Model::Open(path, open);
  if (!model.ok()) return ErrorAbout(path, model.status());
  const auto golden = rt::ManifestValues((*model)->manifest(), "golden");
  if (golden.empty()) {
    return UnplacedError(
        path +
        ": it has no golden digest to compare with; 'mxc compile "
        "--golden on' writes one");
  }
  MXC_ASSIGN(const std::vector<std::string> lines, GoldenLines(*model));
  Diagnostics errors;
  int same = 0;
  for (size_t row = 0; row < lines.size(); ++row) {
    const auto& entry = (*model)->tables().entries()[row];
    const bool equal = row < golden.size() && golden[row] == lines[row];
    if (!equal) {
      errors.push_back(UnplacedError(fmt::format(
          "{}: entry '{}' does not compute here what it computed when it was "
          "compiled: {} in place of {}",
          path, (*model)->tables().Text(entry.name), lines[row],
          row < golden.size() ? golden[row] : "nothing")));
    }
    same += equal && !lines[row].starts_with("none") ? 1 : 0;
  }
  if (!errors.empty()) return errors;
  return same;
}

}  // namespace mxc
