// SPDX-License-Identifier: Apache-2.0
// _send: a value goes to another device.
//   inputs   the value; a value that is there before it goes, which is not read
//   outputs  f32[1], 0
#include "ir/graph/call_form.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/control/transfer.h"

namespace mxc {

Value SentTo(GraphBuilder& b, int64_t device, Value value, Value after) {
  std::vector<Value> inputs = {value};
  if (after) inputs.push_back(after);
  const SendAttrs attrs = {.num_args = std::ssize(inputs), .device = device};
  return b.Op<op::Send>(std::move(inputs), attrs, "send");
}

MXC_OP(Send) {
  return Op<SendAttrs>("_send")
      .Doc("a value goes to another device")
      .InputsOf([](const SendAttrs& a) { return NumberedInputs(a.num_args); })
      .Variadic()
      .Internal()
      .Types([](const SendAttrs&, TypeInference& t) {
        t.SetOut(0, Shape{1});
        t.SetOutDType(0, DType::kF32);
      })
      .AsCall([](const SendAttrs& a) {
        return CallForm{
            .function = "send", .attributes = {}, .members = a.device};
      });
}

}  // namespace mxc
