// SPDX-License-Identifier: Apache-2.0
#include "codegen/artifact/c_names.h"

#include <doctest/doctest.h>

namespace mxc {
namespace {

TEST_CASE("names of a network become C identifiers, each its own") {
  CHECK(Identifier("resnet-50") == "resnet_50");
  CHECK(Identifier("1x1") == "_1x1");
  CHECK(Identifier("") == "_");
  ParameterNames names({"weights"});
  CHECK(names.Take("x") == "x");
  CHECK(names.Take("x") == "x_2");
  CHECK(names.Take("x_2") == "x_2_2");
  CHECK(names.Take("weights") == "weights_2");
  CHECK(names.Take("int") == "int_");
  CHECK(names.Take("class") == "class_");
  CHECK(names.Take("int") == "int_2");
}

}  // namespace
}  // namespace mxc
