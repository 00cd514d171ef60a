// SPDX-License-Identifier: Apache-2.0
#include "frontend/native/weight_names.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>
#include <unordered_map>

#include "frontend/native/constants.h"
#include "ir/support/nearest.h"
#include "runtime/formats/convert.h"

namespace mxc {
namespace {

using Kind = JsonValue::Kind;
using runtime::Array;
using runtime::NamedArray;

// What a pattern's variables stand for in one name.
struct Captured {
  Scope scope;
  std::string rest;  // what * stands for
};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Takes a number from the front of `name`; what a node counts has few digits.
std::optional<int64_t> TakeNumber(std::string_view& name) {
  constexpr size_t kMostDigits = 9;
  size_t digits = 0;
  int64_t value = 0;
  while (digits < name.size() && IsDigit(name[digits])) {
    if (digits == kMostDigits) return std::nullopt;
    value = 10 * value + (name[digits++] - '0');
  }
  if (digits == 0) return std::nullopt;
  name.remove_prefix(digits);
  return value;
}

std::optional<Captured> Match(std::string_view pattern, std::string_view name) {
  Captured captured;
  while (!pattern.empty()) {
    if (pattern == "*") {
      captured.rest = name;
      return captured;
    }
    if (pattern.starts_with("${")) {
      const size_t end = pattern.find('}');
      const auto number = TakeNumber(name);
      if (!number) return std::nullopt;
      captured.scope.values[std::string(pattern.substr(2, end - 2))] =
          IntegerValue(*number);
      pattern.remove_prefix(end + 1);
      continue;
    }
    if (name.empty() || name[0] != pattern[0]) return std::nullopt;
    name.remove_prefix(1);
    pattern.remove_prefix(1);
  }
  if (!name.empty()) return std::nullopt;
  return captured;
}

// Where the braces that open at `begin` close; those of ${…} within do not count.
size_t EndOfBraces(std::string_view text, size_t begin) {
  for (size_t at = begin + 1; at < text.size(); ++at) {
    if (text[at] == '}') return at;
    if (text[at] == '$') at = std::min(text.find('}', at), text.size());
  }
  return std::string_view::npos;
}

// "{,bert.}x.{weight,gamma}" stands for x.weight, x.gamma, bert.x.weight and
// bert.x.gamma. False once there are too many.
bool Alternatives(const std::string& text, std::vector<std::string>& all) {
  constexpr size_t kMost = 64;
  size_t begin = text.find('{');
  while (begin != std::string::npos && begin > 0 && text[begin - 1] == '$') {
    begin = text.find('{', begin + 1);
  }
  const size_t end =
      begin == std::string::npos ? begin : EndOfBraces(text, begin);
  if (end == std::string::npos) {
    all.push_back(text);
    return all.size() <= kMost;
  }
  for (size_t at = begin + 1; at <= end;) {
    const size_t comma = std::min(text.find(',', at), end);
    if (!Alternatives(text.substr(0, begin) + text.substr(at, comma - at) +
                          text.substr(end + 1),
                      all)) {
      return false;
    }
    at = comma + 1;
  }
  return true;
}

// A name in the file, of a template; an error of its expressions is empty text.
std::string NameOf(const std::string& form, const Captured& captured) {
  Budget budget;
  const Evaluated text = Substitute(StringValue(form), captured.scope, budget);
  if (!text.error.empty()) return "";
  std::string name = text.value.string;
  if (name.ends_with('*')) name.replace(name.size() - 1, 1, captured.rest);
  return name;
}

class TableReader : JsonDiagnostics {
 public:
  TableReader(const JsonDocument& document, Diagnostics& errors)
      : JsonDiagnostics(document, errors) {
    EvaluateConstants(document, budget_, constants_, *this);
  }

  std::vector<WeightNames::Table> Read(const JsonValue& weights) {
    std::vector<WeightNames::Table> tables;
    if (!Expect(weights, Kind::kArray, "'weights'")) return tables;
    for (const JsonValue& table : weights.items) {
      if (Expect(table, Kind::kObject, "a table of weights")) {
        tables.push_back(ReadTable(table));
      }
    }
    return tables;
  }

 private:
  WeightNames::Table ReadTable(const JsonValue& object) {
    WeightNames::Table table;
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
        table.rows.push_back(ReadRow(*names, member));
      }
    }
    return table;
  }

  WeightNames::Row ReadRow(const JsonValue& names, const JsonMember& member) {
    WeightNames::Row row;
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
                  WeightNames::Row& row) {
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
  Scope VariablesOf(const WeightNames::Row& row) {
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
                 WeightNames::Row& row) {
    if (!Expect(value, Kind::kString, "the weights' name")) return;
    std::vector<std::string> names;
    if (!Alternatives(prefix_ + value.string, names) ||
        row.from.size() == kMostSources) {
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
  size_t rows_ = 0;
};

// Transposes in squares, so that both sides are read by whole lines.
template <class T>
void TransposeInto(const T* from, int64_t rows, int64_t columns, T* to) {
  constexpr int64_t kSide = 32;
  for (int64_t r0 = 0; r0 < rows; r0 += kSide) {
    for (int64_t c0 = 0; c0 < columns; c0 += kSide) {
      for (int64_t r = r0; r < std::min(r0 + kSide, rows); ++r) {
        for (int64_t c = c0; c < std::min(c0 + kSide, columns); ++c) {
          to[c * rows + r] = from[r * columns + c];
        }
      }
    }
  }
}

// Makes a parameter of the arrays that its row names.
class Maker {
 public:
  Maker(const WeightNames::Row& row, const std::string& file)
      : row_(row), file_(file) {}

  Result<Array> Make(const std::vector<const NamedArray*>& from) const {
    std::vector<Array> parts;
    for (const NamedArray* named : from) {
      MXC_ASSIGN(Array part, Widened(named->array));
      if (row_.transpose) {
        MXC_ASSIGN(part, Transposed(named->name, part));
      }
      parts.push_back(std::move(part));
    }
    MXC_ASSIGN(Array whole, Joined(from, parts));
    return row_.rows ? Cut(from[0]->name, whole) : whole;
  }

 private:
  Diagnostic Wrong(const std::string& name, const Array& array,
                   const std::string& expected) const {
    return Error(row_.loc, "{}: '{}' has shape {}, expected {}", file_, name,
                 ToString(Shape(array.shape)), expected);
  }

  static Result<Array> New(runtime::ElementType type,
                           std::vector<int64_t> shape) {
    auto array = Array::Allocate(type, std::move(shape));
    if (!array.ok()) return Error({}, "{}", array.status().message());
    return std::move(*array);
  }

  // All that an operator multiplies is float32 here.
  static Result<Array> Widened(const Array& array) {
    if (array.type != runtime::ElementType::kF16 &&
        array.type != runtime::ElementType::kBF16) {
      return array;
    }
    MXC_ASSIGN(Array wide, New(runtime::ElementType::kF32, array.shape));
    runtime::ConvertElements(array.type, array.bytes(), wide.type,
                             wide.bytes());
    return wide;
  }

  Result<Array> Transposed(const std::string& name, const Array& array) const {
    if (array.shape.size() != 2) {
      return Wrong(name, array, "a matrix, which is transposed");
    }
    if (array.type != runtime::ElementType::kF32) {
      return Error(row_.loc, "{}: '{}' is transposed, expected floats", file_,
                   name);
    }
    const int64_t rows = array.shape[0], columns = array.shape[1];
    MXC_ASSIGN(Array out, New(array.type, {columns, rows}));
    TransposeInto(reinterpret_cast<const float*>(array.bytes().data()), rows,
                  columns, reinterpret_cast<float*>(out.bytes().data()));
    return out;
  }

  Result<Array> Joined(const std::vector<const NamedArray*>& from,
                       const std::vector<Array>& parts) const {
    if (parts.size() == 1) return parts[0];
    std::vector<int64_t> shape = parts[0].shape;
    for (size_t i = 0; i < parts.size(); ++i) {
      const Array& part = parts[i];
      if (part.shape.empty() || part.type != parts[0].type ||
          !std::equal(part.shape.begin() + 1, part.shape.end(),
                      shape.begin() + 1, shape.end())) {
        return Wrong(from[i]->name, part,
                     "one that joins '" + from[0]->name + "'");
      }
      if (i > 0) shape[0] += part.shape[0];
    }
    MXC_ASSIGN(Array whole, New(parts[0].type, shape));
    std::byte* to = whole.bytes().data();
    for (const Array& part : parts) {
      const auto bytes = part.bytes();
      to = std::copy(bytes.begin(), bytes.end(), to);
    }
    return whole;
  }

  Result<Array> Cut(const std::string& name, const Array& array) const {
    const auto [first, end] = *row_.rows;
    if (array.shape.empty() || array.shape[0] < end) {
      return Wrong(name, array, fmt::format("{} rows or more", end));
    }
    std::vector<int64_t> shape = array.shape;
    shape[0] = end - first;
    MXC_ASSIGN(Array out, New(array.type, shape));
    const auto bytes = array.bytes();
    const size_t row = bytes.size() / static_cast<size_t>(array.shape[0]);
    std::ranges::copy(
        bytes.subspan(row * static_cast<size_t>(first), out.bytes().size()),
        out.bytes().begin());
    return out;
  }

  const WeightNames::Row& row_;
  const std::string& file_;
};

// The parameters that one table finds in a file.
class Finding {
 public:
  using Arrays = std::unordered_map<std::string_view, const NamedArray*>;
  struct Found {
    const WeightNames::Row* row;
    std::string parameter;
    std::vector<const NamedArray*> from;
  };

  Finding(const WeightNames::Table& table, const Arrays& arrays)
      : table_(table), arrays_(arrays) {}

  void Find(const std::string& parameter) {
    for (const WeightNames::Row& row : table_.rows) {
      const auto captured = Match(row.pattern, parameter);
      if (!captured) continue;
      Found found{&row, parameter, {}};
      for (const std::vector<std::string>& forms : row.from) {
        const NamedArray* array = nullptr;
        for (size_t i = 0; array == nullptr && i < forms.size(); ++i) {
          const auto at = arrays_.find(NameOf(forms[i], *captured));
          if (at != arrays_.end()) array = at->second;
        }
        if (array == nullptr) {
          lacking_.push_back("'" + NameOf(forms[0], *captured) + "' for '" +
                             parameter + "'");
          return;
        }
        found.from.push_back(array);
      }
      found_.push_back(std::move(found));
      return;
    }
  }

  const std::vector<Found>& found() const { return found_; }
  const std::vector<std::string>& lacking() const { return lacking_; }

 private:
  const WeightNames::Table& table_;
  const Arrays& arrays_;
  std::vector<Found> found_;
  std::vector<std::string> lacking_;
};

std::vector<std::string> ParametersOf(const Graph& graph) {
  std::vector<std::string> names;
  for (const auto& node : graph.nodes()) {
    if (node->kind == Node::Kind::kVariable &&
        node->role != VariableRole::kInput) {
      names.push_back(node->name);
    }
  }
  return names;
}

void NoteLacking(const std::string& file,
                 const std::vector<std::string>& lacking, Diagnostics& notes) {
  constexpr size_t kShown = 6;
  if (lacking.empty()) return;
  const size_t shown = std::min(lacking.size(), kShown);
  std::string names = lacking[0];
  for (size_t i = 1; i < shown; ++i) names += ", " + lacking[i];
  if (shown < lacking.size()) {
    names += fmt::format(" and {} more", lacking.size() - shown);
  }
  notes.push_back(Error({}, "{} has no {}", file, names));
}

}  // namespace

Result<std::shared_ptr<const WeightNames>> WeightNames::Read(
    const JsonDocument& document) {
  const JsonValue* weights = document.root().Find("weights");
  if (weights == nullptr) return std::shared_ptr<const WeightNames>();
  Diagnostics errors;
  auto names = std::make_shared<WeightNames>();
  names->tables_ = TableReader(document, errors).Read(*weights);
  if (!errors.empty()) return errors;
  return std::shared_ptr<const WeightNames>(std::move(names));
}

Result<ParameterArrays> WeightNames::Apply(const Graph& graph,
                                           const ParameterArrays& arrays,
                                           const std::string& file,
                                           Diagnostics& notes) const {
  const std::vector<std::string> parameters = ParametersOf(graph);
  Finding::Arrays by_name;
  size_t own = 0;  // that have our names: by chance, or all
  for (const NamedArray& array : arrays) {
    const size_t colon = array.name.find(':');
    const auto name =
        colon == std::string::npos ? array.name : array.name.substr(colon + 1);
    own += std::ranges::count(parameters, name) > 0 ? 1 : 0;
    by_name.emplace(array.name, &array);
  }
  std::optional<Finding> best;
  for (const Table& table : tables_) {
    Finding finding(table, by_name);
    for (const std::string& parameter : parameters) finding.Find(parameter);
    if (!best || finding.found().size() > best->found().size()) {
      best.emplace(std::move(finding));
    }
  }
  if (!best || best->found().size() <= own) return arrays;
  ParameterArrays named;
  std::set<const NamedArray*> used;
  for (const Finding::Found& found : best->found()) {
    MXC_ASSIGN(Array made, Maker(*found.row, file).Make(found.from));
    named.push_back({found.parameter, std::move(made)});
    used.insert(found.from.begin(), found.from.end());
  }
  for (const NamedArray& array : arrays) {
    if (!used.contains(&array)) named.push_back(array);
  }
  NoteLacking(file, best->lacking(), notes);
  return named;
}

}  // namespace mxc
