// SPDX-License-Identifier: Apache-2.0
// JSON → Symbol. A file may mix the generations of the format: `param`, `attr`
// and `attrs` are read on any node, entries have two or three numbers.
#include <algorithm>
#include <optional>

#include "frontend/mxnet/symbol.h"

namespace mxc {

const LocatedAttr* SymbolNode::Find(std::string_view attr) const {
  const auto found = std::ranges::find(attrs, attr, &LocatedAttr::name);
  return found == attrs.end() ? nullptr : &*found;
}

bool SymbolNode::Erase(std::string_view attr) {
  return std::erase_if(
             attrs, [&](const LocatedAttr& a) { return a.name == attr; }) > 0;
}

namespace {

using Kind = JsonValue::Kind;

class Reader : JsonDiagnostics {
 public:
  explicit Reader(const JsonDocument& document)
      : JsonDiagnostics(document, found_) {}

  Result<Symbol> Read() {
    const JsonValue& root = document_.root();
    if (!Expect(root, Kind::kObject, "the network")) return found_;
    if (const JsonValue* attrs = root.Find("attrs")) ReadGraphAttrs(*attrs);
    if (const JsonValue* nodes = Member(root, "nodes", Kind::kArray)) {
      for (const JsonValue& node : nodes->items) ReadNode(node);
      for (const JsonValue& node : nodes->items) ReadControlDeps(node);
      CheckEntries();
    }
    if (const JsonValue* heads = Member(root, "heads", Kind::kArray)) {
      for (const JsonValue& head : heads->items) {
        if (auto entry = ReadEntry(head)) symbol_.heads.push_back(*entry);
      }
      for (const SymbolEntry& head : symbol_.heads) CheckEntry(head);
      if (heads->items.empty()) {
        Fail(*heads, "the network has no output: heads is empty");
      }
    }
    if (const JsonValue* ids = root.Find("arg_nodes")) CheckArgNodes(*ids);
    if (!found_.empty()) return std::move(found_);
    return std::move(symbol_);
  }

 private:
  // A member that must be there; null, and an error, when it is not.
  const JsonValue* Member(const JsonValue& object, std::string_view key,
                          Kind kind) {
    const JsonValue* value = object.Find(key);
    if (value == nullptr) {
      Fail(object, "key '{}' is missing", key);
      return nullptr;
    }
    return Expect(*value, kind, fmt::format("'{}'", key)) ? value : nullptr;
  }

  // {"mxnet_version": ["int", 10901], …}
  void ReadGraphAttrs(const JsonValue& attrs) {
    if (!Expect(attrs, Kind::kObject, "'attrs'")) return;
    for (const JsonMember& member : attrs.members) {
      const JsonValue& pair = member.value;
      if (!pair.Is(Kind::kArray) || pair.items.size() != 2 ||
          !pair.items[0].Is(Kind::kString)) {
        Fail(pair, "graph attribute '{}' is not a list [type, value]",
             member.key);
        continue;
      }
      ReadGraphAttr(member.key, pair.items[0], pair.items[1]);
    }
  }

  void ReadGraphAttr(const std::string& name, const JsonValue& type,
                     const JsonValue& value) {
    static constexpr std::string_view kTypes[] = {"int", "str", "list_int",
                                                  "list_str"};
    if (std::ranges::find(kTypes, type.string) == std::end(kTypes)) {
      Fail(type, "type '{}' of graph attribute '{}' is unknown", type.string,
           name);
      return;
    }
    const bool flag = name == "is_np_shape";
    if (name != "mxnet_version" && !flag) return;
    if (type.string != "int") {
      Fail(type, "{} has type '{}', expected 'int'", name, type.string);
    } else if (Expect(value, Kind::kInteger, name)) {
      if (flag) {
        symbol_.numpy_shapes = value.integer != 0;
      } else {
        symbol_.version = value.integer;
        symbol_.names_version = true;
      }
    }
  }

  void ReadNode(const JsonValue& value) {
    SymbolNode& node = symbol_.nodes.emplace_back();
    node.loc = document_.Locate(value);
    if (!Expect(value, Kind::kObject, "the node")) return;
    if (const JsonValue* op = Member(value, "op", Kind::kString)) {
      node.op_name = op->string;
      node.loc = document_.Locate(*op);
      node.loc.path = PathOf(value);
    }
    if (const JsonValue* name = Member(value, "name", Kind::kString)) {
      node.name = name->string;
    }
    if (const JsonValue* inputs = Member(value, "inputs", Kind::kArray)) {
      for (const JsonValue& input : inputs->items) {
        if (auto entry = ReadEntry(input)) node.inputs.push_back(*entry);
      }
      if (node.is_variable() && !inputs->items.empty()) {
        Fail(*inputs, "variable '{}' has inputs", node.name);
      }
    }
    if (const JsonValue* nested = value.Find("subgraphs")) {
      node.subgraphs = document_.Text(*nested);
    }
    ReadAttrs(value, node);
  }

  // Of `attr` and `attrs` the later one counts; `param` adds what is new.
  void ReadAttrs(const JsonValue& value, SymbolNode& node) {
    const JsonValue *attrs = nullptr, *params = nullptr;
    for (const JsonMember& member : value.members) {
      if (member.key == "attr" || member.key == "attrs") attrs = &member.value;
      if (member.key == "param") params = &member.value;
    }
    for (const JsonValue* list : {attrs, params}) {
      if (list == nullptr || !Expect(*list, Kind::kObject, "the attributes")) {
        continue;
      }
      for (const JsonMember& attr : list->members) {
        if (!Expect(attr.value, Kind::kString,
                    fmt::format("attribute '{}'", attr.key)) ||
            (list == params && node.Find(attr.key))) {
          continue;
        }
        node.attrs.push_back(
            {attr.key, attr.value.string, document_.Locate(attr.value)});
      }
    }
  }

  // [node, output] or [node, output, version]
  std::optional<SymbolEntry> ReadEntry(const JsonValue& value) {
    const bool fits = value.Is(Kind::kArray) &&
                      (value.items.size() == 2 || value.items.size() == 3) &&
                      std::ranges::all_of(value.items, [](const JsonValue& v) {
                        return v.Is(Kind::kInteger);
                      });
    if (!fits) {
      Fail(value, "expected integers [node, output, version], found {}",
           Shorten(document_.Text(value)));
      return std::nullopt;
    }
    return SymbolEntry{value.items[0].integer, value.items[1].integer,
                       document_.Locate(value)};
  }

  static std::string Shorten(std::string_view text) {
    std::string out(text.substr(0, 40));
    std::ranges::replace(out, '\n', ' ');
    return text.size() > 40 ? out + "…" : out;
  }

  void CheckEntries() {
    for (const SymbolNode& node : symbol_.nodes) {
      for (const SymbolEntry& entry : node.inputs) CheckEntry(entry);
    }
  }

  void CheckEntry(const SymbolEntry& entry) {
    CheckId(entry.node, entry.loc);
    if (entry.output < 0) {
      Fail(entry.loc, "output {} cannot be", entry.output);
    }
  }

  bool CheckId(int64_t id, const SourceLoc& loc) {
    if (id >= 0 && id < std::ssize(symbol_.nodes)) return true;
    Fail(loc, "node {} does not exist; there are {} nodes", id,
         symbol_.nodes.size());
    return false;
  }

  // They only order what is executed; a pure graph needs no such order.
  void ReadControlDeps(const JsonValue& node) {
    const JsonValue* ids = node.Find("control_deps");
    if (ids == nullptr || !Expect(*ids, Kind::kArray, "'control_deps'")) return;
    for (const JsonValue& id : ids->items) {
      if (Expect(id, Kind::kInteger, "the node id")) {
        CheckId(id.integer, document_.Locate(id));
      }
    }
  }

  void CheckArgNodes(const JsonValue& ids) {
    if (!Expect(ids, Kind::kArray, "'arg_nodes'")) return;
    for (const JsonValue& id : ids.items) {
      if (!Expect(id, Kind::kInteger, "the node id") ||
          !CheckId(id.integer, document_.Locate(id))) {
        continue;
      }
      const SymbolNode& node = symbol_.nodes[id.integer];
      if (!node.is_variable()) {
        Fail(id, "node {} in arg_nodes is {} '{}', expected a variable",
             id.integer, node.op_name, node.name);
      }
    }
  }

  Symbol symbol_;
  Diagnostics found_;
};

}  // namespace

Result<Symbol> ReadSymbol(const JsonDocument& document) {
  return Reader(document).Read();
}

}  // namespace mxc
