// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/imperative.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

namespace mxc::runtime {
namespace {

// One operation's operands: those that it reads and those that it writes.
struct Operands {
  std::vector<Array> inputs, outputs;

  std::vector<Use> Uses() const {
    std::vector<Use> uses;
    for (const Array& input : inputs) {
      uses.push_back({&input.variable(), Access::kRead});
    }
    for (const Array& output : outputs) {
      uses.push_back({&output.variable(), output.AccessToWrite()});
    }
    return uses;
  }
};

Status Prefixed(const std::string& call, const Status& status) {
  if (status.ok()) return status;
  return {status.code(), call + ": " + status.message()};
}

// Makes those that are missing; the others are as `types` says.
Status MakeOutputs(const std::string& call, std::span<const ArrayType> types,
                   std::vector<Array>& outputs) {
  if (outputs.size() > types.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "%s has %zu outputs, and %zu are given", call.c_str(),
                types.size(), outputs.size());
  }
  outputs.resize(types.size());
  for (size_t o = 0; o < types.size(); ++o) {
    if (outputs[o].chunk() == nullptr) {
      MXC_RT_ASSIGN(outputs[o], Array::Make(types[o]));
    } else if (outputs[o].type() != types[o]) {
      return Fail(StatusCode::kInvalidArgument,
                  "%s gives %s, and %s is given for it", call.c_str(),
                  types[o].Text().c_str(), outputs[o].type().Text().c_str());
    }
  }
  return {};
}

std::vector<ArrayType> TypesOf(std::span<const Array> arrays) {
  std::vector<ArrayType> types;
  for (const Array& array : arrays) types.push_back(array.type());
  return types;
}

Status RunCall(CompiledCall& call, const Operands& operands, uint64_t seed,
               uint64_t draw) {
  std::vector<const std::byte*> inputs;
  std::vector<std::byte*> outputs;
  for (const Array& input : operands.inputs) inputs.push_back(input.data());
  for (const Array& output : operands.outputs) outputs.push_back(output.data());
  return call.Run({inputs, outputs}, seed, draw);
}

EngineOptions OptionsHere() {
  EngineOptions options;
  const char* const engine = std::getenv("MXC_ENGINE");
  options.is_naive = engine != nullptr && std::string_view(engine) == "naive";
  return options;
}

}  // namespace

Imperative& Imperative::Get() {
  static Imperative imperative(OptionsHere());
  return imperative;
}

Status Imperative::Call(const std::shared_ptr<CallableOperator>& op,
                        std::span<const Array> inputs,
                        std::vector<Array>& outputs, bool training) {
  const std::vector<ArrayType> types = TypesOf(inputs);
  auto compiled = op->For(types, training, team_);
  if (!compiled.ok()) return Prefixed(op->Text(types), compiled.status());
  const std::shared_ptr<CompiledCall> call = *compiled;
  MXC_RT_RETURN_IF_ERROR(MakeOutputs(
      op->Text(types),
      std::span(call->outputs()).first(call->visible_outputs()), outputs));
  Operands operands{{inputs.begin(), inputs.end()}, outputs};
  for (const size_t input : call->updates()) {
    operands.outputs.push_back(inputs[input]);
  }
  const uint64_t seed = seed_;
  const uint64_t draw = call->is_random() ? draws_++ : 0;
  std::vector<Use> uses = operands.Uses();
  if (call->is_brief()) {
    const auto run = [&] {
      return Prefixed(op->Text(types), RunCall(*call, operands, seed, draw));
    };
    if (engine_.TryRun(op->name().c_str(), run, uses)) return {};
  }
  engine_.Push({.name = op->name().c_str(),
                .run =
                    [op, call, seed, draw, operands = std::move(operands)] {
                      return Prefixed(op->Text(TypesOf(operands.inputs)),
                                      RunCall(*call, operands, seed, draw));
                    }},
               std::move(uses));
  return {};
}

Status Imperative::Call(const std::shared_ptr<ArrayProgram>& program,
                        std::span<const Array> inputs,
                        std::vector<Array>& outputs) {
  const std::vector<ArrayType> types = TypesOf(inputs);
  if (types.size() != program->inputs().size()) {
    return Fail(
        StatusCode::kInvalidArgument, "'%s' has %zu inputs, and %zu are given",
        program->name().c_str(), program->inputs().size(), types.size());
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (types[i] == program->inputs()[i]) continue;
    return Fail(StatusCode::kInvalidArgument,
                "input %zu of '%s' is %s, and %s is given", i,
                program->name().c_str(), program->inputs()[i].Text().c_str(),
                types[i].Text().c_str());
  }
  MXC_RT_RETURN_IF_ERROR(
      MakeOutputs("'" + program->name() + "'", program->outputs(), outputs));
  Operands operands{{inputs.begin(), inputs.end()}, outputs};
  std::vector<Use> uses = operands.Uses();
  for (const Array& state : program->states()) {
    uses.push_back({&state.variable(), Access::kUpdate});
  }
  uses.push_back({&program->turn(), Access::kWrite});
  engine_.Push({.name = program->name().c_str(),
                .run =
                    [program, operands = std::move(operands)] {
                      return Prefixed(
                          program->name(),
                          program->Run(operands.inputs, operands.outputs));
                    }},
               std::move(uses));
  return {};
}

Status Imperative::Transfer(const Array& array, Access access, uint64_t bytes,
                            const std::function<void()>& copy) {
  if (bytes != array.type().bytes()) {
    return Fail(StatusCode::kInvalidArgument,
                "%s has %llu bytes, but %llu are given",
                array.type().Text().c_str(),
                static_cast<unsigned long long>(array.type().bytes()),
                static_cast<unsigned long long>(bytes));
  }
  const auto run = [&] {
    copy();
    return Status();
  };
  // Somebody else may push another operation between the two.
  while (true) {
    const Status status = access == Access::kRead
                              ? engine_.Wait(array.variable())
                              : engine_.WaitToWrite(array.variable());
    if (!status.ok() && access != Access::kWrite) return status;
    std::array<Use, 1> use = {Use{&array.variable(), access}};
    if (engine_.TryRun("copy", run, use)) return {};
  }
}

Status Imperative::Read(const Array& array, void* values, uint64_t bytes) {
  return Transfer(array, Access::kRead, bytes,
                  [&] { std::memcpy(values, array.data(), bytes); });
}

Status Imperative::Write(const Array& array, const void* values,
                         uint64_t bytes) {
  return Transfer(array, array.AccessToWrite(), bytes,
                  [&] { std::memcpy(array.data(), values, bytes); });
}

Status Imperative::Copy(const Array& from, const Array& to) {
  if (from.type() != to.type()) {
    return Fail(StatusCode::kInvalidArgument, "%s cannot be copied to %s",
                from.type().Text().c_str(), to.type().Text().c_str());
  }
  Operands operands{{from}, {to}};
  std::vector<Use> uses = operands.Uses();
  engine_.Push({.name = "copy",
                .run =
                    [from, to] {
                      std::memmove(to.data(), from.data(), to.type().bytes());
                      return Status();
                    },
                .lane = LaneKind::kCopies},
               std::move(uses));
  return {};
}

void Imperative::Seed(uint64_t seed) {
  seed_ = seed;
  draws_ = 0;
}

}  // namespace mxc::runtime
