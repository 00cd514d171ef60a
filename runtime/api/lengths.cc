// SPDX-License-Identifier: Apache-2.0
// Functions of mxc.h that say which lengths a model leaves open.
#include <algorithm>

#include "runtime/api/rows.h"

using mxc::runtime::FindLengths;
using mxc::runtime::Guarded;
using mxc::runtime::Missing;
using mxc::runtime::NeededArray;
using mxc::runtime::Status;
using mxc::runtime::StatusOr;
using mxc::runtime::Tables;
using mxc::runtime::WithRow;

mxc_status* mxc_model_find_length(const mxc_model* model, const char* name,
                                  int64_t batch, int64_t length,
                                  size_t* entry) {
  return mxc_model_find_lengths(model, name, batch, &length, 1, entry);
}

mxc_status* mxc_model_find_lengths(const mxc_model* model, const char* name,
                                   int64_t batch, const int64_t* lengths,
                                   size_t count, size_t* entry) {
  return Guarded({{model, "model"},
                  {entry, "entry"},
                  NeededArray(lengths, count, "lengths")},
                 [&]() -> Status {
                   const StatusOr<size_t> found = FindLengths(
                       model->model->tables(), name, batch, {lengths, count});
                   if (found.ok()) *entry = *found;
                   return found.status();
                 });
}

size_t mxc_model_length_count(const mxc_model* model, size_t entry) {
  if (model == nullptr) return 0;
  const Tables& tables = model->model->tables();
  if (entry >= tables.entries().size()) return 0;
  return tables.Lengths(tables.entries()[entry]).size();
}

mxc_status* mxc_model_length(const mxc_model* model, size_t entry, size_t index,
                             mxc_length* length) {
  return Guarded({{model, "model"}, {length, "length"}}, [&]() -> Status {
    const size_t count = mxc_model_length_count(model, entry);
    if (index >= count) return Missing("length", index, count);
    const Tables& tables = model->model->tables();
    const auto found = tables.Lengths(tables.entries()[entry])[index];
    *length = {.name = found.name, .most = found.most};
    return {};
  });
}

namespace {

// The open axes of a buffer, as mxc_model_input_lengths has them.
void Number(const Tables& tables, const mxc_buffer& buffer, int* lengths) {
  std::fill_n(lengths, MXC_AXES, -1);
  for (const auto& open : tables.OpenAxes(buffer)) {
    lengths[open.axis] = static_cast<int>(open.length);
  }
}

int FirstOpenAxis(const Tables& tables, const mxc_buffer& buffer) {
  const auto open = tables.OpenAxes(buffer);
  return open.empty() ? -1 : open.front().axis;
}

}  // namespace

mxc_status* mxc_model_input_lengths(const mxc_model* model, size_t entry,
                                    size_t index, int* lengths) {
  return WithRow(model, entry, index, "input", {lengths, "lengths"},
                 &Tables::Inputs,
                 [&](const Tables& tables, auto buffers, uint32_t buffer) {
                   Number(tables, buffers[buffer], lengths);
                 });
}

mxc_status* mxc_model_output_lengths(const mxc_model* model, size_t entry,
                                     size_t index, int* lengths) {
  return WithRow(model, entry, index, "output", {lengths, "lengths"},
                 &Tables::Outputs,
                 [&](const Tables& tables, auto buffers, uint32_t buffer) {
                   Number(tables, buffers[buffer], lengths);
                 });
}

mxc_status* mxc_model_input_axis(const mxc_model* model, size_t entry,
                                 size_t index, int* axis) {
  return WithRow(model, entry, index, "input", {axis, "axis"}, &Tables::Inputs,
                 [&](const Tables& tables, auto buffers, uint32_t buffer) {
                   *axis = FirstOpenAxis(tables, buffers[buffer]);
                 });
}

mxc_status* mxc_model_output_axis(const mxc_model* model, size_t entry,
                                  size_t index, int* axis) {
  return WithRow(model, entry, index, "output", {axis, "axis"},
                 &Tables::Outputs,
                 [&](const Tables& tables, auto buffers, uint32_t buffer) {
                   *axis = FirstOpenAxis(tables, buffers[buffer]);
                 });
}
