// SPDX-License-Identifier: Apache-2.0
// Blocks of the native language: what they declare, and their instances.
#include <algorithm>

#include "frontend/native/expander.h"
#include "ir/support/nearest.h"

namespace mxc {

using Kind = JsonValue::Kind;

namespace {

constexpr int kMaxBlockDepth = 32;

}  // namespace

void Expander::SetBlocks(const JsonValue* blocks) {
  if (blocks == nullptr || !Expect(*blocks, Kind::kObject, "'blocks'")) return;
  for (const JsonMember& member : blocks->members) {
    if (!Expect(member.value, Kind::kObject, "the block")) continue;
    const JsonValue* nodes = member.value.Find("nodes");
    if (nodes == nullptr) {
      Fail(member.value, "block '{}' lacks its nodes", member.key);
    } else if (Expect(*nodes, Kind::kArray, "'nodes'")) {
      blocks_[member.key] = &member.value;
    }
    for (const JsonMember& property : member.value.members) {
      static constexpr std::string_view kKeys[] = {"args", "inputs", "nodes",
                                                   "//"};
      if (std::ranges::count(kKeys, property.key) > 0) continue;
      Fail(document_.LocateKey(member.value, property),
           "key '{}' of block '{}' is unknown; known: args, inputs, nodes",
           property.key, member.key);
    }
  }
}

Value Expander::ExpandBlock(const JsonValue& element, Place at, Value current) {
  constexpr int64_t kSteps = 15;  // its names and its place take their time
  const JsonValue& reference = *element.Find("block");
  if (!Spend(reference, kSteps)) return {};
  const auto block_name = Evaluate(reference, at.scope);
  if (!block_name) return {};
  const auto block = blocks_.find(block_name->string);
  if (!block_name->Is(Kind::kString) || block == blocks_.end()) {
    std::vector<std::string_view> known;
    for (const auto& [name, value] : blocks_) known.push_back(name);
    Fail(reference, "block '{}' is unknown{}", MxnetText(*block_name),
         NearestNote(Nearest(block_name->string, known)));
    return {};
  }
  if (at.frame.depth >= kMaxBlockDepth) {
    Fail(reference, "blocks are nested deeper than {}", kMaxBlockDepth);
    return {};
  }
  const auto name = ReadName(element, at);
  const auto inputs = ReadInputs(element, at, current);
  if (!name || !inputs) return {};
  Frame frame{
      name->full, {}, LocateIn(element, at.frame).path, at.frame.depth + 1};
  // A block sees its arguments and the network's constants.
  const Scope* constants = &at.scope;
  while (constants->outer != nullptr) constants = constants->outer;
  Scope scope{constants, {}};
  scope.values["name"] = StringValue(name->full);
  if (!BindArguments(element, *block->second, at, scope) ||
      !BindBlockInputs(element, *block->second, *inputs, frame)) {
    return {};
  }
  const Value result = ExpandList(*block->second->Find("nodes"), {scope, frame},
                                  inputs->empty() ? Value() : inputs->front());
  if (result && !name->local.empty()) at.frame.names[name->local] = result;
  return result;
}

bool Expander::BindArguments(const JsonValue& element, const JsonValue& block,
                             Place at, Scope& scope) {
  const size_t errors = errors_.size();
  static const JsonValue kNone;
  const JsonValue* declared = block.Find("args");
  const auto& args = declared != nullptr ? declared->members : kNone.members;
  for (const JsonMember& member : element.members) {
    if (IsElementKey(member.key)) continue;
    if (declared == nullptr || declared->Find(member.key) == nullptr) {
      std::vector<std::string_view> known;
      for (const JsonMember& arg : args) known.push_back(arg.key);
      Fail(document_.LocateKey(element, member),
           "the block has no argument '{}'{}", member.key,
           NearestNote(Nearest(member.key, known)));
    }
  }
  for (const JsonMember& arg : args) {
    const JsonValue* given = element.Find(arg.key);
    if (given == nullptr && arg.value.Is(Kind::kNull)) {
      Fail(*element.Find("block"), "argument '{}' is missing", arg.key);
      continue;
    }
    // A default may use the arguments before it.
    auto value = given != nullptr ? Evaluate(*given, at.scope)
                                  : Evaluate(arg.value, scope);
    if (value) scope.values[arg.key] = std::move(*value);
  }
  return errors_.size() == errors;
}

// "inputs": ["x", "y"] of a block names them; one is called "input".
bool Expander::BindBlockInputs(const JsonValue& element, const JsonValue& block,
                               const std::vector<Value>& inputs, Frame& frame) {
  const JsonValue* names = block.Find("inputs");
  if (names == nullptr) {
    if (inputs.size() > 1) {
      Fail(element, "the block takes one input, {} are given", inputs.size());
      return false;
    }
    if (!inputs.empty()) frame.names["input"] = inputs[0];
    return true;
  }
  if (!Expect(*names, Kind::kArray, "'inputs'")) return false;
  if (names->items.size() != inputs.size()) {
    Fail(element, "the block takes {} inputs, {} are given",
         names->items.size(), inputs.size());
    return false;
  }
  for (size_t k = 0; k < inputs.size(); ++k) {
    if (!Expect(names->items[k], Kind::kString, "the name")) return false;
    frame.names[names->items[k].string] = inputs[k];
  }
  return true;
}

}  // namespace mxc
