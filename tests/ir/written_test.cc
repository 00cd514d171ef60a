// SPDX-License-Identifier: Apache-2.0
// What a file says of a node beyond the graph.
#include "ir/graph/written.h"

#include <doctest/doctest.h>

namespace mxc {
namespace {

TEST_CASE("written: attributes are changed in their place, or added") {
  WrittenNode node;
  node.attributes = {{"kernel", "(3, 3)"}, {"num_filter", "8"}};
  node.SetAttribute("kernel", "(5, 5)");
  node.SetAttribute("pad", "(2, 2)");
  CHECK(node.attributes == std::vector<AttrText>{{"kernel", "(5, 5)"},
                                                 {"num_filter", "8"},
                                                 {"pad", "(2, 2)"}});
  REQUIRE(node.Attribute("num_filter") != nullptr);
  CHECK(*node.Attribute("num_filter") == "8");
  CHECK(node.Attribute("stride") == nullptr);
}

TEST_CASE("written: an empty annotation is none") {
  WrittenNode node;
  node.Annotate("__lr_mult__", "0.5");
  REQUIRE(node.Annotation("__lr_mult__") != nullptr);
  CHECK(*node.Annotation("__lr_mult__") == "0.5");
  node.Annotate("__lr_mult__", "");
  CHECK(node.Annotation("__lr_mult__") == nullptr);
  CHECK(node.annotations.empty());
}

}  // namespace
}  // namespace mxc
