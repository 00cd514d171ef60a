// SPDX-License-Identifier: Apache-2.0
// Attribute texts as MXNet reads them (dmlc::Parameter, nnvm::Tuple).
#include "ir/graph/fields.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace mxc {
namespace {

// Visits one field with a text; the error, or "" when it parsed.
class OneField : public Fields {
 public:
  explicit OneField(std::string text) : text_(std::move(text)) {}
  void Visit(Field& field) override {
    error = ParseField(field, text_).value_or("");
    if (error.empty()) printed = PrintField(field);
  }
  std::string error, printed;

 private:
  std::string text_;
};

template <class T, class... Setup>
std::string Parse(std::string text, T& value) {
  OneField visitor(std::move(text));
  visitor("x", value);
  return visitor.error;
}

TEST_CASE("integers") {
  int64_t n = 0;
  CHECK(Parse("3", n) == "");
  CHECK(n == 3);
  CHECK(Parse(" -7 ", n) == "");
  CHECK(n == -7);
  CHECK(Parse("3.0", n) == "x is '3.0', expected an integer");
  CHECK(Parse("3L", n) == "x is '3L', expected an integer");
  CHECK(Parse("four", n) == "x is 'four', expected an integer");
  CHECK(Parse("", n) != "");
  CHECK(Parse("99999999999999999999", n) != "");
}

TEST_CASE("numbers") {
  double x = 0;
  CHECK(Parse("1e-05", x) == "");
  CHECK(x == 1e-05);
  CHECK(Parse("-inf", x) == "");
  CHECK(x == -std::numeric_limits<double>::infinity());
  CHECK(Parse("nan", x) == "");
  CHECK(std::isnan(x));
  CHECK(Parse("0.9x", x) != "");
}

TEST_CASE("booleans") {
  bool b = false;
  for (const char* text : {"True", "true", "TRUE", "1"}) {
    CHECK(Parse(text, b) == "");
    CHECK(b);
  }
  for (const char* text : {"False", "false", "0"}) {
    CHECK(Parse(text, b) == "");
    CHECK_FALSE(b);
  }
  CHECK(Parse("yes", b) == "x is 'yes', expected True or False");
}

TEST_CASE("tuples") {
  Extents t;
  for (const char* text :
       {"(3, 5)", "[3,5]", "(3L, 5L)", "( 3 ,5, )", "(3,5]"}) {
    CHECK(Parse(text, t) == "");
    CHECK(t == Extents{3, 5});
  }
  CHECK(Parse("7", t) == "");
  CHECK(t == Extents{7});
  CHECK(Parse("(9,)", t) == "");
  CHECK(t == Extents{9});
  for (const char* text : {"()", "[]", "None"}) {
    CHECK(Parse(text, t) == "");
    CHECK(t.empty());
  }
  for (const char* text : {"(3,x)", "3,5", "(3", "", "(,)", "(1,,2)"}) {
    CHECK_MESSAGE(Parse(text, t) != "", text);
  }
}

TEST_CASE("optional values, and how all are printed") {
  std::optional<int64_t> axis = 4;
  CHECK(Parse("None", axis) == "");
  CHECK_FALSE(axis.has_value());
  CHECK(Parse("-1", axis) == "");
  CHECK(axis == -1);
  CHECK(Parse("z", axis) == "x is 'z', expected an integer or None");

  std::vector<std::optional<int64_t>> begin;
  CHECK(Parse("(0, None, -1)", begin) == "");
  CHECK(begin.size() == 3);
  CHECK_FALSE(begin[1].has_value());
  OneField print("(0, None, -1)");
  print("x", begin);
  CHECK(print.printed == "(0, None, -1)");

  Extents one;
  OneField single("(9,)");
  single("x", one);
  CHECK(single.printed == "(9,)");
}

TEST_CASE("bounds and names") {
  int64_t n = 0;
  OneField small("0");
  small("num_filter", n).Range(1, 100000);
  CHECK(small.error == "num_filter is 0, expected 1 to 100000");

  enum class Kind : int { kMax, kAvg };
  Kind kind = Kind::kMax;
  OneField name("avg");
  name("pool_type", kind).OneOf({"max", "avg"});
  CHECK(name.error == "");
  CHECK(kind == Kind::kAvg);
  OneField wrong("median");
  wrong("pool_type", kind).OneOf({"max", "avg"});
  CHECK(wrong.error == "pool_type is 'median', expected one of max, avg");

  DType dtype = DType::kUnknown;
  OneField type("float16");
  type("dtype", dtype);
  CHECK(dtype == DType::kF16);
}

}  // namespace
}  // namespace mxc
