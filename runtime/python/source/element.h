// SPDX-License-Identifier: Apache-2.0
// Element types of DLPack by MXNet's flags, which mxc_dtype has, too.
#pragma once

#include <nanobind/ndarray.h>

namespace mxc::python {

// -1 where there is none.
inline int TypeFlag(nanobind::dlpack::dtype type) {
  using nanobind::dlpack::dtype_code;
  constexpr struct {
    dtype_code code;
    int bits, flag;
  } kFlags[] = {{dtype_code::Float, 32, 0},  {dtype_code::Float, 64, 1},
                {dtype_code::Float, 16, 2},  {dtype_code::UInt, 8, 3},
                {dtype_code::Int, 32, 4},    {dtype_code::Int, 8, 5},
                {dtype_code::Int, 64, 6},    {dtype_code::Bool, 8, 7},
                {dtype_code::Int, 16, 8},    {dtype_code::UInt, 16, 9},
                {dtype_code::UInt, 32, 10},  {dtype_code::UInt, 64, 11},
                {dtype_code::Bfloat, 16, 12}};
  for (const auto& row : kFlags) {
    if (type.code == static_cast<uint8_t>(row.code) && type.bits == row.bits &&
        type.lanes == 1) {
      return row.flag;
    }
  }
  return -1;
}

}  // namespace mxc::python
