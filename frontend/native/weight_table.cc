// SPDX-License-Identifier: Apache-2.0
#include "frontend/native/weight_table.h"

#include <algorithm>

#include "frontend/native/constants.h"
#include "frontend/native/expression.h"
#include "frontend/native/name_pattern.h"
#include "ir/support/nearest.h"

namespace mxc {
namespace {

using Kind = JsonValue::Kind;

class TableReader : JsonDiagnostics {
 public:
  TableReader(const JsonDocument& document, Diagnostics& errors)
      : JsonDiagnostics(document, errors) {
    EvaluateConstants(document, budget_, constants_, *this);
  }

  std::vector<WeightTable> Read(const JsonValue& weights) {
    std::vector<WeightTable> tables;
    if (!Expect(weights, Kind::kArray, "'weights'")) return tables;
    for (const JsonValue& table : weights.items) {
      if (!Expect(table, Kind::kObject, "a table of weights")) continue;
      if (++rows_ > kMostRows) return tables;
      tables.push_back(ReadTable(table));
    }
    return tables;
  }

 private:
  WeightTable ReadTable(const JsonValue& object) {
    WeightTable table;
    prefix_.clear();
    CheckKeys(object, {"prefix", "names", "//"});
    if (const JsonValue* prefix = object.Find("prefix");
        prefix != nullptr && Expect(*prefix, Kind::kString, "'prefix'")) {
      prefix_ = prefix->string;
    }
    const JsonValue* names = object.Find("names");
    if (names == nullptr) {
      Fail(object, "key 'names' is missing");
    } else if (Expect(*names, Kind::kObject, "'names'")) {
      rows_ += names->members.size();
      if (rows_ > kMostRows) {
        Fail(*names, "{} rows of weights, expected at most {}", rows_,
             kMostRows);
        return table;
      }
      for (const JsonMember& member : names->members) {
        table.push_back(ReadRow(*names, member));
      }
    }
    return table;
  }

  WeightRow ReadRow(const JsonValue& names, const JsonMember& member) {
    WeightRow row;
    row.pattern = member.key;
    row.loc = document_.LocateKey(names, member);
    const Scope variables = VariablesOf(row);
    const JsonValue& value = member.value;
    if (value.Is(Kind::kString)) {
      AddSource(value, variables, row);
    } else if (Expect(value, Kind::kObject, "the weights' name")) {
      ReadMaking(value, variables, row);
    }
    return row;
  }

  void ReadMaking(const JsonValue& value, const Scope& variables,
                  WeightRow& row) {
    CheckKeys(value, {"from", "transpose", "rows", "//"});
    const JsonValue* from = value.Find("from");
    if (from == nullptr) {
      Fail(value, "key 'from' is missing");
    } else if (from->Is(Kind::kArray)) {
      for (const JsonValue& source : from->items) {
        AddSource(source, variables, row);
      }
    } else {
      AddSource(*from, variables, row);
    }
    if (const JsonValue* transpose = value.Find("transpose");
        transpose != nullptr &&
        Expect(*transpose, Kind::kBool, "'transpose'")) {
      row.transpose = transpose->boolean;
    }
    if (const JsonValue* rows = value.Find("rows"); rows != nullptr) {
      row.rows = ReadRows(*rows);
    }
  }

  // [first, one behind the last], numbers or expressions.
  std::optional<std::pair<int64_t, int64_t>> ReadRows(const JsonValue& rows) {
    const Evaluated value = Substitute(rows, constants_, budget_);
    const auto& items = value.value.items;
    if (value.error.empty() && items.size() == 2 &&
        items[0].Is(Kind::kInteger) && items[1].Is(Kind::kInteger) &&
        items[0].integer >= 0 && items[0].integer < items[1].integer) {
      return std::pair(items[0].integer, items[1].integer);
    }
    Fail(rows, "'rows' is {}, expected a row and a later one, such as [0, 8]",
         value.error.empty() ? document_.Text(rows).substr(0, 40)
                             : std::string_view(value.error));
    return std::nullopt;
  }

  // The pattern's variables, each 1, by which names are tried.
  Scope VariablesOf(const WeightRow& row) {
    Scope scope;
    const std::string& pattern = row.pattern;
    if (pattern.find('*') < pattern.size() - 1) {
      Fail(row.loc, "'*' stands inside of '{}', expected at its end", pattern);
    }
    for (size_t at = pattern.find("${"); at != std::string::npos;
         at = pattern.find("${", at)) {
      const size_t end = pattern.find('}', at);
      const std::string name = pattern.substr(at + 2, end - at - 2);
      if (end == std::string::npos || name.empty()) {
        Fail(row.loc, "'{}' has a '${{' without a name and its '}}'", pattern);
        break;
      }
      scope.values[name] = IntegerValue(1);
      at = end;
    }
    return scope;
  }

  void AddSource(const JsonValue& value, const Scope& variables,
                 WeightRow& row) {
    if (!Expect(value, Kind::kString, "the weights' name")) return;
    std::vector<std::string> names = Alternatives(prefix_ + value.string);
    if (names.empty() || row.from.size() == kMostSources) {
      Fail(value, "the weights' name stands for too many");
      return;
    }
    for (const std::string& name : names) {
      const Evaluated one = Substitute(StringValue(name), variables, budget_);
      if (!one.error.empty()) Fail(value, "{}", one.error);
    }
    row.from.push_back(std::move(names));
  }

  void CheckKeys(const JsonValue& object,
                 std::initializer_list<std::string_view> known) {
    for (const JsonMember& member : object.members) {
      if (std::ranges::count(known, member.key) > 0) continue;
      Fail(document_.LocateKey(object, member), "key '{}' is unknown{}",
           member.key,
           NearestNote(
               Nearest(member.key, std::span(known.begin(), known.size()))));
    }
  }

  static constexpr size_t kMostRows = 1000;   // of all tables
  static constexpr size_t kMostSources = 64;  // of a row

  Budget budget_;
  Scope constants_;
  std::string prefix_;  // of the table that is read
  size_t rows_ = 0;     // and tables
};

}  // namespace

std::vector<WeightTable> ReadWeightTables(const JsonDocument& document,
                                          const JsonValue& weights,
                                          Diagnostics& errors) {
  return TableReader(document, errors).Read(weights);
}

}  // namespace mxc
