// SPDX-License-Identifier: Apache-2.0
#include "frontend/native/expression.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <cmath>
#include <optional>

namespace mxc {

using Kind = JsonValue::Kind;

const JsonValue* Scope::Find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->outer) {
    if (const auto found = scope->values.find(name);
        found != scope->values.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

JsonValue IntegerValue(int64_t integer) {
  JsonValue value;
  value.kind = Kind::kInteger;
  value.integer = integer;
  value.real = static_cast<double>(integer);
  return value;
}

JsonValue StringValue(std::string text) {
  JsonValue value;
  value.kind = Kind::kString;
  value.string = std::move(text);
  return value;
}

std::string Budget::Error() const {
  return fmt::format(
      "the network takes more than {} turns, values and expressions to write "
      "out",
      steps_);
}

namespace {

constexpr int kMaxExpressionDepth = 50;
constexpr size_t kMaxText = 1 << 16;

JsonValue RealValue(double real) {
  JsonValue value;
  value.kind = Kind::kReal;
  value.real = real;
  return value;
}

JsonValue BoolValue(bool boolean) {
  JsonValue value;
  value.kind = Kind::kBool;
  value.boolean = boolean;
  return value;
}

bool IsNumber(const JsonValue& v) {
  return v.Is(Kind::kInteger) || v.Is(Kind::kReal);
}

std::optional<int64_t> Compute(int64_t a, char op, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case '+':
      return __builtin_add_overflow(a, b, &out) ? std::nullopt
                                                : std::optional(out);
    case '-':
      return __builtin_sub_overflow(a, b, &out) ? std::nullopt
                                                : std::optional(out);
    case '*':
      return __builtin_mul_overflow(a, b, &out) ? std::nullopt
                                                : std::optional(out);
    default:
      if (b == 0 || b == -1 || (op == '/' && a % b != 0)) {
        return b == -1 ? Compute(0, '-', op == '/' ? a : 0) : std::nullopt;
      }
      return op == '/' ? a / b : a % b;
  }
}

// Four characters take about as long to read as a turn.
int64_t TextSteps(std::string_view text) { return 1 + std::ssize(text) / 4; }

int64_t CopySteps(const JsonValue& value) {
  int64_t steps = TextSteps(value.string);
  for (const JsonValue& item : value.items) steps += CopySteps(item);
  for (const JsonMember& member : value.members) {
    steps += TextSteps(member.key) + CopySteps(member.value);
  }
  return steps;
}

// Recursive descent. After the first error every rule returns at once.
class Parser {
 public:
  Parser(std::string_view text, const Scope& scope, Budget& budget)
      : rest_(text), scope_(scope), budget_(budget) {}

  Evaluated Run() {
    if (!budget_.Spend(TextSteps(rest_))) return {{}, budget_.Error()};
    JsonValue value = Conditional();
    if (error_.empty() && !Peek().empty()) {
      Fail("unexpected '{}'", Peek().substr(0, 12));
    }
    return {std::move(value), std::move(error_)};
  }

 private:
  template <class... Args>
  JsonValue Fail(fmt::format_string<Args...> format, Args&&... args) {
    if (error_.empty()) {
      error_ = fmt::format(format, std::forward<Args>(args)...);
    }
    rest_ = {};
    return {};
  }

  std::string_view Peek() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
    return rest_;
  }
  bool Eat(std::string_view token) {
    if (!Peek().starts_with(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  JsonValue Conditional() {
    if (++depth_ > kMaxExpressionDepth)
      return Fail("the expression is too deep");
    JsonValue value = Either();
    if (Eat("?")) {
      JsonValue yes = Conditional();
      if (!Eat(":")) return Fail("'?' lacks its ':'");
      JsonValue no = Conditional();
      if (!value.Is(Kind::kBool)) {
        return Fail("the condition is {}", KindName(value.kind));
      }
      value = value.boolean ? std::move(yes) : std::move(no);
    }
    --depth_;
    return value;
  }

  JsonValue Either() {
    JsonValue left = Both();
    while (Eat("||")) left = Logic(left, Both(), true);
    return left;
  }
  JsonValue Both() {
    JsonValue left = Comparison();
    while (Eat("&&")) left = Logic(left, Comparison(), false);
    return left;
  }
  JsonValue Logic(const JsonValue& a, const JsonValue& b, bool either) {
    if (!a.Is(Kind::kBool) || !b.Is(Kind::kBool)) {
      return Fail("expected conditions on both sides of {}",
                  either ? "||" : "&&");
    }
    return BoolValue(either ? a.boolean || b.boolean : a.boolean && b.boolean);
  }

  JsonValue Comparison() {
    JsonValue left = Sum();
    for (const std::string_view op : {"==", "!=", "<=", ">=", "<", ">"}) {
      if (Eat(op)) return Compare(left, op, Sum());
    }
    return left;
  }
  JsonValue Compare(const JsonValue& a, std::string_view op,
                    const JsonValue& b) {
    if (op == "==" || op == "!=") return BoolValue(Equal(a, b) == (op == "=="));
    if (!IsNumber(a) || !IsNumber(b)) {
      return Fail("expected numbers on both sides of {}", op);
    }
    const bool less = op[0] == '<', or_equal = op.size() == 2;
    return BoolValue(less ? (or_equal ? a.real <= b.real : a.real < b.real)
                          : (or_equal ? a.real >= b.real : a.real > b.real));
  }
  static bool Equal(const JsonValue& a, const JsonValue& b) {
    if (IsNumber(a) && IsNumber(b)) return a.real == b.real;
    return a.kind == b.kind && a.string == b.string && a.boolean == b.boolean;
  }

  JsonValue Sum() {
    JsonValue left = Product();
    while (true) {
      if (Eat("+")) {
        left = Arithmetic(left, '+', Product());
      } else if (Eat("-")) {
        left = Arithmetic(left, '-', Product());
      } else {
        return left;
      }
    }
  }
  JsonValue Product() {
    JsonValue left = Operand();
    while (true) {
      if (Eat("*")) {
        left = Arithmetic(left, '*', Operand());
      } else if (Eat("/")) {
        left = Arithmetic(left, '/', Operand());
      } else if (Eat("%")) {
        left = Arithmetic(left, '%', Operand());
      } else {
        return left;
      }
    }
  }
  JsonValue Arithmetic(const JsonValue& a, char op, const JsonValue& b) {
    if (!error_.empty()) return {};
    if (!IsNumber(a) || !IsNumber(b)) {
      return Fail("expected numbers on both sides of {}", op);
    }
    if (a.Is(Kind::kInteger) && b.Is(Kind::kInteger)) {
      const auto out = Compute(a.integer, op, b.integer);
      if (!out) {
        return Fail("{} {} {} has no integer value", a.integer, op, b.integer);
      }
      return IntegerValue(*out);
    }
    switch (op) {
      case '+':
        return RealValue(a.real + b.real);
      case '-':
        return RealValue(a.real - b.real);
      case '*':
        return RealValue(a.real * b.real);
      case '/':
        return RealValue(a.real / b.real);
      default:
        return RealValue(std::fmod(a.real, b.real));
    }
  }

  JsonValue Operand() {
    if (++depth_ > kMaxExpressionDepth)
      return Fail("the expression is too deep");
    JsonValue value = Primary();
    while (Eat("[")) {
      const JsonValue index = Conditional();
      if (!Eat("]")) return Fail("'[' lacks its ']'");
      value = Element(value, index);
    }
    --depth_;
    return value;
  }
  JsonValue Element(const JsonValue& list, const JsonValue& index) {
    if (!list.Is(Kind::kArray) || !index.Is(Kind::kInteger)) {
      return Fail("expected a list and an integer index");
    }
    if (index.integer < 0 || index.integer >= std::ssize(list.items)) {
      return Fail("index {} is not among 0 to {}", index.integer,
                  std::ssize(list.items) - 1);
    }
    return list.items[static_cast<size_t>(index.integer)];
  }

  JsonValue Primary() {
    if (Eat("(")) {
      JsonValue value = Conditional();
      return Eat(")") ? value : Fail("'(' lacks its ')'");
    }
    if (Eat("-")) return Arithmetic(IntegerValue(0), '-', Operand());
    if (Eat("!")) {
      const JsonValue value = Operand();
      return value.Is(Kind::kBool) ? BoolValue(!value.boolean)
                                   : Fail("'!' expects a condition");
    }
    if (Eat("'")) {
      const size_t end = rest_.find('\'');
      if (end == std::string_view::npos) return Fail("a quote is missing");
      JsonValue value = StringValue(std::string(rest_.substr(0, end)));
      rest_.remove_prefix(end + 1);
      return value;
    }
    const std::string_view rest = Peek();
    if (!rest.empty() && std::isdigit(static_cast<unsigned char>(rest[0]))) {
      return Number();
    }
    return Name();
  }

  JsonValue Number() {
    const char* end = rest_.data() + rest_.size();
    int64_t integer = 0;
    double real = 0;
    const auto as_integer = std::from_chars(rest_.data(), end, integer);
    const auto as_real = std::from_chars(rest_.data(), end, real);
    if (as_real.ec != std::errc()) return Fail("a number is too large");
    rest_.remove_prefix(static_cast<size_t>(as_real.ptr - rest_.data()));
    const bool whole =
        as_integer.ec == std::errc() && as_integer.ptr == as_real.ptr;
    return whole ? IntegerValue(integer) : RealValue(real);
  }

  JsonValue Name() {
    size_t size = 0;
    while (size < rest_.size() &&
           (std::isalnum(static_cast<unsigned char>(rest_[size])) ||
            rest_[size] == '_')) {
      ++size;
    }
    const std::string_view name = rest_.substr(0, size);
    if (name.empty()) return Fail("a value is missing");
    rest_.remove_prefix(size);
    if (name == "true" || name == "false") return BoolValue(name == "true");
    const JsonValue* value = scope_.Find(name);
    if (value == nullptr) return Fail("'{}' is not defined here", name);
    // What a name stands for is copied, and may be kept in another constant.
    if (!budget_.Spend(10 * CopySteps(*value))) {
      return Fail("{}", budget_.Error());
    }
    return *value;
  }

  std::string_view rest_;
  const Scope& scope_;
  Budget& budget_;
  std::string error_;
  int depth_ = 0;
};

Evaluated Interpolate(const std::string& text, const Scope& scope,
                      Budget& budget) {
  if (!budget.Spend(TextSteps(text))) return {{}, budget.Error()};
  std::string out;
  size_t at = 0;
  while (true) {
    const size_t begin = text.find("${", at);
    out.append(text, at, begin - at);
    if (begin == std::string::npos) return {StringValue(std::move(out)), ""};
    const size_t end = text.find('}', begin);
    if (end == std::string::npos) return {{}, "'${' lacks its '}'"};
    const std::string_view inner =
        std::string_view(text).substr(begin + 2, end - begin - 2);
    Evaluated evaluated = Parser(inner, scope, budget).Run();
    if (!evaluated.error.empty()) return evaluated;
    out += MxnetText(evaluated.value);
    if (out.size() > kMaxText) return {{}, "the text becomes too long"};
    at = end + 1;
  }
}

}  // namespace

Evaluated Substitute(const JsonValue& value, const Scope& scope,
                     Budget& budget) {
  if (value.Is(Kind::kString)) {
    const std::string_view text = value.string;
    if (text.starts_with('$') && !text.starts_with("${")) {
      return Parser(text.substr(1), scope, budget).Run();
    }
    return Interpolate(value.string, scope, budget);
  }
  if (!value.Is(Kind::kArray)) {
    if (!budget.Spend(CopySteps(value))) return {{}, budget.Error()};
    JsonValue out = value;
    out.parent = nullptr;
    return {std::move(out), ""};
  }
  JsonValue out;
  out.kind = Kind::kArray;
  out.begin = value.begin;
  out.end = value.end;
  for (const JsonValue& item : value.items) {
    Evaluated evaluated = Substitute(item, scope, budget);
    if (!evaluated.error.empty()) return evaluated;
    out.items.push_back(std::move(evaluated.value));
  }
  if (!budget.Spend(1)) return {{}, budget.Error()};
  return {std::move(out), ""};
}

std::string MxnetText(const JsonValue& value) {
  switch (value.kind) {
    case Kind::kNull:
      return "None";
    case Kind::kBool:
      return value.boolean ? "True" : "False";
    case Kind::kInteger:
      return std::to_string(value.integer);
    case Kind::kReal:
      return fmt::format("{}", value.real);
    case Kind::kString:
      return value.string;
    case Kind::kArray: {
      std::string out = "(";
      for (size_t i = 0; i < value.items.size(); ++i) {
        out += (i > 0 ? ", " : "") + MxnetText(value.items[i]);
      }
      return out + (value.items.size() == 1 ? ",)" : ")");
    }
    case Kind::kObject:
      break;
  }
  return "{}";
}

}  // namespace mxc
