// SPDX-License-Identifier: Apache-2.0
#include "frontend/network_file.h"

#include <string_view>
#include <utility>

namespace mxc {

#define MXC_FRONTEND(name, reads) extern const Frontend k##name##Frontend;
#include "frontend/frontends.def"
#undef MXC_FRONTEND

namespace {

// "our own JSON or MXNet's symbol JSON"
std::string Formats(std::span<const FrontendRow> rows) {
  std::string formats;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (i > 0) formats += i + 1 < rows.size() ? ", " : " or ";
    formats += rows[i].reads;
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

// Formats that people have, and none of the rows reads.
const char* OwnerOf(std::string_view path) {
  constexpr std::pair<const char*, const char*> kOthers[] = {
      {".onnx", "ONNX"}, {".prototxt", "Caffe's"}, {".caffemodel", "Caffe's"}};
  for (const auto& [ending, owner] : kOthers) {
    if (path.ends_with(ending)) return owner;
  }
  return nullptr;
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
  if (const char* owner = OwnerOf(path)) {
    return {Error({}, "{}: {} files are not read yet, expected {}", path, owner,
                  formats)};
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

Result<std::string> NetworkFile::Stored() const {
  Diagnostics notes;
  MXC_ASSIGN(const Graph graph, Build({}, notes));
  return WriteSymbol(graph);
}

JsonNetworkFile::JsonNetworkFile(std::shared_ptr<const NetworkSource> content)
    : NetworkFile(content, content->text()) {}

std::span<const FrontendRow> Frontends() {
  static const FrontendRow kRows[] = {
#define MXC_FRONTEND(name, reads) {&k##name##Frontend, reads},
#include "frontend/frontends.def"
#undef MXC_FRONTEND
  };
  return kRows;
}

Result<std::shared_ptr<const NetworkFile>> OpenNetwork(
    std::shared_ptr<const NetworkSource> source,
    std::span<const FrontendRow> rows) {
  for (const FrontendRow& row : rows) {
    if (!row.frontend->claims(*source)) continue;
    MXC_ASSIGN(auto file, row.frontend->open(std::move(source)));
    return std::shared_ptr<const NetworkFile>(std::move(file));
  }
  return Unclaimed(*source, Formats(rows));
}

Result<std::shared_ptr<const NetworkFile>> OpenNetwork(
    const std::string& path) {
  MXC_ASSIGN(auto source, NetworkSource::Open(path));
  return OpenNetwork(std::move(source));
}

}  // namespace mxc
