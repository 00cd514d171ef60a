// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/loss_direction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

#include "ir/program/interpreter.h"
#include "tools/verify/difference.h"

namespace mxc {
namespace {

// Its initial value; empty if the program does not read it.
Tensor InitialValue(const Program& program, const std::string& state) {
  for (const int b : program.BuffersOf(BufferKind::kState)) {
    const Buffer& buffer = program.buffers[b];
    if (buffer.name != state) continue;
    return buffer.constant.empty() ? Tensor::Filled(buffer.type, 0)
                                   : buffer.constant;
  }
  return {};
}

// The value given, else the initial one; empty if the program does not read it.
Tensor ValueAt(const Program& program,
               const std::map<std::string, Tensor>& inputs,
               const std::string& parameter) {
  Tensor initial = InitialValue(program, parameter);
  const auto given = inputs.find(parameter);
  return initial.empty() || given == inputs.end() ? initial : given->second;
}

// The first step that reads each state, by name; states that none reads are
// missing.
std::map<std::string, size_t> FirstReaders(const Program& program) {
  std::map<std::string, size_t> readers;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (const int b : program.steps[s].inputs) {
      const Buffer& buffer = program.buffers[b];
      if (buffer.kind == BufferKind::kState) {
        readers.try_emplace(buffer.name, s);
      }
    }
  }
  return readers;
}

void SortByReaders(const Program& loss, std::vector<Direction>& directions) {
  const auto readers = FirstReaders(loss);
  const auto reader = [&](const Direction& d) {
    const auto found = readers.find(d.parameter);
    return found == readers.end() ? loss.steps.size() : found->second;
  };
  std::ranges::stable_sort(directions, {}, reader);
}

}  // namespace

double Direction::Range() const {
  if (!is_read()) return 1;
  const double largest = LargestMagnitude(value);
  return largest > 0 ? largest : 1;
}

Tensor Direction::Moved(double by) const {
  std::byte* bytes = nullptr;
  Tensor moved = Tensor::Allocate({DType::kF64, value.shape()}, &bytes);
  for (size_t i = 0; i < up.size(); ++i) {
    StoreElement(bytes + i * sizeof(double), DType::kF64,
                 value.At(static_cast<int64_t>(i)) + by * At(i));
  }
  return moved;
}

std::string Derivative::Names() const {
  std::vector<std::string> names;
  for (const Direction* d : along) names.push_back("'" + d->parameter + "'");
  constexpr size_t kNamed = 3;
  const size_t named = std::min(names.size(), kNamed);
  std::string text =
      fmt::format("{}", fmt::join(names.begin(), names.begin() + named, ", "));
  if (named < names.size()) {
    text += fmt::format(" and {} more", names.size() - named);
  }
  return text;
}

Result<std::vector<Direction>> MakeDirections(
    const LossPrograms& programs, const std::map<std::string, Tensor>& inputs,
    uint64_t seed) {
  MXC_ASSIGN(const std::vector<Tensor> values,
             Interpret(programs.gradients, inputs,
                       {.arithmetic = kInDouble, .after_step = {}}));
  const std::map<std::string, Tensor> gradients =
      OutputsOfRole(TensorRole::kGradient, programs.gradients, values);
  std::vector<Direction> directions;
  std::mt19937_64 random(seed);
  for (const auto& [parameter, gradient] : gradients) {
    Direction direction;
    direction.parameter = parameter;
    direction.value = ValueAt(programs.loss, inputs, direction.parameter);
    direction.up.resize(gradient.shape().elements());
    for (size_t i = 0; i < direction.up.size(); ++i) {
      direction.up[i] = random() % 2 == 0;
      direction.rule += direction.At(i) * gradient.At(static_cast<int64_t>(i));
    }
    directions.push_back(std::move(direction));
  }
  SortByReaders(programs.loss, directions);
  return directions;
}

void Balance(std::vector<Direction>& directions) {
  std::vector<double> changes;
  for (const Direction& d : directions) {
    changes.push_back(std::abs(d.rule) * d.Range());
  }
  auto middle = changes.begin() + std::ssize(changes) / 2;
  std::ranges::nth_element(changes, middle);
  for (Direction& d : directions) {
    const double rule = std::abs(d.rule), range = d.Range();
    d.scale = rule * range > *middle ? *middle / rule : range;
    d.rule *= d.scale;
  }
}

double RuleOf(const Directions& along) {
  double rule = 0;
  for (const Direction* d : along) rule += d->rule;
  return rule;
}

}  // namespace mxc
