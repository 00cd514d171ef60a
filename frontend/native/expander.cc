// SPDX-License-Identifier: Apache-2.0
#include "frontend/native/expander.h"

#include <algorithm>
#include <charconv>

#include "ir/support/nearest.h"

namespace mxc {

using Kind = JsonValue::Kind;

namespace {

constexpr int64_t kMaxRepeats = 100'000;
// Names among which the one that was meant is looked for, for each error.
constexpr size_t kMostToCompare = 10'000;

}  // namespace

void Expander::SetDefaults(const JsonValue* defaults) {
  if (defaults == nullptr || !Expect(*defaults, Kind::kObject, "'defaults'")) {
    return;
  }
  for (const JsonMember& member : defaults->members) {
    const Operator* op = FindPublicOperator(member.key);
    if (op == nullptr) {
      Fail(document_.LocateKey(*defaults, member), "operator '{}' is unknown{}",
           member.key, NearestNote(NearestOperator(member.key)));
    } else if (Expect(member.value, Kind::kObject, "the attributes")) {
      defaults_[op] = &member.value;
    }
  }
}

void Expander::AddGlobal(const std::string& name, Value value,
                         const SourceLoc& loc) {
  if (!globals_.emplace(name, value).second) {
    Fail(loc, "two nodes are called '{}'", name);
  }
}

Value Expander::FindGlobal(const JsonValue& reference) {
  if (!Expect(reference, Kind::kString, "the output")) return {};
  return Find(reference.string, reference, Frame());
}

Value Expander::Expand(const JsonValue& nodes, const Scope& scope,
                       Value current) {
  Frame frame;
  return ExpandList(nodes, {scope, frame}, current);
}

Value Expander::ExpandList(const JsonValue& nodes, Place at, Value current) {
  for (const JsonValue& element : nodes.items) {
    if (!Spend(element)) return {};
    current = ExpandElement(element, at, current);
  }
  return current;
}

Value Expander::ExpandElement(const JsonValue& element, Place at,
                              Value current) {
  if (!Expect(element, Kind::kObject, "the node")) return {};
  const JsonValue* repeat = element.Find("repeat");
  if (repeat == nullptr) return ExpandOnce(element, at, current);
  return ExpandRepeated(element, *repeat, at, current);
}

// "repeat": 3 counts i from 1; a list gives "as" its items one by one.
Value Expander::ExpandRepeated(const JsonValue& element,
                               const JsonValue& repeat, Place at,
                               Value current) {
  const auto times = Evaluate(repeat, at.scope);
  if (!times) return {};
  const bool counted = times->Is(Kind::kInteger);
  if (!counted && !times->Is(Kind::kArray)) {
    Fail(repeat, "'repeat' is {}, expected a number or a list",
         KindName(times->kind));
    return {};
  }
  const int64_t count = counted ? times->integer : std::ssize(times->items);
  if (count < 0 || count > kMaxRepeats) {
    Fail(repeat, "'repeat' is {}, expected 0 to {}", count, kMaxRepeats);
    return {};
  }
  for (int64_t i = 0; i < count; ++i) {
    if (!Spend(repeat)) return {};
    Scope scope{&at.scope, {}};
    scope.values["i"] = IntegerValue(i + 1);
    const JsonValue item = counted ? IntegerValue(i + 1) : times->items[i];
    if (!BindRepetition(element, item, scope)) return {};
    current = ExpandOnce(element, {scope, at.frame}, current);
  }
  return current;
}

bool Expander::BindRepetition(const JsonValue& element, const JsonValue& item,
                              Scope& scope) {
  const JsonValue* as = element.Find("as");
  if (as == nullptr) return true;
  if (as->Is(Kind::kString)) {
    scope.values[as->string] = item;
    return true;
  }
  const bool names = as->Is(Kind::kArray) &&
                     std::ranges::all_of(as->items, [](const JsonValue& name) {
                       return name.Is(Kind::kString);
                     });
  if (!names) {
    Fail(*as, "'as' is {}, expected a name or a list of names",
         KindName(as->kind));
    return false;
  }
  if (!item.Is(Kind::kArray) || item.items.size() != as->items.size()) {
    Fail(*as, "'as' has {} names for an item of 'repeat' that is {}",
         as->items.size(), MxnetText(item));
    return false;
  }
  for (size_t k = 0; k < as->items.size(); ++k) {
    scope.values[as->items[k].string] = item.items[k];
  }
  return true;
}

Value Expander::ExpandOnce(const JsonValue& element, Place at, Value current) {
  if (const JsonValue* condition = element.Find("if")) {
    const auto holds = EvaluateCondition(*condition, at.scope);
    if (!holds) return {};
    if (!*holds) return current;
  }
  const int kinds = (element.Find("op") != nullptr) +
                    (element.Find("block") != nullptr) +
                    (element.Find("nodes") != nullptr);
  if (kinds != 1) {
    Fail(element, "expected one of the keys 'op', 'block' and 'nodes'");
    return {};
  }
  if (element.Find("op") != nullptr) {
    return ExpandOperator(element, at, current);
  }
  if (element.Find("block") != nullptr) {
    return ExpandBlock(element, at, current);
  }
  const JsonValue& nodes = *element.Find("nodes");
  if (!Expect(nodes, Kind::kArray, "'nodes'")) return {};
  const auto inputs = ReadInputs(element, at, current);
  if (!inputs) return {};
  return ExpandList(nodes, at, inputs->empty() ? Value() : inputs->front());
}

std::optional<std::vector<Value>> Expander::ReadInputs(const JsonValue& element,
                                                       Place at,
                                                       Value current) {
  const JsonValue* list = element.Find("inputs");
  if (list == nullptr) {
    if (!current) return std::nullopt;  // reported where it was lost
    return std::vector<Value>{current};
  }
  if (!Expect(*list, Kind::kArray, "'inputs'")) return std::nullopt;
  std::vector<Value> inputs;
  bool complete = true;
  for (const JsonValue& item : list->items) {
    if (!Spend(item)) return std::nullopt;
    inputs.push_back(ReadInput(item, at, current));
    complete = complete && inputs.back();
  }
  if (!complete) return std::nullopt;
  return inputs;
}

// A name, or a branch: a list of nodes of which the first reads `current`.
Value Expander::ReadInput(const JsonValue& input, Place at, Value current) {
  if (input.Is(Kind::kArray)) return ExpandList(input, at, current);
  const auto reference = Evaluate(input, at.scope);
  if (!reference) return {};
  if (!reference->Is(Kind::kString)) {
    Fail(input, "an input is {}, expected a name or a list of nodes",
         KindName(reference->kind));
    return {};
  }
  return Find(reference->string, input, at.frame);
}

// "name" or "name:1": within the frame first, then anywhere by full name.
Value Expander::Find(const std::string& reference, const JsonValue& at,
                     const Frame& frame) {
  const size_t colon = reference.rfind(':');
  const std::string name = reference.substr(0, colon);
  Value value;
  if (const auto local = frame.names.find(name); local != frame.names.end()) {
    value = local->second;
  } else if (const auto any = globals_.find(name); any != globals_.end()) {
    value = any->second;
  }
  if (!value) {
    std::vector<std::string_view> known;
    const bool few = frame.names.size() + globals_.size() <= kMostToCompare;
    if (few && !errors_.full()) {
      for (const auto& [local, ignored] : frame.names) known.push_back(local);
      for (const auto& [global, ignored] : globals_) known.push_back(global);
    }
    Fail(at, "there is no node '{}' above{}", name,
         NearestNote(Nearest(name, known)));
    return {};
  }
  if (colon == std::string::npos) return value;
  const char* end = reference.data() + reference.size();
  int index = 0;
  const auto [stop, error] =
      std::from_chars(reference.data() + colon + 1, end, index);
  Node& node = *value.node;
  if (error != std::errc() || stop != end || index < 0 || index > 0xffff) {
    Fail(at, "'{}' is no output number", reference.substr(colon + 1));
    return {};
  }
  if (node.kind == Node::Kind::kOpaque && index >= std::ssize(node.types)) {
    node.types.resize(static_cast<size_t>(index) + 1);
  }
  if (index >= std::ssize(node.types)) {
    Fail(at, "'{}' has {} outputs", name, node.types.size());
    return {};
  }
  return node.out(index);
}

std::optional<Expander::Name> Expander::ReadName(const JsonValue& element,
                                                 Place at) {
  const JsonValue* raw = element.Find("name");
  if (raw == nullptr) return Name{at.frame.prefix, ""};
  if (!Expect(*raw, Kind::kString, "'name'")) return std::nullopt;
  const auto value = Evaluate(*raw, at.scope);
  if (!value) return std::nullopt;
  const std::string local = MxnetText(*value);
  // A name that mentions its instance's name stands for itself.
  const bool whole = at.frame.prefix.empty() ||
                     raw->string.find("${name") != std::string::npos ||
                     raw->string.find("$name") != std::string::npos;
  return Name{whole ? local : at.frame.prefix + "_" + local, local};
}

std::optional<JsonValue> Expander::Evaluate(const JsonValue& value,
                                            const Scope& scope) {
  Evaluated evaluated = Substitute(value, scope, budget_);
  if (evaluated.error.empty()) return std::move(evaluated.value);
  if (budget_.exhausted()) {
    GiveUp(value, evaluated.error);
  } else {
    Fail(value, "{}", evaluated.error);
  }
  return std::nullopt;
}

std::optional<bool> Expander::EvaluateCondition(const JsonValue& value,
                                                const Scope& scope) {
  const auto condition = Evaluate(value, scope);
  if (!condition) return std::nullopt;
  if (condition->Is(Kind::kBool)) return condition->boolean;
  Fail(value, "'if' is {}, expected true or false", KindName(condition->kind));
  return std::nullopt;
}

bool Expander::Spend(const JsonValue& at, int64_t steps) {
  if (!full_ && !budget_.Spend(steps)) GiveUp(at, budget_.Error());
  return !full_;
}

void Expander::GiveUp(const JsonValue& at, const std::string& reason) {
  if (!full_) Fail(at, "{}", reason);
  full_ = true;
}

SourceLoc Expander::LocateIn(const JsonValue& value, const Frame& frame) const {
  SourceLoc loc = document_.Locate(value);
  if (!frame.path.empty()) loc.path += " of " + frame.path;
  return loc;
}

}  // namespace mxc
