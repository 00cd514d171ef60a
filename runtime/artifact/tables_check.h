// SPDX-License-Identifier: Apache-2.0
// Every rule of runtime/abi/FORMAT.md about the tables. For tables.cc alone.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "runtime/artifact/fields_check.h"
#include "runtime/artifact/tables.h"
#include "runtime/base/status.h"

namespace mxc::runtime {

// One check for each kind of row. `place` says where in the tables it stands.
class TablesCheck {
 public:
  TablesCheck(Tables& tables, uint64_t weight_bytes)
      : tables_(tables), weight_bytes_(weight_bytes) {}

  Status Header();
  Status Rows();

 private:
  Status Fields();
  template <class Row>
  Status FieldsOf(std::span<const Row> rows, std::span<const Field> fields,
                  const std::string& place,
                  const FieldsCheck::Sizes& sizes) const;
  Status OwnersOfRows() const;
  Status OwnersOfOperands() const;
  Status States();
  Status State(const mxc_state& state, const std::string& place);
  Status Preparation();
  Status Entry(const mxc_entry& entry, const std::string& place);
  Status Interface(const mxc_entry& entry, const std::string& place);
  Status Outputs(const mxc_entry& entry, const std::string& place);
  Status Carries(const mxc_entry& entry, const std::string& place);
  Status Buffer(const mxc_entry& entry, uint32_t index,
                const std::string& place);
  Status OpenAxes(const mxc_entry& entry, const std::string& place);
  Status Storage(const mxc_entry& entry, uint32_t index,
                 const std::string& place);
  std::pair<uint64_t, const char*> RegionOf(const mxc_entry& entry,
                                            const mxc_buffer& buffer) const;
  Status StateBuffer(const mxc_buffer& buffer, const std::string& place);
  Status Window(const mxc_entry& entry, const mxc_buffer& window,
                const std::string& place);
  Status Blocks(const mxc_entry& entry, const std::string& place);
  Status Step(const mxc_entry& entry, uint32_t row, const std::string& place);
  Status Kernel(const mxc_entry& entry, const mxc_step& step,
                const std::string& place);
  Status LibraryTask(const mxc_entry& entry, const mxc_step& step,
                     const std::string& place);
  Status Repeat(const mxc_entry& entry, const mxc_step& step,
                const std::string& place);
  Status Branch(const mxc_entry& entry, const mxc_step& step,
                const std::string& place);
  Status Call(const mxc_entry& entry, const mxc_step& step,
              const std::string& place);
  Status Collective(const mxc_entry& entry, const mxc_step& step,
                    const std::string& place);
  Status Copy(const mxc_entry& entry, const mxc_step& step,
              const std::string& place);
  Status Start(const mxc_entry& entry, uint32_t row, const std::string& place);
  Status Wait(const mxc_step& step, const std::string& place);
  Status Places(const mxc_entry& entry, const mxc_step& step,
                const std::string& place);
  Status Operands(const mxc_entry& entry, uint32_t row,
                  const std::string& place);
  // The window that a buffer is or is an alias of; null: none.
  const mxc_buffer* WindowOf(const mxc_entry& entry, uint32_t buffer) const;
  // Returns whether an operand holds one element.
  bool IsScalar(const mxc_entry& entry, const mxc_step& step, size_t k) const;
  // Returns whether kernels are the host's.
  bool OnHost() const { return tables_.header_->device.count == 0; }

  Tables& tables_;
  const uint64_t weight_bytes_;
  uint64_t string_bytes_ = 0;
  std::vector<uint32_t> waits_;  // by step of an entry: how many for it
};

// "entry 0, step 1: no such kernel"
#define MXC_REQUIRE(condition, place, what) \
  if (!(condition)) return Corrupt(place, what)

inline Status Corrupt(const std::string& place, const char* what) {
  return Fail(StatusCode::kCorrupt, "%s: %s", place.c_str(), what);
}

// Returns whether step `row` belongs to the body of the repeat at step `loop`.
inline bool InBody(std::span<const mxc_step> steps, uint32_t loop,
                   uint32_t row) {
  return loop < row && row - loop <= steps[loop].body;
}

// Bytes of the elements of a buffer or state, row-major without padding.
template <class Row>
std::optional<uint64_t> DenseBytes(const Row& row) {
  std::optional<uint64_t> bytes = ElementSize(row.dtype);
  for (int axis = 0; axis < row.rank && bytes; ++axis) {
    if (row.dims[axis] < 0) return std::nullopt;
    bytes = Multiply(*bytes, static_cast<uint64_t>(row.dims[axis]));
  }
  return bytes;
}

}  // namespace mxc::runtime
