// SPDX-License-Identifier: Apache-2.0
// Whether an artifact is as it was written: its checksums, digests, signature.
#pragma once

#include <string>
#include <vector>

#include "ir/support/result.h"
#include "runtime/artifact/container.h"
#include "runtime/artifact/tables.h"

namespace mxc {

// The status with the path, unless that is in it.
Diagnostic ErrorAbout(const std::string& path, const runtime::Status& status);

struct ArtifactFindings {
  std::string sha256;  // of the content, signed or not
  std::string signer;  // a public key in hexadecimal digits; empty: not signed
};

// All checksums and digests, the rules about its code, whether its tables fit
// that, and that its signature is of this content. Runs nothing of it.
Result<ArtifactFindings> CheckArtifact(const std::string& path,
                                       const runtime::Container& container,
                                       const runtime::Tables& tables);

// Computes the golden digests once more: runs the artifact's code. Returns how
// many of its entries gave the same bytes as when it was compiled.
Result<int> CheckGolden(const std::string& path,
                        const runtime::Approval& approve);

}  // namespace mxc
