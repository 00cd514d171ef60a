// SPDX-License-Identifier: Apache-2.0
#include "tools/stored_network.h"

#include <cstring>

#include "runtime/artifact/container.h"
#include "runtime/artifact/tables.h"
#include "tools/artifact_check.h"

namespace mxc {
namespace {

namespace rt = runtime;

rt::StatusOr<rt::Array> ValueBeforeTraining(const mxc_state& state,
                                            rt::Bytes weights) {
  auto array =
      rt::Array::Allocate(*rt::ElementTypeFromFlag(state.dtype),
                          Extents(state.dims, state.dims + state.rank));
  if (!array.ok() || state.bytes == 0) return array;
  std::byte* to = array->bytes().data();
  if (state.initial == MXC_ZEROS) {
    std::memset(to, 0, state.bytes);
  } else {
    std::memcpy(to, weights.data() + state.initial, state.bytes);
  }
  return array;
}

std::map<std::string, Extents> ShapesOfInputs(const rt::Tables& tables) {
  std::map<std::string, Extents> shapes;
  if (tables.entries().empty()) return shapes;
  const mxc_entry& entry = tables.entries().front();
  for (const uint32_t row : tables.Inputs(entry)) {
    const mxc_buffer& input = tables.Buffers(entry)[row];
    shapes.emplace(tables.Text(input.name),
                   Extents(input.dims, input.dims + input.rank));
  }
  return shapes;
}

}  // namespace

Result<StoredNetwork> ReadStoredNetwork(const std::string& path) {
  const auto container = rt::Container::Open(path);
  if (!container.ok()) return ErrorAbout(path, container.status());
  rt::Status sound = container->CheckSection(MXC_SECTION_SYMBOL);
  if (sound.ok()) sound = container->CheckSection(MXC_SECTION_WEIGHTS);
  if (!sound.ok()) return ErrorAbout(path, sound);
  const rt::Bytes weights = container->section(MXC_SECTION_WEIGHTS);
  const auto tables =
      rt::Tables::Parse(container->section(MXC_SECTION_TABLES), weights.size());
  if (!tables.ok()) return ErrorAbout(path, tables.status());
  const rt::Bytes symbol = container->section(MXC_SECTION_SYMBOL);
  ParameterArrays arrays;
  for (const mxc_state& state : tables->states()) {
    if (state.role != MXC_TENSOR_PARAMETER &&
        state.role != MXC_TENSOR_AUXILIARY) {
      continue;
    }
    auto value = ValueBeforeTraining(state, weights);
    if (!value.ok()) return ErrorAbout(path, value.status());
    arrays.push_back({tables->Text(state.name), std::move(*value)});
  }
  return StoredNetwork{
      std::make_shared<const SourceFile>(SourceFile{
          path, {reinterpret_cast<const char*>(symbol.data()), symbol.size()}}),
      ShapesOfInputs(*tables),
      std::make_shared<const ParameterArrays>(std::move(arrays))};
}

}  // namespace mxc
