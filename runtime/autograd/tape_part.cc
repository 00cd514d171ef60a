// SPDX-License-Identifier: Apache-2.0
#include "runtime/autograd/tape_part.h"

namespace mxc::runtime {

std::vector<uint64_t> TapePart::Key() const {
  std::vector<uint64_t> key;
  const auto add_wire = [&](const Wire& wire) {
    key.push_back(uint64_t{wire.number} << 34 | uint64_t{wire.output} << 2 |
                  static_cast<uint64_t>(wire.from));
  };
  key.push_back(training ? 1 : 0);
  key.push_back(leaves.size());
  for (const ArrayType& leaf : leaves) {
    key.push_back(uint64_t{leaf.dtype} << 8 | leaf.rank);
    for (const int64_t dim : leaf.extents()) {
      key.push_back(static_cast<uint64_t>(dim));
    }
  }
  key.push_back(calls.size());
  for (const Call& call : calls) {
    key.push_back(call.call->number);
    for (const Wire& wire : call.inputs) add_wire(wire);
  }
  key.push_back(heads.size());
  for (const Head& head : heads) {
    add_wire(head.at);
    key.push_back(head.is_given ? 1 : 0);
  }
  for (const Wanted& one : wanted) {
    add_wire(one.of);
    key.push_back(one.addends);
  }
  return key;
}

StatusOr<std::shared_ptr<const PartGradient>> PartGradients::Of(
    const TapePart& part) {
  Key key = part.Key();
  const std::lock_guard lock(mutex_);
  if (const auto* const found = made_.Find(key)) return *found;
  MXC_RT_ASSIGN(PartGradient made, compiler_->Compile(part));
  auto gradient = std::make_shared<const PartGradient>(std::move(made));
  made_.Add(std::move(key), gradient);
  return gradient;
}

}  // namespace mxc::runtime
