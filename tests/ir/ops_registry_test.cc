// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <set>

#include "ir/ops/op.h"
#include "ir/support/nearest.h"

namespace mxc {
namespace {

struct Sample {
  int64_t count = 0;
  Extents kernel;
  bool flag = false;
  void Describe(Fields& f) {
    f("count", count).Required().Range(1, 8);
    f("kernel", kernel);
    f("flag", flag);
  }
};

std::vector<AttrError> ParseSample(std::vector<AttrText> texts, Sample& out) {
  std::vector<AttrError> errors;
  auto attrs = std::make_shared<Sample>();
  ParseAttrs(
      attrs, [&](Fields& f) { attrs->Describe(f); }, texts, false, errors);
  out = *attrs;
  return errors;
}

TEST_CASE("an operator is found by its name and by every alias") {
  REQUIRE(FindOperator("SoftmaxOutput") != nullptr);
  CHECK(FindOperator("Softmax") == FindOperator("SoftmaxOutput"));
  CHECK(FindOperator("softmaxoutput") == nullptr);
  CHECK(FindOperator("") == nullptr);
}

TEST_CASE("every operator says what it is and can print its attributes") {
  for (const Operator* op : AllOperators()) {
    CAPTURE(op->name);
    CHECK(!op->doc.empty());
    CHECK(op->visible_outputs);
    CHECK(op->types);
    CHECK(FindOperator(op->name) == op);
  }
}

TEST_CASE("a misspelt operator is answered with the nearest name") {
  CHECK(NearestOperator("Convolutoin") == "Convolution");
  CHECK(NearestOperator("convolution") == "Convolution");
  CHECK(NearestOperator("QConvolution") == "Convolution");
  CHECK(NearestOperator("CompletelyDifferentThing") == "");
  CHECK(NearestOperator("") == "");
  for (const char* theirs : {"Dense", "Linear"}) {
    CHECK(NearestOperator(theirs) == "FullyConnected");
  }
  CHECK(NearestOperator("Conv2d") == "Convolution");
}

TEST_CASE("nearest prefers another case to another letter") {
  const std::vector<std::string_view> names = {"pool", "Fool"};
  CHECK(Nearest("Pool", names) == "pool");
  CHECK(Nearest("Foll", names) == "Fool");
}

TEST_CASE("attributes are parsed by name, annotations are passed over") {
  Sample sample;
  CHECK(ParseSample({{"kernel", "(3L, 3L)"},
                     {"count", "2"},
                     {"flag", "true"},
                     {"__lr_mult__", "2"}},
                    sample)
            .empty());
  CHECK(sample.count == 2);
  CHECK(sample.kernel == Extents{3, 3});
  CHECK(sample.flag);
}

TEST_CASE("every wrong attribute is reported, each under its name") {
  Sample sample;
  const auto errors = ParseSample(
      {{"kernel", "(3,x)"}, {"flag", "yes"}, {"kernal", "(1,)"}}, sample);
  REQUIRE(errors.size() == 4);
  CHECK(errors[0].name == "kernel");
  CHECK(errors[1].name == "flag");
  CHECK(errors[2].message == "attribute 'kernal' is unknown; nearest: kernel");
  CHECK(errors[3].name == "");
  CHECK(errors[3].message == "attribute 'count' is missing");
}

TEST_CASE("an attribute that is there, but misspelt, is one mistake") {
  Sample sample;
  const auto errors =
      ParseSample({{"kernel", "(3, 3)"}, {"cuont", "2"}}, sample);
  REQUIRE(errors.size() == 1);
  CHECK(errors[0].message == "attribute 'cuont' is unknown; nearest: count");
}

TEST_CASE("MXNet's other names of an operator are found") {
  const auto same = [](const char* one, const char* other) {
    const Operator* op = FindPublicOperator(one);
    return op != nullptr && op == FindPublicOperator(other);
  };
  CHECK(same("_sparse_dot", "dot"));
  CHECK(same("_sparse_ElementWiseSum", "add_n"));
  CHECK(same("_npi_clip", "clip"));
  CHECK(same("_npi_split", "_split_v2"));
  CHECK(same("_np_sometrue", "_np_any"));
  CHECK(same("_npx_gammaln", "gammaln"));
  CHECK(same("_scatter_plus_scalar", "_plus_scalar"));
  CHECK(same("_CrossDeviceCopy", "_copy"));
  CHECK(FindPublicOperator("_sparse_nothing") == nullptr);
  CHECK(FindPublicOperator("_sparse__scatter_add") == nullptr);  // internal
}

TEST_CASE("printing attributes and parsing them again changes nothing") {
  const Operator* op = FindOperator("Convolution");
  std::vector<AttrError> errors;
  const std::vector<AttrText> given = {
      {"kernel", "[3,3]"}, {"num_filter", "8"}, {"no_bias", "1"}};
  const auto once = op->print(op->parse(given, errors).get());
  const auto twice = op->print(op->parse(once, errors).get());
  CHECK(errors.empty());
  CHECK(once == twice);
  CHECK(once[0].second == "(3, 3)");
}

}  // namespace
}  // namespace mxc
