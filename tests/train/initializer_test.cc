// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/initializer.h"

#include <cmath>
#include <cstring>
#include <map>

#include "runtime/formats/ndarray_list.h"
#include "runtime/train/parameter_initializer.h"
#include "runtime/train/random.h"
#include "tests/train/cases.h"

namespace mxc::train {
namespace {

using Shape = std::vector<int64_t>;
using Floats = std::vector<float>;

Floats Room(const Shape& shape) {
  size_t count = 1;
  for (const int64_t extent : shape) count *= static_cast<size_t>(extent);
  return Floats(count, 9);
}

StatusOr<Floats> Draw(const std::string& how, const std::string& name,
                      const Shape& shape, uint64_t seed = 0) {
  const auto initializer = ParseInitializer(how);
  if (!initializer.ok()) return initializer.status();
  Floats values = Room(shape);
  MXC_RT_RETURN_IF_ERROR((*initializer)->Fill({name, shape, values, seed}));
  return values;
}

// By the rules on names.
StatusOr<Floats> DrawNamed(const std::string& how, const std::string& name,
                           const Shape& shape,
                           NameRules rules = NameRules::kAny,
                           const std::string& annotation = "") {
  const auto initializer = ParameterInitializer::Parse(how);
  if (!initializer.ok()) return initializer.status();
  Floats values = Room(shape);
  MXC_RT_RETURN_IF_ERROR(
      initializer->Fill({name, shape, values, 1}, annotation, rules));
  return values;
}

double Mean(const Floats& values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v);
  return sum / static_cast<double>(values.size());
}

double Deviation(const Floats& values) {
  double sum = 0;
  const double mean = Mean(values);
  for (const float v : values) {
    sum += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  }
  return std::sqrt(sum / static_cast<double>(values.size()));
}

double LargestMagnitude(const Floats& values) {
  double largest = 0;
  for (const float v : values) {
    largest = std::max(largest, std::abs(static_cast<double>(v)));
  }
  return largest;
}

std::map<std::string, Floats> ExpectedValues() {
  std::map<std::string, Floats> expected;
  const auto arrays = runtime::ReadNdarrayList(
      SharedFolder() + "/cases/mxnet-training/initializers.params");
  REQUIRE(arrays.ok());
  for (const runtime::NamedArray& named : *arrays) {
    const std::span<const std::byte> bytes = named.array.bytes();
    Floats values(bytes.size() / sizeof(float));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    expected[named.name] = std::move(values);
  }
  return expected;
}

// How a case's initializer is written for mxc.
std::string TextOf(const nlohmann::json& row) {
  std::string name = row["initializer"];
  for (char& c : name) c = static_cast<char>(std::tolower(c));
  if (name != "mixed") return Spelled(name, row.value("kwargs", "{}"_json));
  std::string text;
  for (size_t i = 0; i < row["kwargs"]["patterns"].size(); ++i) {
    const std::string how = row["kwargs"]["initializers"][i];
    text += row["kwargs"]["patterns"][i].get<std::string>() + "=>" +
            (how == "Constant(.5)" ? "constant:.5" : how) + ";";
  }
  return text;
}

NameRules RulesOf(const nlohmann::json& row) {
  return row.value("note", "").find("plain string") != std::string::npos
             ? NameRules::kString
             : NameRules::kModule;
}

void CheckExact(const nlohmann::json& row, const Floats& expected) {
  const std::string name = row.value("variable", "lstm_parameters");
  const std::string how = TextOf(row);
  if (row["initializer"] == "FusedRNN") {
    const auto values = DrawNamed("constant:.5", name, row["shape"],
                                  NameRules::kModule, row["dumps"]);
    REQUIRE(values.ok());
    CHECK(*values == expected);
    return;
  }
  const auto values = DrawNamed(how, name, row["shape"], RulesOf(row));
  REQUIRE_MESSAGE(values.ok(), values.status().message());
  if (how.starts_with("uniform") && name.ends_with("weight") &&
      RulesOf(row) == NameRules::kModule) {  // MXNet's were random, too
    CHECK(LargestMagnitude(*values) <= 0.1);
    CHECK(LargestMagnitude(*values) > 0);
  } else {
    CHECK(*values == expected);
  }
}

void CheckStatistics(const nlohmann::json& row) {
  const auto values = Draw(TextOf(row), "x_weight", row["shape"]);
  REQUIRE(values.ok());
  const double n = row["n"], deviation = row["std"];
  CHECK(Deviation(*values) == doctest::Approx(deviation).epsilon(0.03));
  CHECK(std::abs(Mean(*values)) < 4 * deviation / std::sqrt(n));
  const double largest =
      std::max(row["max"].get<double>(), -row["min"].get<double>());
  CHECK(LargestMagnitude(*values) ==
        doctest::Approx(largest).epsilon(
            TextOf(row).find("gauss") != std::string::npos ||
                    row["initializer"] == "Normal" ||
                    row["initializer"] == "MSRAPrelu"
                ? 0.35
                : 0.002));
}

// The largest deviation of the Gram matrix of the shorter axis.
double GramDeviation(const Floats& m, size_t rows, double scale) {
  const size_t columns = m.size() / rows;
  const bool wide = rows <= columns;
  const size_t count = wide ? rows : columns, length = wide ? columns : rows;
  const auto at = [&](size_t i, size_t k) {
    return static_cast<double>(wide ? m[i * columns + k] : m[k * columns + i]);
  };
  double worst = 0;
  for (size_t i = 0; i < count; ++i) {
    for (size_t j = 0; j < count; ++j) {
      double sum = i == j ? -scale * scale : 0;
      for (size_t k = 0; k < length; ++k) sum += at(i, k) * at(j, k);
      worst = std::max(worst, std::abs(sum));
    }
  }
  return worst;
}

TEST_CASE("initializer: MXNet's cases" * doctest::test_suite("shared")) {
  const auto rows = TrainingCases("initializers.jsonl");
  if (rows.empty()) return;
  const std::map<std::string, Floats> expected = ExpectedValues();
  for (const auto& row : rows) {
    CAPTURE(row.dump());
    if (row.contains("refused")) {
      CHECK_FALSE(
          DrawNamed("uniform:0.1", row["variable"], {6}, RulesOf(row)).ok());
    } else if (row.contains("exact")) {
      CheckExact(row, expected.at(row["case"]));
    } else if (row.contains("dumps")) {
      CHECK(ParseInitializer(row["dumps"].get<std::string>()).ok());
    } else if (row.contains("max_deviation_of_gram_from_scale2_identity")) {
      const auto values = Draw(TextOf(row), "x_weight", row["shape"]);
      REQUIRE(values.ok());
      CHECK(GramDeviation(*values, row["shape"][0],
                          row["kwargs"].value("scale", 1.414)) < 3e-7);
    } else {
      CheckStatistics(row);
    }
  }
}

TEST_CASE("initializer: bilinear is MXNet's kernel") {
  const auto values = *Draw("bilinear", "up_weight", {1, 1, 4, 4});
  CHECK(values[0] == 0.0625f);
  CHECK(values[1] == 0.1875f);
  CHECK(values[5] == 0.5625f);
  CHECK(values[15] == 0.0625f);
}

TEST_CASE("initializer: the seed and the name decide, nothing else") {
  const Shape shape{8, 8};
  for (const char* how : {"xavier", "normal", "orthogonal"}) {
    CHECK(*Draw(how, "a_weight", shape) == *Draw(how, "a_weight", shape));
    CHECK(*Draw(how, "a_weight", shape) != *Draw(how, "b_weight", shape));
    CHECK(*Draw(how, "a_weight", shape, 1) != *Draw(how, "a_weight", shape, 2));
  }
  // The first numbers of a longer array are those of a shorter one.
  const auto longer = *Draw("normal", "w", {9}),
             shorter = *Draw("normal", "w", {7});
  CHECK(Floats(longer.begin(), longer.begin() + 7) == shorter);
}

// Against the C library's functions.
TEST_CASE("initializer: normal numbers follow Box and Muller") {
  Floats values(4096);
  const RandomStream random(7, "w");
  random.FillNormal(1, values);
  for (size_t i = 0; i < values.size(); i += 2) {
    const auto bits = random.At(i / 4);
    const double u = (bits[i % 4] >> 8) * 0x1p-24;
    const double turn = (bits[i % 4 + 1] >> 8) * 0x1p-24;
    const double radius = std::sqrt(-2 * std::log1p(-u));
    CHECK(static_cast<double>(values[i]) ==
          doctest::Approx(radius * std::cos(2 * M_PI * turn)).epsilon(1e-7));
    CHECK(static_cast<double>(values[i + 1]) ==
          doctest::Approx(radius * std::sin(2 * M_PI * turn)).epsilon(1e-7));
  }
}

TEST_CASE("initializer: names choose, annotations win") {
  const auto first = [](const char* name, const std::string& annotation = "") {
    const auto values =
        DrawNamed("constant:7", name, {4}, NameRules::kAny, annotation);
    return values.ok() ? (*values)[0] : -1;
  };
  CHECK(first("c_weight") == 7);
  CHECK(first("c_bias") == 0);
  CHECK(first("bn_gamma") == 1);
  CHECK(first("bn_moving_var") == 1);
  CHECK(first("bn_running_mean") == 0);
  CHECK(first("whatever") == -1);
  CHECK(first("whatever", "ones") == 1);
  CHECK(first("c_weight", R"(["constant", {"value": 0.5}])") == 0.5f);
  CHECK(first("c_weight", R"(["Constant", {"value": [1.5, 2, 3, 4]}])") ==
        1.5f);
  CHECK(first("c_weight", R"(["Constant", {"value": [1.5, 2]}])") == -1);
  CHECK(first("c_weight",
              R"(["con\u0073tant", {"value": [[4], [2, 3, 1]]}])") == 4);
  for (const char* wrong :
       {R"(["constant", {"value": 1}, 2])", R"([1, {"value": 1}])",
        R"(["constant", {"value": {"a": 1}}])", R"(["constant", {"": 1}])",
        R"(["constant", {"value": 1})", R"(["constant", {"value": 01}])"}) {
    CAPTURE(wrong);
    CHECK(first("c_weight", wrong) == -1);
  }
  const std::string deep =
      std::string(100'000, '[') + std::string(100'000, ']');
  CHECK(first("c_weight", "[\"constant\", {\"value\": " + deep + "}]") == -1);
  CHECK(first("l_bias", R"(["lstmbias", {"forget_bias": 3.0}])") == 0);
}

TEST_CASE("initializer: patterns come before the rest, loaded arrays first") {
  const auto how = ".*_up_=>constant:2;b=>constant:3;constant:4";
  CHECK((*DrawNamed(how, "x_up_weight", {1}))[0] == 2);
  CHECK((*DrawNamed(how, "b_weight", {1}))[0] == 3);
  CHECK((*DrawNamed(how, "ab_weight", {1}))[0] == 4);  // not at its beginning
  CHECK_FALSE(DrawNamed("b=>zero", "a_weight", {1}).ok());

  auto initializer = ParameterInitializer::Parse("zero");
  auto array = runtime::Array::Allocate(runtime::ElementType::kF16, {2});
  const uint16_t halves[] = {0x3c00, 0xc100};
  std::memcpy(array->bytes().data(), halves, sizeof halves);
  initializer->Load({{"arg:w_weight", *array}});
  Floats values = Room({2});
  CHECK(initializer->Fill({"w_weight", {2}, values}, "ones").ok());
  CHECK(values == Floats{1, -2.5f});
  CHECK_FALSE(initializer->Fill({"w_weight", {1, 2}, values}, "").ok());
}

TEST_CASE("initializer: refusals") {
  const auto message = [](const std::string& text) {
    const auto initializer = ParseInitializer(text);
    return initializer.ok() ? std::string() : initializer.status().message();
  };
  CHECK(message("xavyer").starts_with(
      "initializer 'xavyer' is unknown; nearest: xavier; "
      "expected one of xavier, msra"));
  CHECK(
      message("gaussian")
          .starts_with("initializer 'gaussian' is unknown; expected one of "));
  CHECK(message("zero:1") == "initializer 'zero' has no argument '1'");
  CHECK(message("xavier:3,gauss") ==
        "initializer 'xavier' has an illegal argument 'gauss'");
  CHECK(message("uniform:x") ==
        "initializer 'uniform' has an illegal argument 'x'");
  CHECK(message(R"(["xavier", {"magnitude": "x"}])") ==
        "initializer 'xavier': 'magnitude' is 'x', but must be a number");
  for (const char* text :
       {"constant", "xavier:-1", "fusedrnn", R"(["zero")", R"(["zero", {])",
        R"(["zero", {"a": }])", R"(["constant", {"value": [1})", "[", "[]",
        R"(["\u0041"])", R"(["zero", {}] x)"}) {
    CAPTURE(text);
    CHECK_FALSE(message(text).empty());
  }
  CHECK_FALSE(Draw("xavier", "w", {5}).ok());
  CHECK_FALSE(Draw("bilinear", "w", {5}).ok());
  CHECK_FALSE(ParameterInitializer::Parse("(=>zero").ok());
  CHECK_FALSE(ParameterInitializer::Parse("zero;one").ok());
  CHECK_FALSE(ParameterInitializer::Parse("load:/no/such/file").ok());
  const auto fused = ParseInitializer(
      "fusedrnn:num_hidden=3:num_layers=2:mode=lstm:init=zero");
  for (const int64_t size : {0, 1, 24, 23, 1 << 20}) {
    Floats values = Room({size});
    CHECK_FALSE((*fused)->Fill({"p", {size}, values}).ok());
  }
}

}  // namespace
}  // namespace mxc::train
