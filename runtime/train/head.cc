// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/head.h"

#include <algorithm>
#include <iterator>
#include <sstream>

namespace mxc::train {
namespace {

// In the order of HeadKind.
constexpr std::string_view kKinds[] = {
    "classes", "distribution", "margins", "probabilities", "values", "loss"};

}  // namespace

std::string HeadText(const Head& head) {
  std::ostringstream text;
  text << kKinds[static_cast<size_t>(head.kind)] << ' ' << head.output << ' '
       << head.label << ' ' << head.axis << ' ' << head.classes;
  return text.str();
}

StatusOr<Head> ParseHead(std::string_view text) {
  std::istringstream words{std::string(text)};
  std::string kind;
  Head head;
  words >> kind >> head.output >> head.label >> head.axis >> head.classes;
  const auto found = std::ranges::find(kKinds, kind);
  if (!words || found == std::end(kKinds) || head.output < 0 ||
      head.label < -1 || head.axis < 0 || head.classes < 0) {
    return Fail(StatusCode::kInvalidArgument,
                "'%s' is no description of a loss head",
                std::string(text).c_str());
  }
  head.kind = static_cast<HeadKind>(found - std::begin(kKinds));
  return head;
}

}  // namespace mxc::train
