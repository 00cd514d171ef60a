// SPDX-License-Identifier: Apache-2.0
// The tables that rows of all others point into: strings and operands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/program/program.h"
#include "runtime/abi/abi.h"

namespace mxc {

template <class List>
uint32_t RowCount(const List& list) {
  return static_cast<uint32_t>(list.size());
}

inline uint8_t PlaceInTables(const Program& program, Place place) {
  switch (program.places[static_cast<size_t>(place)].kind) {
    case PlaceKind::kHost:
      return MXC_PLACE_HOST;
    case PlaceKind::kDevice:
      break;
  }
  return MXC_PLACE_DEVICE;
}

struct TableLists {
  std::string strings;
  std::vector<uint32_t> operands;

  mxc_string Text(const std::string& text) {
    const mxc_string at = {RowCount(strings), RowCount(text)};
    strings += text + '\0';
    return at;
  }

  mxc_range Operands(const std::vector<int>& buffers) {
    const mxc_range range = {RowCount(operands), RowCount(buffers)};
    operands.insert(operands.end(), buffers.begin(), buffers.end());
    return range;
  }
};

}  // namespace mxc
