// SPDX-License-Identifier: Apache-2.0
// Expander: one element with "op" becomes one node, with the variables that it
// needs beside its inputs.
#include <algorithm>
#include <cctype>

#include "frontend/native/expander.h"
#include "ir/graph/supported.h"

namespace mxc {

using Kind = JsonValue::Kind;

namespace {

constexpr size_t kMaxNodes = 200'000;

// Keys that say something about an element; the others are attributes or
// arguments.
constexpr std::string_view kElementKeys[] = {
    "op", "block",  "nodes", "name",  "inputs",
    "if", "repeat", "as",    "attrs", "//"};

}  // namespace

bool Expander::IsElementKey(std::string_view key) {
  return std::ranges::count(kElementKeys, key) > 0;
}

// As MXNet's NameManager counts: convolution0, convolution1 …
std::string Expander::AutomaticName(const std::string& op_name) {
  std::string hint = op_name;
  for (char& c : hint) {
    c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return fmt::format("{}{}", hint, counters_[hint]++);
}

Value Expander::ExpandOperator(const JsonValue& element, Place at,
                               Value current) {
  const JsonValue& op_value = *element.Find("op");
  if (!Expect(op_value, Kind::kString, "'op'")) return {};
  const Operator* op = FindPublicOperator(op_value.string);
  const auto inputs = ReadInputs(element, at, current);
  const auto name = ReadName(element, at);
  const std::vector<LocatedAttr> attrs = ReadAttrs(element, op, at);
  std::string why_unknown;
  op = KnownOperator(op_value.string, OperatorAttrs(attrs), why_unknown);
  if (!inputs || !name) return {};
  const std::string full =
      name->local.empty() ? AutomaticName(op_value.string) : name->full;
  if (graph_.nodes().size() >= kMaxNodes) {
    GiveUp(element,
           fmt::format("the network has more than {} nodes", kMaxNodes));
    return {};
  }
  SourceLoc loc = LocateIn(op_value, at.frame);
  loc.path = LocateIn(element, at.frame).path;
  Node* node = AddNode(element, op, full, attrs, *inputs, loc);
  node->why_unknown = std::move(why_unknown);
  AddGlobal(full, node->out(), node->loc);
  if (!name->local.empty()) at.frame.names[name->local] = node->out();
  return node->out();
}

std::vector<LocatedAttr> Expander::ReadAttrs(const JsonValue& element,
                                             const Operator* op, Place at) {
  std::vector<LocatedAttr> attrs;
  for (const JsonMember& member : element.members) {
    if (!IsElementKey(member.key)) {
      ReadAttr(member.key, member.value, at, attrs);
    }
  }
  const JsonValue* more = element.Find("attrs");
  if (more != nullptr && Expect(*more, Kind::kObject, "'attrs'")) {
    for (const JsonMember& member : more->members) {
      ReadAttr(member.key, member.value, at, attrs);
    }
  }
  const auto defaults = defaults_.find(op);
  if (op == nullptr || defaults == defaults_.end()) return attrs;
  for (const JsonMember& member : defaults->second->members) {
    const bool given =
        std::ranges::count(attrs, member.key, &LocatedAttr::name) > 0;
    if (!given && member.key != "//") {
      ReadAttr(member.key, member.value, at, attrs);
    }
  }
  return attrs;
}

void Expander::ReadAttr(const std::string& name, const JsonValue& value,
                        Place at, std::vector<LocatedAttr>& attrs) {
  const auto evaluated = Evaluate(value, at.scope);
  if (!evaluated) return;
  if (evaluated->Is(Kind::kObject)) {
    Fail(value, "attribute '{}' is an object", name);
    return;
  }
  attrs.push_back({name, MxnetText(*evaluated), document_.Locate(value)});
}

Node* Expander::AddNode(const JsonValue& element, const Operator* op,
                        const std::string& name,
                        const std::vector<LocatedAttr>& attrs,
                        std::vector<Value> inputs, const SourceLoc& loc) {
  const std::string& op_name = element.Find("op")->string;
  const size_t given = inputs.size();
  Node* node = nullptr;
  if (op != nullptr) {
    Diagnostics wrong;
    const Instance instance{op, op_name, name, loc, given};
    node = AddOperator(instance, element, attrs, inputs, wrong);
    // Written out many times, it is wrong once.
    if (!wrong.empty() && wrong_.insert(element.begin).second) {
      for (Diagnostic& error : wrong) {
        const std::string& path = error.loc.path;
        if (path.starts_with("defaults.") &&
            !wrong_defaults_.insert(path).second) {
          continue;  // said of an earlier node
        }
        Report(std::move(error));
      }
    }
  }
  if (node == nullptr) {
    node = graph_.AddOpaque(op_name, name, std::move(inputs), 1);
  }
  if (op == nullptr) unknown_.emplace(element.begin, node);
  node->op_name = op_name;
  node->loc = loc;
  for (const LocatedAttr& attr : attrs) {
    node->attr_locs[attr.name] = attr.loc;
    if (IsAnnotation(attr.name)) {
      node->written.annotations[attr.name] = attr.text;
    } else {
      node->written.attributes.emplace_back(attr.name, attr.text);
    }
  }
  if (op != nullptr && op->variadic &&
      std::ranges::count(node->written.attributes, "num_args",
                         &AttrText::first) == 0) {
    node->written.attributes.emplace_back("num_args", std::to_string(given));
  }
  return node;
}

Node* Expander::AddOperator(const Instance& instance, const JsonValue& element,
                            const std::vector<LocatedAttr>& attrs,
                            std::vector<Value>& inputs, Diagnostics& wrong) {
  const Operator* op = instance.op;
  AttrsPtr typed = ParseAttributes(instance, attrs, wrong);
  if (!wrong.empty()) return nullptr;
  // What makes values from nothing does not read the node above it.
  const bool source = op->inputs(typed.get()).empty() && !op->variadic;
  if (source && element.Find("inputs") == nullptr) inputs.clear();
  if (!CompleteInputs(instance, typed.get(), inputs, wrong)) return nullptr;
  return graph_.AddOperator(op, std::string(instance.node_name),
                            std::move(typed), std::move(inputs));
}

// Parameters, states and labels that are not given appear under MXNet's names.
bool Expander::CompleteInputs(const Instance& instance, const void* typed,
                              std::vector<Value>& inputs, Diagnostics& wrong) {
  const auto specs = instance.op->inputs(typed);
  if (inputs.size() > specs.size()) {
    wrong.push_back(Error(instance.loc, "{} '{}' has {} inputs, expected {}",
                          instance.op_name, instance.node_name, inputs.size(),
                          specs.size()));
    return false;
  }
  for (size_t k = inputs.size(); k < specs.size(); ++k) {
    if (specs[k].kind == InputKind::kData) {
      wrong.push_back(Error(instance.loc, "{} '{}' lacks its input '{}'",
                            instance.op_name, instance.node_name,
                            specs[k].name));
      return false;
    }
    Node* variable = graph_.AddVariable(
        fmt::format("{}_{}", instance.node_name, specs[k].name));
    variable->op_name = "null";
    variable->loc = instance.loc;
    AddGlobal(variable->name, variable->out(), variable->loc);
    inputs.push_back(variable->out());
  }
  return true;
}

void Expander::ReportUnknownOperators() {
  for (const auto& [begin, node] : unknown_) {
    ReportUnknown(node->loc, node->op_name, node->name, node->why_unknown,
                  errors_);
  }
}

}  // namespace mxc
