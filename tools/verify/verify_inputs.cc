// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/verify_inputs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>
#include <utility>

#include "tools/arrays.h"

namespace mxc {
namespace {

// From 1 to `most`.
Tensor DrawLength(const Buffer& input, int64_t most, uint64_t seed) {
  const double entry = DrawInput(input, most, seed).At(0);
  std::byte* to = nullptr;
  Tensor length = Tensor::Allocate(input.type, &to);
  StoreElement(to, input.type.dtype, entry + 1);
  return length;
}

Status CheckLength(const Buffer& input, const Tensor& given,
                   const Lengths& lengths) {
  if (input.use.role != TensorRole::kLength) return Done{};
  const int64_t most = lengths.at(input.use.of);
  const double length = given.At(0);
  if (length >= 1 && length <= static_cast<double>(most)) return Done{};
  return UnplacedError(fmt::format("--input '{}' is {}, expected 1 to {}",
                                   input.name, length, most));
}

Result<Tensor> InputFor(const Buffer& buffer, const InputSource& source) {
  const auto found = source.given.find(buffer.name);
  if (found == source.given.end()) {
    if (buffer.use.role == TensorRole::kLength) {
      return DrawLength(buffer, source.most.at(buffer.use.of), source.seed);
    }
    const auto positions = source.positions.find(buffer.name);
    const bool chooses = positions != source.positions.end();
    return DrawInput(buffer, chooses ? positions->second : 0, source.seed,
                     source.range);
  }
  const TensorType& type = found->second.type();
  if (type.shape == buffer.type.shape) {
    MXC_RETURN_IF_ERROR(CheckLength(buffer, found->second, source.most));
  }
  if (type == buffer.type) return found->second;
  if (type.shape == buffer.type.shape) {
    PrintPhase(source.style, "note",
               fmt::format("--input '{}' is {}, the input takes {}: converted",
                           buffer.name, MxnetName(type.dtype),
                           MxnetName(buffer.type.dtype)));
    return Converted(found->second, buffer.type.dtype);
  }
  return UnplacedError(fmt::format("--input '{}' is {}, expected {}",
                                   buffer.name, ToString(type),
                                   ToString(buffer.type)));
}

}  // namespace

Result<Inputs> ReadInputs(const std::vector<std::string>& texts) {
  Inputs inputs;
  Diagnostics errors;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    if (equals == text.npos) {
      errors.push_back(UnplacedError(
          fmt::format("--input '{}': expected NAME=FILE.npy", text)));
      continue;
    }
    Result<Tensor> value = ReadNpyTensor(text.substr(equals + 1));
    if (value.ok()) {
      inputs[text.substr(0, equals)] = std::move(*value);
    } else {
      errors.Append(value.errors());
    }
  }
  if (!errors.empty()) return errors;
  return inputs;
}

Status RequireInputs(std::span<const Program> programs, const Inputs& given) {
  std::set<std::string> names;
  for (const Program& program : programs) {
    for (const int b : program.BuffersOf(BufferKind::kInput)) {
      names.insert(program.buffers[b].name);
    }
  }
  Diagnostics errors;
  for (const auto& [name, value] : given) {
    if (names.contains(name)) continue;
    errors.push_back(UnplacedError(
        fmt::format("the network has no input '{}'; its inputs: {}", name,
                    fmt::join(names, ", "))));
  }
  if (!errors.empty()) return errors;
  return Done{};
}

Result<Inputs> MakeInputs(const Program& program, const InputSource& source) {
  Inputs inputs = source.states;
  for (const int b : program.BuffersOf(BufferKind::kInput)) {
    const Buffer& buffer = program.buffers[b];
    MXC_ASSIGN(inputs[buffer.name], InputFor(buffer, source));
  }
  return inputs;
}

}  // namespace mxc
