// SPDX-License-Identifier: Apache-2.0
#include "frontend/network_file.h"

#include <string_view>
#include <utility>

#include "frontend/variables.h"

namespace mxc {

#define MXC_FRONTEND(name) extern const Frontend k##name;
#include "frontend/frontends.def"
#undef MXC_FRONTEND

namespace {

// "our own JSON or MXNet's symbol JSON"
std::string Formats(std::span<const Frontend* const> frontends) {
  std::string formats;
  for (size_t i = 0; i < frontends.size(); ++i) {
    if (i > 0) formats += i + 1 < frontends.size() ? ", " : " or ";
    formats += frontends[i]->reads;
  }
  return formats;
}

bool IsArtifact(const NetworkSource& source) {
  constexpr std::string_view kElf =
      "\x7f"
      "ELF";
  const auto bytes = source.bytes();
  return bytes.size() >= kElf.size() &&
         std::string_view(reinterpret_cast<const char*>(bytes.data()),
                          kElf.size()) == kElf;
}

// Of what nobody has claimed.
Diagnostics Unclaimed(const NetworkSource& source, const std::string& formats) {
  const std::string& path = source.path();
  if (IsArtifact(source)) {
    return {Error({},
                  "{}: a compiled file, expected a network: {}; 'mxc run' runs "
                  "it, 'mxc inspect' tells what it holds",
                  path, formats)};
  }
  if (source.binary()) {
    return {Error({},
                  "{}: a binary file, expected a network: {}; parameters go to "
                  "--params",
                  path, formats)};
  }
  if (!source.json().ok()) return source.json().errors();
  const JsonDocument& document = **source.json();
  return {Error(document.Locate(document.root()),
                "not a network: expected an object with MXNet's key 'nodes' or "
                "our own key 'mxc'")};
}

}  // namespace

Result<std::string> NetworkFile::Stored(const BuildOptions& options) const {
  Diagnostics notes;
  MXC_ASSIGN(Graph graph, Build(options, notes));
  for (Node* input : graph.Variables(VariableRole::kInput)) {
    const auto& [dtype, shape] = input->types[0];
    if (shape.known_rank() && shape.rank() > 0) AnnotateShape(*input);
    if (dtype != DType::kUnknown) AnnotateType(*input);
  }
  return WriteSymbol(graph);
}

JsonNetworkFile::JsonNetworkFile(std::shared_ptr<const NetworkSource> content)
    : NetworkFile(content, content->text()) {}

std::span<const Frontend* const> Frontends() {
  static constexpr const Frontend* kAll[] = {
#define MXC_FRONTEND(name) &k##name,
#include "frontend/frontends.def"
#undef MXC_FRONTEND
  };
  return kAll;
}

Result<std::shared_ptr<const NetworkFile>> OpenNetwork(
    std::shared_ptr<const NetworkSource> source,
    std::span<const Frontend* const> frontends) {
  for (const Frontend* frontend : frontends) {
    if (!frontend->claims(*source)) continue;
    MXC_ASSIGN(auto file, frontend->open(std::move(source)));
    return std::shared_ptr<const NetworkFile>(std::move(file));
  }
  return Unclaimed(*source, Formats(frontends));
}

Result<std::shared_ptr<const NetworkFile>> OpenNetwork(
    const std::string& path) {
  MXC_ASSIGN(auto source, NetworkSource::Open(path));
  return OpenNetwork(std::move(source));
}

}  // namespace mxc
