// SPDX-License-Identifier: Apache-2.0
// MXNet's symbol JSON of every generation.
#include <utility>

#include "frontend/mxnet/symbol.h"
#include "frontend/network_file.h"

namespace mxc {
namespace {

class SymbolFile : public JsonNetworkFile {
 public:
  using JsonNetworkFile::JsonNetworkFile;

  Result<Graph> Build(const BuildOptions&, Diagnostics& notes) const override {
    MXC_ASSIGN(Symbol symbol, ReadSymbol(document()));
    MXC_RETURN_IF_ERROR(UpgradeSymbol(symbol, notes));
    return BuildGraph(symbol);
  }
};

// A file that has lost some of its keys is told which.
bool ClaimsSymbol(const NetworkSource& source) {
  const JsonValue* root = source.object();
  return root != nullptr && !root->members.empty();
}

Result<std::unique_ptr<NetworkFile>> OpenSymbol(
    std::shared_ptr<const NetworkSource> source) {
  return std::unique_ptr<NetworkFile>(
      std::make_unique<SymbolFile>(std::move(source)));
}

}  // namespace

extern const Frontend kMxnetSymbol;
const Frontend kMxnetSymbol = {"MXNet's symbol JSON", ClaimsSymbol, OpenSymbol};

}  // namespace mxc
