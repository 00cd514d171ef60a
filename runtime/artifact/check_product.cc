// SPDX-License-Identifier: Apache-2.0
#include "runtime/abi/matrix_product.h"

#include "runtime/artifact/tables_check.h"
#include "runtime/base/element.h"

namespace mxc::runtime {

// What a library is told of a kernel stays inside of its operands.
Status TablesCheck::Product(const mxc_entry& entry, const mxc_step& step,
                            const std::string& place) {
  if (step.attributes.count == 0) return {};
  MXC_REQUIRE(IsText(step.attributes), place, "its attributes are no string");
  const auto product = ReadMatrixProduct(tables_.Text(step.attributes));
  MXC_REQUIRE(!OnHost() && step.tasks > 0 && product.has_value(), place,
              "its attributes are no product of a device's kernel");
  const auto operands = tables_.Operands(step);
  MXC_REQUIRE(step.input_count >= 2 &&
                  operands.size() == uint64_t{step.input_count} + 1 &&
                  product->bias < static_cast<int64_t>(step.input_count),
              place, "a product of other operands than it has");
  const auto buffers = tables_.Buffers(entry);
  const auto holds = [&](size_t operand, uint64_t elements) {
    const mxc_buffer& buffer = buffers[operands[operand]];
    return static_cast<ElementType>(buffer.dtype) == ElementType::kF32 &&
           elements <= buffer.bytes / sizeof(float);
  };
  const MatrixProduct& p = *product;
  const bool inside =
      holds(0, ElementsOf(p.data, p.groups, p.rows, p.depth)) &&
      holds(1, ElementsOf(p.weight, p.groups, p.columns, p.depth)) &&
      holds(step.input_count, ElementsOf(p.out, p.groups, p.rows, p.columns)) &&
      (p.bias < 0 ||
       holds(static_cast<size_t>(p.bias), static_cast<uint64_t>(p.columns)));
  MXC_REQUIRE(inside, place, "a product that leaves its operands");
  return {};
}

}  // namespace mxc::runtime
