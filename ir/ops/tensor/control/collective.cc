// SPDX-License-Identifier: Apache-2.0
// _collective: what devices that run one program do together.
//   inputs …   of one element type
//   outputs …  what a device has then: the first axis is that of the input, or a
//              part of it, or as many of it as there are devices
// C1  the collective is known
// C2  the first axis has a part for each device
#include "ir/ops/tensor/control/collective.h"

#include <fmt/format.h>

#include "ir/graph/call_form.h"
#include "ir/ops/op.h"
#include "ir/ops/tensor/control/call.h"
#include "runtime/abi/collective.h"

namespace mxc {
namespace {

std::optional<std::string> CheckCollective(const CollectiveAttrs& a) {
  const CollectiveFacts* facts = FindCollective(a.operation);
  if (facts == nullptr) {
    return fmt::format("C1: collective '{}' is unknown", a.operation);
  }
  if (facts->gives == CollectiveGives::kSame || a.members > 0) {
    return std::nullopt;
  }
  return fmt::format("C2: collective '{}' is for no number of devices",
                     a.operation);
}

void CollectiveTypes(const CollectiveAttrs& a, TypeInference& t) {
  t.AllSameDType();
  if (const auto wrong = CheckCollective(a)) return t.Fail("{}", *wrong);
  const CollectiveGives gives = FindCollective(a.operation)->gives;
  for (int i = 0; i < static_cast<int>(a.num_args); ++i) {
    const Shape& in = t.In(i);
    if (gives == CollectiveGives::kSame) {
      t.SetOut(i, in);
      continue;
    }
    if (!in.known()) continue;
    if (in.rank() == 0) return t.Fail("C2: a number has no parts");
    Extents dims = in.dims();
    const bool part = gives == CollectiveGives::kPart;
    if (part && dims[0] % a.members != 0) {
      return t.Fail("C2: {} rows are no {} equal parts", dims[0], a.members);
    }
    dims[0] = part ? dims[0] / a.members : dims[0] * a.members;
    t.SetOut(i, Shape(dims));
  }
}

}  // namespace

std::vector<Value> CollectiveOf(GraphBuilder& b, std::string_view operation,
                                std::vector<Value> inputs, int64_t members) {
  const CollectiveAttrs attrs = {.num_args = std::ssize(inputs),
                                 .operation = std::string(operation),
                                 .members = members};
  return b.Ops<op::Collective>(std::move(inputs), attrs, operation);
}

MXC_OP(Collective) {
  return Op<CollectiveAttrs>("_collective")
      .Doc("what devices that run one program do together")
      .InputsOf(
          [](const CollectiveAttrs& a) { return NumberedInputs(a.num_args); })
      .OutputsOf([](const CollectiveAttrs& a) {
        return NumberedOutputs(static_cast<size_t>(a.num_args));
      })
      .Variadic()
      .Internal()
      .Check(CheckCollective)
      .Types(CollectiveTypes)
      .AsCall([](const CollectiveAttrs& a) {
        return CallForm{
            .function = a.operation, .attributes = {}, .members = a.members};
      });
}

}  // namespace mxc
