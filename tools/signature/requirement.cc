// SPDX-License-Identifier: Apache-2.0
#include "tools/signature/requirement.h"

#include <memory>
#include <utility>

#include "tools/signature/signature.h"

namespace mxc::signature {

void Requirement::Declare(CLI::App& app) {
  app.add_option("--require-signature", public_key_,
                 "refuse the artifact unless 'mxc sign' signed it with the key "
                 "that belongs to this public one")
      ->type_name("PUBKEY");
}

runtime::StatusOr<runtime::Approval> Requirement::Approval() const {
  if (public_key_.empty()) return runtime::Approval();
  runtime::StatusOr<Key> key = Key::Read(public_key_, Key::Kind::kPublic);
  if (!key.ok()) return key.status();
  const auto shared = std::make_shared<const Key>(std::move(*key));
  return runtime::Approval(
      [shared](runtime::Bytes file) { return shared->Verify(file); });
}

}  // namespace mxc::signature
