// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/imperative.h"

#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <utility>

#include "runtime/ndarray/bound_run.h"
#include "runtime/ndarray/run_call.h"
#include "runtime/ndarray/short_list.h"

namespace mxc::runtime {
namespace {

void AddUses(ArrayRefs inputs, ArrayRefs outputs, ShortList<Use>& uses) {
  for (const NDArray* input : inputs) {
    uses.Add({&input->variable(), Access::kRead});
  }
  for (const NDArray* output : outputs) {
    uses.Add({&output->variable(), output->AccessToWrite()});
  }
}

// Makes those that have no chunk; the others are as `types` says.
template <class Call>
Status MakeOutputs(std::span<const ArrayType> types,
                   std::span<NDArray* const> outputs, const Call& call) {
  if (outputs.size() > types.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "%s has %zu outputs, and %zu are given", call().c_str(),
                types.size(), outputs.size());
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    NDArray& output = *outputs[o];
    if (output.chunk() == nullptr) {
      MXC_RT_ASSIGN(output, NDArray::Make(types[o]));
      continue;
    }
    if (output.type() != types[o]) {
      return Fail(StatusCode::kInvalidArgument,
                  "%s gives %s, and %s is given for it", call().c_str(),
                  types[o].Text().c_str(), output.type().Text().c_str());
    }
    for (size_t other = 0; other < o; ++other) {
      if (!Overlap(output, *outputs[other])) continue;
      return Fail(StatusCode::kInvalidArgument,
                  "outputs %zu and %zu of %s lie over one another", other, o,
                  call().c_str());
    }
  }
  return {};
}

std::string TextOf(const CallableOperator& op, ArrayRefs inputs) {
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
  // Before the engine's, which wait for what was pushed.
  static const int registered = pthread_atfork(
      [] { imperative.loops_.BeginFork(); },
      [] { imperative.loops_.EndFork(); }, [] { imperative.loops_.EndFork(); });
  static_cast<void>(registered);
  return imperative;
}

Status Imperative::Call(const std::shared_ptr<CallableOperator>& op,
                        ArrayRefs inputs, std::span<NDArray* const> outputs,
                        bool training) {
  const auto compiled = op->For(inputs, training, team_);
  if (!compiled.ok()) {
    return Prefixed(compiled.status(), [&] { return TextOf(*op, inputs); });
  }
  const size_t visible = (*compiled)->visible_outputs();
  if (outputs.size() >= visible) return Run(op, *compiled, inputs, outputs);
  std::vector<NDArray> dropped(visible - outputs.size());
  std::vector<NDArray*> all(outputs.begin(), outputs.end());
  for (NDArray& one : dropped) all.push_back(&one);
  return Run(op, *compiled, inputs, all);
}

Status Imperative::CallRecorded(const std::shared_ptr<CallableOperator>& op,
                                const RecordedCall& recorded, ArrayRefs inputs,
                                std::span<NDArray* const> outputs) {
  const auto compiled = op->For(recorded, team_);
  if (!compiled.ok()) {
    return Prefixed(compiled.status(), [&] { return recorded.text; });
  }
  return Run(op, *compiled, inputs, outputs);
}

Status Imperative::Run(const std::shared_ptr<CallableOperator>& op,
                       const CompiledCallPtr& compiled, ArrayRefs inputs,
                       std::span<NDArray* const> outputs) {
  const CompiledCall& call = *compiled;
  const auto text = [&] { return TextOf(*op, inputs); };
  const size_t visible = call.visible_outputs();
  const size_t hidden = call.hidden_outputs();
  const std::span<const ArrayType> types = call.outputs();
  MXC_RT_RETURN_IF_ERROR(MakeOutputs(
      types.first(visible), outputs.first(outputs.size() - hidden), text));
  MXC_RT_RETURN_IF_ERROR(
      MakeOutputs(types.last(hidden), outputs.last(hidden), text));
  // What is written: visible outputs, inputs with a next value, hidden outputs.
  ShortList<const NDArray*> written(types.size());
  for (NDArray* output : outputs.first(visible)) written.Add(output);
  for (const size_t input : call.updates()) written.Add(inputs[input]);
  for (NDArray* output : outputs.subspan(visible)) written.Add(output);
  const GivenCall given = {op,     compiled,
                           inputs, written.all(),
                           seed_,  call.is_random() ? draws_++ : 0};
  const bool waits = loops_.Take(given);
  for (const NDArray* output : written.all()) output->chunk()->CountWrite();
  if (!waits) RunCall(engine_, given);
  return {};
}

Status Imperative::Call(const std::shared_ptr<ArrayProgram>& program,
                        ArrayRefs inputs, std::span<NDArray* const> outputs) {
  const std::string& name = program->name();
  const std::vector<ArrayType>& types = program->inputs();
  if (inputs.size() != types.size()) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' has %zu inputs, and %zu are given", name.c_str(),
                types.size(), inputs.size());
  }
  for (size_t i = 0; i < types.size(); ++i) {
    if (inputs[i]->type() == types[i]) continue;
    return Fail(StatusCode::kInvalidArgument,
                "input %zu of '%s' is %s, and %s is given", i, name.c_str(),
                types[i].Text().c_str(), inputs[i]->type().Text().c_str());
  }
  std::vector<NDArray> dropped(
      program->outputs().size() -
      std::min(outputs.size(), program->outputs().size()));
  std::vector<NDArray*> all(outputs.begin(), outputs.end());
  for (NDArray& one : dropped) all.push_back(&one);
  MXC_RT_RETURN_IF_ERROR(
      MakeOutputs(program->outputs(), all, [&] { return "'" + name + "'"; }));
  const std::vector<const NDArray*> written(all.begin(), all.end());
  for (const ArrayRefs arrays : {inputs, ArrayRefs(written)}) {
    for (const NDArray* array : arrays) loops_.Settle(*array);
  }
  for (const NDArray& state : program->states()) loops_.Settle(state);
  for (const NDArray* output : written) output->chunk()->CountWrite();
  ShortList<Use> uses(inputs.size() + written.size() +
                      program->states().size() + 1);
  AddUses(inputs, written, uses);
  for (const NDArray& state : program->states()) {
    state.chunk()->CountWrite();
    uses.Add({&state.variable(), Access::kUpdate});
  }
  uses.Add({&program->turn(), Access::kWrite});
  engine_.Push({.name = name.c_str(),
                .run =
                    [program, read = CopiesOf(inputs), to = CopiesOf(written)] {
                      return Prefixed(program->Run(RefsTo(read), RefsTo(to)),
                                      [&] { return program->name(); });
                    }},
               {uses.all().begin(), uses.all().end()});
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
  loops_.Settle(array);
  MXC_RT_RETURN_IF_ERROR(array.Require());
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
  loops_.Settle(from);
  loops_.Settle(to);
  to.chunk()->CountWrite();
  engine_.Push({.name = "copy",
                .run = [from, to]() -> Status {
                  MXC_RT_RETURN_IF_ERROR(from.Require());
                  MXC_RT_RETURN_IF_ERROR(to.Require());
                  std::memmove(to.data(), from.data(), to.type().bytes());
                  return {};
                },
                .lane = LaneKind::kCopies},
               {{&from.variable(), Access::kRead},
                {&to.variable(), to.AccessToWrite()}});
  return {};
}

Status Imperative::Wait(const NDArray& array) {
  loops_.Settle(array);
  return engine_.Wait(array.variable());
}

Status Imperative::WaitForAll() {
  loops_.SettleAll();
  return engine_.WaitForAll();
}

void Imperative::SetFailure(const NDArray& array, std::string sentence) {
  loops_.Settle(array);
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
