// SPDX-License-Identifier: Apache-2.0
#include "runtime/abi/convolution.h"
#include "runtime/abi/matrix_product.h"
#include "runtime/artifact/tables_check.h"
#include "runtime/base/element.h"

namespace mxc::runtime {

// What a library is told of a kernel stays inside of its operands.
Status TablesCheck::LibraryTask(const mxc_entry& entry, const mxc_step& step,
                                const std::string& place) {
  if (step.attributes.count == 0) return {};
  const char* text = tables_.Text(step.attributes);
  const auto product = ReadMatrixProduct(text);
  const auto convolution = ReadConvolution(text);
  MXC_REQUIRE(!OnHost() && step.tasks > 0 && (product || convolution), place,
              "its attributes are no task of a device's library");
  const auto operands = tables_.Operands(step);
  const int64_t bias = product ? product->bias : convolution->bias;
  MXC_REQUIRE(step.input_count >= 2 &&
                  operands.size() == uint64_t{step.input_count} + 1 &&
                  bias < static_cast<int64_t>(step.input_count),
              place, "a task of other operands than it has");
  const auto buffers = tables_.Buffers(entry);
  const auto holds = [&](size_t operand, int64_t dtype, uint64_t elements) {
    const mxc_buffer& buffer = buffers[operands[operand]];
    return buffer.dtype == dtype &&
           elements <= buffer.bytes / static_cast<uint64_t>(ElementBytes(
                                          static_cast<ElementType>(dtype)));
  };
  constexpr auto kF32 = static_cast<int64_t>(ElementType::kF32);
  const size_t out = step.input_count;
  bool inside = true;
  if (product) {
    const MatrixProduct& p = *product;
    inside =
        holds(0, kF32, ElementsOf(p.data, p.groups, p.rows, p.depth)) &&
        holds(1, kF32, ElementsOf(p.weight, p.groups, p.columns, p.depth)) &&
        holds(out, kF32, ElementsOf(p.out, p.groups, p.rows, p.columns));
  } else {
    const auto tensors = convolution->Operands();
    for (const size_t i : {0, 1, 2}) {
      inside = inside && holds(i < 2 ? i : out, tensors[i]->dtype,
                               ElementsOf(*convolution, *tensors[i]));
    }
  }
  if (bias > 0) {
    const int64_t count = product ? product->columns : convolution->out;
    inside = inside && holds(static_cast<size_t>(bias), kF32,
                             static_cast<uint64_t>(count));
  }
  MXC_REQUIRE(inside, place, "a task that leaves its operands");
  return {};
}

}  // namespace mxc::runtime
