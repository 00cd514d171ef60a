// SPDX-License-Identifier: Apache-2.0
#include "tools/lettered_shapes.h"

namespace mxc {
namespace {

// "1x3xL", in parts that are numbers or letters.
std::vector<std::string> ExtentsOf(const std::string& extents) {
  std::vector<std::string> parts = {""};
  for (const char c : extents) {
    if (c == 'x') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool IsLetter(const std::string& part) {
  return !part.empty() && part[0] >= 'A' && part[0] <= 'Z';
}

}  // namespace

std::vector<std::string> WithLengths(std::vector<std::string> shapes, bool open,
                                     const Lengths& lengths) {
  for (std::string& shape : shapes) {
    const size_t colon = shape.rfind(':');
    std::string extents;
    for (const std::string& part : ExtentsOf(shape.substr(colon + 1))) {
      const auto own = lengths.find(part);
      const bool known = open ? IsLetter(part) : part == "L";
      const int64_t length =
          own == lengths.end() ? lengths.begin()->second : own->second;
      extents += (extents.empty() ? "" : "x") +
                 (known ? std::to_string(length) : part);
    }
    shape = shape.substr(0, colon + 1) + extents;
  }
  return shapes;
}

OpenAxes AxesOfLengths(const std::vector<std::string>& shapes) {
  OpenAxes axes;
  for (const std::string& shape : shapes) {
    const size_t colon = shape.rfind(':');
    if (colon == shape.npos) continue;
    const auto parts = ExtentsOf(shape.substr(colon + 1));
    for (size_t axis = 0; axis < parts.size(); ++axis) {
      if (!IsLetter(parts[axis])) continue;
      axes[shape.substr(0, colon)][static_cast<int>(axis)] = parts[axis];
    }
  }
  return axes;
}

}  // namespace mxc
