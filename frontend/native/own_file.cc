// SPDX-License-Identifier: Apache-2.0
// Our own JSON (frontend/native/README.md).
#include <algorithm>
#include <string_view>
#include <utility>

#include "frontend/native/network.h"
#include "frontend/native/weight_names.h"
#include "frontend/network_file.h"

namespace mxc {
namespace {

class OwnFile : public JsonNetworkFile {
 public:
  using JsonNetworkFile::JsonNetworkFile;

  Result<Graph> Build(const BuildOptions& options,
                      Diagnostics&) const override {
    return ReadNetwork(document(), options);
  }

  Result<std::shared_ptr<const WeightNames>> weight_names() const override {
    return WeightNames::Read(document());
  }
};

// By keys that MXNet's files never have, and without those that only they have.
bool IsOwnWithoutVersion(const JsonValue& root) {
  constexpr std::string_view kOwn[] = {"inputs",   "parameters", "constants",
                                       "defaults", "blocks",     "outputs"};
  return root.Find("heads") == nullptr &&
         std::ranges::any_of(kOwn, [&](std::string_view key) {
           return root.Find(key) != nullptr;
         });
}

bool ClaimsOwn(const NetworkSource& source) {
  const JsonValue* root = source.object();
  return root != nullptr &&
         (root->Find("mxc") != nullptr || IsOwnWithoutVersion(*root));
}

Result<std::unique_ptr<NetworkFile>> OpenOwn(
    std::shared_ptr<const NetworkSource> source) {
  const JsonValue& root = *source->object();
  if (root.Find("mxc") == nullptr) {
    return Error((*source->json())->Locate(root),
                 "own JSON begins with \"mxc\": 1");
  }
  return std::unique_ptr<NetworkFile>(
      std::make_unique<OwnFile>(std::move(source)));
}

}  // namespace

extern const Frontend kNative;
const Frontend kNative = {"our own JSON", ClaimsOwn, OpenOwn};

}  // namespace mxc
