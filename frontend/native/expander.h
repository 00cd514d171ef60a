// SPDX-License-Identifier: Apache-2.0
// Writes out the nodes of our own JSON: blocks, repetitions and branches become
// nodes of the graph, parameters appear beside them.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "frontend/attributes.h"
#include "frontend/json/json.h"
#include "frontend/native/expression.h"
#include "ir/graph/graph.h"

namespace mxc {

class Expander : JsonDiagnostics {
 public:
  // What instantiation costs is taken from `budget`; once that is exhausted,
  // or the graph has too many nodes, the rest of the network is left out, with
  // one error.
  Expander(const JsonDocument& document, Graph& graph, Budget& budget,
           Diagnostics& errors)
      : JsonDiagnostics(document, errors), graph_(graph), budget_(budget) {}

  // Attributes by operator that its nodes have unless they say otherwise.
  void SetDefaults(const JsonValue* defaults);
  void SetBlocks(const JsonValue* blocks);

  // A name that every node may read.
  void AddGlobal(const std::string& name, Value value, const SourceLoc& loc);
  // What "name" or "name:1" stands for; reports it when there is no such.
  Value FindGlobal(const JsonValue& reference);

  // Adds the nodes of a list; the first one reads `current`. The value of the
  // last one; none after an error. A node that is wrong in itself has an opaque
  // one in its place, so that those that read it are checked as well.
  Value Expand(const JsonValue& nodes, const Scope& scope, Value current);

  // Of all that was expanded; nobody says so otherwise beside other errors.
  void ReportUnknownOperators();

 private:
  // One instance of a block, or the network itself.
  struct Frame {
    std::string prefix;  // the instance's name; empty for the network
    std::map<std::string, Value> names;
    std::string path;  // where it was instantiated
    int depth = 0;
  };
  struct Place {
    const Scope& scope;
    Frame& frame;
  };

  // Says something about an element; other keys are attributes or arguments.
  static bool IsElementKey(std::string_view key);

  Value ExpandList(const JsonValue& nodes, Place at, Value current);
  Value ExpandElement(const JsonValue& element, Place at, Value current);
  Value ExpandRepeated(const JsonValue& element, const JsonValue& repeat,
                       Place at, Value current);
  Value ExpandOnce(const JsonValue& element, Place at, Value current);
  Value ExpandBlock(const JsonValue& element, Place at, Value current);
  Value ExpandOperator(const JsonValue& element, Place at, Value current);

  bool BindRepetition(const JsonValue& element, const JsonValue& item,
                      Scope& scope);
  bool BindArguments(const JsonValue& element, const JsonValue& block, Place at,
                     Scope& scope);
  bool BindBlockInputs(const JsonValue& element, const JsonValue& block,
                       const std::vector<Value>& inputs, Frame& frame);

  // The values that the element reads: its "inputs", else `current`. nullopt
  // after an error.
  std::optional<std::vector<Value>> ReadInputs(const JsonValue& element,
                                               Place at, Value current);
  Value ReadInput(const JsonValue& input, Place at, Value current);
  Value Find(const std::string& reference, const JsonValue& at,
             const Frame& frame);

  std::vector<LocatedAttr> ReadAttrs(const JsonValue& element,
                                     const Operator* op, Place at);
  void ReadAttr(const std::string& name, const JsonValue& value, Place at,
                std::vector<LocatedAttr>& attrs);
  Node* AddNode(const JsonValue& element, const Operator* op,
                const std::string& name, const std::vector<LocatedAttr>& attrs,
                std::vector<Value> inputs, const SourceLoc& loc);
  // Null, and what is wrong, where there can be no such node; `inputs` are
  // taken only by one that can be.
  Node* AddOperator(const Instance& instance, const JsonValue& element,
                    const std::vector<LocatedAttr>& attrs,
                    std::vector<Value>& inputs, Diagnostics& wrong);
  bool CompleteInputs(const Instance& instance, const void* typed,
                      std::vector<Value>& inputs, Diagnostics& wrong);

  // The full name of an element and its name within the frame.
  struct Name {
    std::string full, local;
  };
  std::optional<Name> ReadName(const JsonValue& element, Place at);
  std::string AutomaticName(const std::string& op_name);

  std::optional<JsonValue> Evaluate(const JsonValue& value, const Scope& scope);
  std::optional<bool> EvaluateCondition(const JsonValue& value,
                                        const Scope& scope);
  SourceLoc LocateIn(const JsonValue& value, const Frame& frame) const;
  // One turn, element or input more, or what takes as long as several. False
  // when the network has become too large.
  bool Spend(const JsonValue& at, int64_t steps = 1);
  void GiveUp(const JsonValue& at, const std::string& reason);

  Graph& graph_;
  Budget& budget_;
  std::map<const Operator*, const JsonValue*> defaults_;
  std::map<std::string, const JsonValue*, std::less<>> blocks_;
  std::map<std::string, Value> globals_;
  std::map<std::string, int> counters_;  // of automatic names
  // By where the element begins in the text: those that were refused, and the
  // first node of each whose operator is unknown.
  std::set<uint32_t> wrong_;
  std::set<std::string> wrong_defaults_;  // paths
  std::map<uint32_t, const Node*> unknown_;
  bool full_ = false;  // the network has become too large
};

}  // namespace mxc
