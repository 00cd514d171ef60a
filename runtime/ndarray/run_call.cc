// SPDX-License-Identifier: Apache-2.0
#include "runtime/ndarray/run_call.h"

#include "runtime/ndarray/short_list.h"

namespace mxc::runtime {

std::vector<NDArray> CopiesOf(ArrayRefs arrays) {
  std::vector<NDArray> copies;
  copies.reserve(arrays.size());
  for (const NDArray* array : arrays) copies.push_back(*array);
  return copies;
}

Status GivenCall::Run() const {
  return Prefixed(compiled->Run(inputs, outputs, seed, draw),
                  [&] { return Text(); });
}

void RunCall(Engine& engine, const GivenCall& call) {
  ShortList<Use> uses(call.inputs.size() + call.outputs.size());
  for (const NDArray* input : call.inputs) {
    uses.Add({&input->variable(), Access::kRead});
  }
  for (const NDArray* output : call.outputs) {
    uses.Add({&output->variable(), output->AccessToWrite()});
  }
  const char* const name = call.op->name().c_str();
  if (call.compiled->is_brief() &&
      engine.TryRun(name, [&] { return call.Run(); }, uses.all())) {
    return;
  }
  engine.Push(
      {.name = name,
       .run =
           [op = call.op, compiled = call.compiled, seed = call.seed,
            draw = call.draw, read = CopiesOf(call.inputs),
            to = CopiesOf(call.outputs)] {
             const std::vector<const NDArray*> from = RefsTo(read),
                                               into = RefsTo(to);
             return GivenCall{op, compiled, from, into, seed, draw}.Run();
           }},
      {uses.all().begin(), uses.all().end()});
}

}  // namespace mxc::runtime
