// SPDX-License-Identifier: Apache-2.0
// _receive: a value that another device sends.
//   inputs   a value that is there before it comes, which is not read, if any
//   outputs  the value
#include "ir/graph/call_form.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/control/call.h"
#include "ir/ops/tensor/control/transfer.h"

namespace mxc {

Value ReceivedFrom(GraphBuilder& b, int64_t device, const TensorType& type,
                   Value after) {
  std::vector<Value> inputs;
  if (after) inputs.push_back(after);
  const ReceiveAttrs attrs = {.num_args = std::ssize(inputs),
                              .device = device,
                              .shape = type.shape.dims(),
                              .dtype = type.dtype};
  return b.Op<op::Receive>(std::move(inputs), attrs, "receive");
}

MXC_OP(Receive) {
  return Op<ReceiveAttrs>("_receive")
      .Doc("a value that another device sends")
      .InputsOf(
          [](const ReceiveAttrs& a) { return NumberedInputs(a.num_args); })
      .Variadic()
      .Internal()
      .Types([](const ReceiveAttrs& a, TypeInference& t) {
        t.SetOut(0, Shape(a.shape));
        t.SetOutDType(0, a.dtype);
      })
      .AsCall([](const ReceiveAttrs& a) {
        return CallForm{
            .function = "receive", .attributes = {}, .members = a.device};
      });
}

}  // namespace mxc
