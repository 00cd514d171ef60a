// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/imperative.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory_resource>
#include <string_view>
#include <utility>

#include "runtime/ndarray/bound_run.h"

namespace mxc::runtime {
namespace {

// Vectors of a few elements, on the stack of who calls.
class Few {
 public:
  std::pmr::memory_resource* memory() { return &memory_; }

 private:
  std::array<std::byte, 1024> bytes_;
  std::pmr::monotonic_buffer_resource memory_{bytes_.data(), bytes_.size()};
};

std::pmr::vector<Use> UsesOf(std::span<const NDArray> inputs,
                             std::span<const NDArray> outputs, Few& few) {
  std::pmr::vector<Use> uses(few.memory());
  uses.reserve(inputs.size() + outputs.size());
  for (const NDArray& input : inputs) {
    uses.push_back({&input.variable(), Access::kRead});
  }
  for (const NDArray& output : outputs) {
    uses.push_back({&output.variable(), output.AccessToWrite()});
  }
  return uses;
}

template <class Call>  // that is asked for its text where something is wrong
Status Prefixed(const Status& status, const Call& call) {
  if (status.ok()) return status;
  return {status.code(), call() + ": " + status.message()};
}

// Makes those that are missing; the others are as `types` says.
template <class Call>
Status MakeOutputs(std::span<const ArrayType> types,
                   std::vector<NDArray>& outputs, const Call& call) {
  if (outputs.size() > types.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "%s has %zu outputs, and %zu are given", call().c_str(),
                types.size(), outputs.size());
  }
  outputs.resize(types.size());
  for (size_t o = 0; o < types.size(); ++o) {
    if (outputs[o].chunk() == nullptr) {
      MXC_RT_ASSIGN(outputs[o], NDArray::Make(types[o]));
    } else if (outputs[o].type() != types[o]) {
      return Fail(StatusCode::kInvalidArgument,
                  "%s gives %s, and %s is given for it", call().c_str(),
                  types[o].Text().c_str(), outputs[o].type().Text().c_str());
    }
  }
  for (size_t o = 1; o < outputs.size(); ++o) {
    for (size_t other = 0; other < o; ++other) {
      if (!Overlap(outputs[o], outputs[other])) continue;
      return Fail(StatusCode::kInvalidArgument,
                  "outputs %zu and %zu of %s lie over one another", other, o,
                  call().c_str());
    }
  }
  return {};
}

std::string TextOf(const CallableOperator& op,
                   std::span<const NDArray> inputs) {
  return op.Text(TypesOf(inputs));
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
                        std::span<const NDArray> inputs,
                        std::vector<NDArray>& outputs, bool training) {
  const auto compiled = op->For(inputs, training, team_);
  if (!compiled.ok()) {
    return Prefixed(compiled.status(), [&] { return TextOf(*op, inputs); });
  }
  return Run(op, *compiled, inputs, outputs, nullptr);
}

Status Imperative::CallRecorded(const std::shared_ptr<CallableOperator>& op,
                                const RecordedCall& recorded,
                                std::span<const NDArray> inputs,
                                std::vector<NDArray>& outputs,
                                std::vector<NDArray>& hidden) {
  const auto compiled = op->For(recorded, team_);
  if (!compiled.ok()) {
    return Prefixed(compiled.status(), [&] { return recorded.text; });
  }
  return Run(op, *compiled, inputs, outputs, &hidden);
}

Status Imperative::Run(const std::shared_ptr<CallableOperator>& op,
                       const std::shared_ptr<CompiledCall>& call,
                       std::span<const NDArray> inputs,
                       std::vector<NDArray>& outputs,
                       std::vector<NDArray>* hidden) {
  const auto text = [&] { return TextOf(*op, inputs); };
  const size_t visible = call->visible_outputs();
  const std::span<const ArrayType> types = call->outputs();
  MXC_RT_RETURN_IF_ERROR(MakeOutputs(types.first(visible), outputs, text));
  // What is written: behind the outputs, inputs with a next value.
  for (const size_t input : call->updates()) outputs.push_back(inputs[input]);
  for (const ArrayType& type : types.last(call->hidden_outputs())) {
    MXC_RT_ASSIGN(outputs.emplace_back(), NDArray::Make(type));
  }
  for (const NDArray& output : outputs) output.chunk()->CountWrite();
  const uint64_t seed = seed_;
  const uint64_t draw = call->is_random() ? draws_++ : 0;
  Few few;
  std::pmr::vector<Use> uses = UsesOf(inputs, outputs, few);
  const bool has_run =
      call->is_brief() &&
      engine_.TryRun(
          op->name().c_str(),
          [&] {
            return Prefixed(call->Run(inputs, outputs, seed, draw), text);
          },
          uses);
  if (!has_run) {
    engine_.Push(
        {.name = op->name().c_str(),
         .run =
             [op, call, seed, draw, written = outputs,
              read = std::vector<NDArray>(inputs.begin(), inputs.end())] {
               return Prefixed(call->Run(read, written, seed, draw),
                               [&] { return TextOf(*op, read); });
             }},
        {uses.begin(), uses.end()});
  }
  if (hidden != nullptr) {
    hidden->assign(
        outputs.end() - static_cast<std::ptrdiff_t>(call->hidden_outputs()),
        outputs.end());
  }
  outputs.resize(visible);
  return {};
}

Status Imperative::Call(const std::shared_ptr<ArrayProgram>& program,
                        std::span<const NDArray> inputs,
                        std::vector<NDArray>& outputs) {
  const std::string& name = program->name();
  const std::vector<ArrayType>& types = program->inputs();
  if (inputs.size() != types.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' has %zu inputs, and %zu are given", name.c_str(),
                types.size(), inputs.size());
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (inputs[i].type() == types[i]) continue;
    return Fail(StatusCode::kInvalidArgument,
                "input %zu of '%s' is %s, and %s is given", i, name.c_str(),
                types[i].Text().c_str(), inputs[i].type().Text().c_str());
  }
  MXC_RT_RETURN_IF_ERROR(MakeOutputs(program->outputs(), outputs,
                                     [&] { return "'" + name + "'"; }));
  for (const NDArray& output : outputs) output.chunk()->CountWrite();
  Few few;
  std::pmr::vector<Use> uses = UsesOf(inputs, outputs, few);
  for (const NDArray& state : program->states()) {
    state.chunk()->CountWrite();
    uses.push_back({&state.variable(), Access::kUpdate});
  }
  uses.push_back({&program->turn(), Access::kWrite});
  engine_.Push(
      {.name = name.c_str(),
       .run =
           [program, written = outputs,
            read = std::vector<NDArray>(inputs.begin(), inputs.end())] {
             return Prefixed(program->Run(read, written),
                             [&] { return program->name(); });
           }},
      {uses.begin(), uses.end()});
  return {};
}

Status Imperative::Transfer(const NDArray& array, Access access, uint64_t bytes,
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

Status Imperative::Read(const NDArray& array, void* values, uint64_t bytes) {
  return Transfer(array, Access::kRead, bytes,
                  [&] { std::memcpy(values, array.data(), bytes); });
}

Status Imperative::Write(const NDArray& array, const void* values,
                         uint64_t bytes) {
  array.chunk()->CountWrite();
  return Transfer(array, array.AccessToWrite(), bytes,
                  [&] { std::memcpy(array.data(), values, bytes); });
}

Status Imperative::WaitToTouch(const NDArray& array, bool writes) {
  if (writes) array.chunk()->CountWrite();
  // Written in part, or not at all: what is wrong with the rest stays wrong.
  return Transfer(array, writes ? Access::kUpdate : Access::kRead,
                  array.type().bytes(), [] {});
}

Status Imperative::Copy(const NDArray& from, const NDArray& to) {
  if (from.type() != to.type()) {
    return Fail(StatusCode::kInvalidArgument, "%s cannot be copied to %s",
                from.type().Text().c_str(), to.type().Text().c_str());
  }
  to.chunk()->CountWrite();
  engine_.Push({.name = "copy",
                .run =
                    [from, to] {
                      std::memmove(to.data(), from.data(), to.type().bytes());
                      return Status();
                    },
                .lane = LaneKind::kCopies},
               {{&from.variable(), Access::kRead},
                {&to.variable(), to.AccessToWrite()}});
  return {};
}

void Imperative::SetFailure(const NDArray& array, std::string sentence) {
  engine_.Push({.name = "fail",
                .run =
                    [array, sentence = std::move(sentence)] {
                      return Status(StatusCode::kInvalidArgument, sentence);
                    }},
               {{&array.variable(), array.AccessToWrite()}});
}

void Imperative::Seed(uint64_t seed) {
  seed_ = seed;
  draws_ = 0;
}

}  // namespace mxc::runtime
