// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/damage.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

namespace mxc::fuzz {
namespace {

using Json = nlohmann::ordered_json;

size_t Pick(std::mt19937& random, size_t n) {
  return n == 0 ? 0 : random() % n;
}

void ChangeBytes(const Target& target, std::string& file,
                 std::mt19937& random) {
  const auto pick = [&](size_t n) { return Pick(random, n); };
  const size_t at = pick(file.size());
  switch (pick(6)) {
    case 0:
      file.resize(at);
      break;
    case 1:  // a stretch twice
      file.insert(at, file.substr(pick(file.size()), pick(64)));
      break;
    case 2:
      file.erase(at, 1 + pick(16));
      break;
    case 3:  // numbers that mean a lot
      for (size_t k = at; k < std::min(at + 4, file.size()); ++k) {
        file[k] = pick(2) == 0 ? '\xff' : '\0';
      }
      break;
    case 4:
      if (!target.words.empty()) {
        file.insert(at, target.words[pick(target.words.size())]);
      }
      break;
    default:
      if (!file.empty()) file[at] = static_cast<char>(random());
  }
}

// Every value below, the root aside.
void CollectValues(Json& value, std::vector<Json*>& values) {
  if (!value.is_structured()) return;
  for (Json& item : value) {
    values.push_back(&item);
    CollectValues(item, values);
  }
}

// Of the value's kind, mostly: others are refused before anything is done with
// them.
Json ExtremeValue(const Json& value, std::mt19937& random) {
  static const Json kNumbers = {0,          -1,         1,         2,
                                3,          7,          64,        0.5,
                                1e300,      2147483648, 1LL << 53, 1LL << 62,
                                4294967296, INT64_MAX,  INT64_MIN};
  static const Json kTexts = {"",
                              "0",
                              "-1",
                              "None",
                              "True",
                              "(0, 0)",
                              "(2,)",
                              "(3, 3)",
                              "()",
                              "relu",
                              "int32",
                              "$i",
                              "${i}",
                              "$1 / 0",
                              "float16",
                              "data",
                              "a:1",
                              "[0, 1]",
                              "(-1,)",
                              "1e300",
                              "$2147483648",
                              "axis",
                              "valid",
                              "sum",
                              "4611686018427387904",
                              "(1048576, 1048576, 1048576)"};
  static const Json kOthers = {true,
                               false,
                               nullptr,
                               Json::array(),
                               Json::object(),
                               {0, 0, 0},
                               {1, 1},
                               {"data"},
                               0,
                               "",
                               {2, 2, 2}};
  const Json& values = Pick(random, 10) == 0 ? kOthers
                       : value.is_number()   ? kNumbers
                       : value.is_string()   ? kTexts
                                             : kOthers;
  return values[Pick(random, values.size())];
}

// Members or items of one place: one less, one twice, two in each other's.
void ChangeWithin(Json& place, std::mt19937& random) {
  if (place.empty()) return;
  const auto any = [&] {
    auto at = place.begin();
    std::advance(at, Pick(random, place.size()));
    return at;
  };
  switch (Pick(random, 3)) {
    case 0:
      place.erase(any());
      break;
    case 1:
      if (place.is_array()) {
        const Json copy = *any();
        place.insert(any(), copy);
        break;
      }
      [[fallthrough]];
    default:
      std::swap(*any(), *any());
  }
}

void ChangeJson(Json& root, std::mt19937& random) {
  std::vector<Json*> values;
  CollectValues(root, values);
  if (values.empty()) return;
  Json& value = *values[Pick(random, values.size())];
  const Json& other = *values[Pick(random, values.size())];
  const size_t way = Pick(random, 4);
  if (value.is_structured()) {
    ChangeWithin(value, random);
  } else if (way == 0 && value.is_number_integer()) {
    value = value.get<int64_t>() / 2 + static_cast<int64_t>(random() % 5);
  } else if (way < 2 && other.type() == value.type()) {
    value = Json(other);
  } else {
    value = ExtremeValue(value, random);
  }
}

}  // namespace

std::string DamagedBytes(const Target& target, std::string file,
                         std::mt19937& random) {
  for (size_t changes = 1 + Pick(random, 3); changes > 0; --changes) {
    ChangeBytes(target, file, random);
  }
  if (target.seal != nullptr) {
    target.seal(std::as_writable_bytes(std::span(file)));
  }
  return file;
}

std::string DamagedJson(const std::string& text, std::mt19937& random) {
  Json root = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (root.is_discarded() || Pick(random, 12) == 0) {
    return DamagedBytes({}, text, random);
  }
  for (size_t changes = 1 + Pick(random, 2); changes > 0; --changes) {
    ChangeJson(root, random);
  }
  return root.dump(1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace mxc::fuzz
