// SPDX-License-Identifier: Apache-2.0
#include "ir/program/contraction_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "ir/program/names.h"
#include "ir/program/steps/contraction.h"

namespace mxc {
namespace {

std::string PrintRoles(const std::vector<Role>& roles) {
  std::vector<std::string_view> names;
  for (const Role role : roles) names.push_back(RoleName(role));
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

std::string ToString(const Contraction& c, std::string_view gap) {
  const auto list = [](const Extents& e) {
    return fmt::format("({})", fmt::join(e, ", "));
  };
  std::string out = fmt::format(
      "n={} g={} k={} m={} input={} output={} kernel={} stride={} dilate={} "
      "pad={}",
      c.batch, c.groups, c.in, c.out, list(c.input), list(c.output),
      list(c.kernel), list(c.stride), list(c.dilate), list(c.pad));
  if (std::ranges::any_of(c.data_dilate, [](int64_t n) { return n != 1; })) {
    out += fmt::format(" data_dilate={}", list(c.data_dilate));
  }
  if (c.flip) out += " flip";
  if (c.types != ContractionTypes()) {
    out += fmt::format(" types [{} {} {} {}]", ShortName(c.types.data),
                       ShortName(c.types.weight), ShortName(c.types.sum),
                       ShortName(c.types.output));
  }
  if (c.int4_group > 0) out += fmt::format(" int4={}", c.int4_group);
  return out + fmt::format("{}axes [{}] [{}] [{}]", gap,
                           PrintRoles(c.data_axes), PrintRoles(c.weight_axes),
                           PrintRoles(c.output_axes));
}

}  // namespace mxc
