// SPDX-License-Identifier: Apache-2.0
// read-filled-rows: of what a network keeps of its texts, only as many rows are
// read as the longest text has, rounded up to the bound divided by 2, 4, 8 or 16.
//
//   position ─► max ≤ 512 - rows ──────────────┐
//   keys ──► batch_dot ─► softmax ─┐           │
//   values ────────────────────► batch_dot ─►  y
//   ⇒
//   keys[:512] ─► … batch_dot ──────────────► _choose ─► y
//   keys[:1024] ─► … batch_dot ─────────────────┘
//
// What is copied ends where no shape tells how many rows there are. That nothing
// follows from rows that are not filled is what ir/ops/nn/sequence/cache.cc
// asks of networks: a text's last stream may have left anything in them.
#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/graph/builder.h"
#include "ir/ops/nn/sequence/cache.h"
#include "ir/ops/tensor/elementwise/scalar.h"
#include "ir/ops/tensor/indexing/choose.h"
#include "passes/node_values.h"
#include "passes/passes.h"

namespace mxc {
namespace {

constexpr int kMostLevels = 4;       // branches lie in each other
constexpr int64_t kFewestRows = 64;  // fewer cost what a branch costs

using Types = std::vector<TensorType>;
using TypesOfValues = std::unordered_map<Value, TensorType, ValueHash>;

// The types of the outputs, if the inputs have those; nothing where they cannot.
std::optional<Types> OutputTypes(const Graph& graph, const Node& node,
                                 Types inputs) {
  const Types given = inputs;
  Types outputs(node.types.size());
  TypeInference inference(inputs, outputs, graph.training);
  node.op->types(node.attrs.get(), inference);
  const auto known = [](const TensorType& type) { return type.known(); };
  if (inference.error() || inputs != given ||
      !std::ranges::all_of(outputs, known)) {
    return std::nullopt;
  }
  return outputs;
}

const CacheRowsAttrs* RowsKeptBy(const Node& node) {
  const bool keeps = node.kind == Node::Kind::kOperator &&
                     node.op == &OperatorOf<op::CacheRows>();
  return keeps ? &node.As<CacheRowsAttrs>() : nullptr;
}

// Nodes whose values have as many rows as are kept, each after its inputs, and
// those that read them and have others.
struct Region {
  std::vector<Node*> nodes, exits;
  bool fits = true;

  bool operator==(const Region&) const = default;
};

// Those that are kept alike.
struct Kept {
  Value position;
  int64_t bound = 0, rows = 0;

  bool operator==(const Kept&) const = default;
};

// The regions of a graph, were there `rows` rows of those that are `kept`.
class Regions {
 public:
  Regions(const Graph& graph, std::span<Node* const> order, const Kept& kept,
          int64_t rows)
      : graph_(graph), kept_(kept), rows_(rows) {
    for (Node* node : order) Visit(*node);
  }

  // Those that end somewhere.
  std::vector<Region> Take() {
    std::vector<Region> whole;
    for (Region& region : regions_) {
      if (region.fits && !region.exits.empty()) {
        whole.push_back(std::move(region));
      }
    }
    return whole;
  }

 private:
  void Visit(Node& node) {
    if (const CacheRowsAttrs* attrs = RowsKeptBy(node);
        attrs != nullptr && attrs->bound == kept_.bound &&
        node.inputs[1] == kept_.position) {
      TensorType type = node.types[0];
      type.shape[static_cast<int>(attrs->axis)] = rows_;
      Add(node, {type}, Begin());
      return;
    }
    std::optional<size_t> region;
    Types inputs;
    for (const Value& input : node.inputs) {
      const auto changed = types_.find(input);
      inputs.push_back(changed != types_.end() ? changed->second
                                               : input.type());
      if (changed == types_.end()) continue;
      const size_t other = RegionOf(*input.node);
      region = region ? Join(*region, other) : other;
    }
    if (!region) return;
    const bool copies = node.kind == Node::Kind::kOperator &&
                        !node.op->any_attributes && !node.op->loss_head &&
                        node.NextStates() == 0 && !IsRandom(graph_, node);
    const auto outputs =
        copies ? OutputTypes(graph_, node, std::move(inputs)) : std::nullopt;
    if (!outputs) {
      regions_[*region].fits = false;
    } else if (*outputs == node.types) {
      regions_[*region].exits.push_back(&node);
    } else {
      Add(node, *outputs, *region);
    }
  }

  void Add(Node& node, const Types& types, size_t region) {
    for (size_t i = 0; i < types.size(); ++i) {
      if (types[i] == node.types[i]) continue;
      types_.emplace(node.out(static_cast<int>(i)), types[i]);
    }
    regions_[region].nodes.push_back(&node);
    of_[&node] = region;
  }

  size_t Begin() {
    regions_.emplace_back();
    joined_.push_back(regions_.size() - 1);
    return regions_.size() - 1;
  }

  size_t RegionOf(const Node& node) {
    size_t region = of_.at(&node);
    while (joined_[region] != region) region = joined_[region];
    return of_[&node] = region;
  }

  // The later one's nodes go behind the earlier one's: what they read stands
  // before them in either.
  size_t Join(size_t a, size_t b) {
    if (a == b) return a;
    const auto [into, from] = std::minmax(a, b);
    Region& to = regions_[into];
    Region other = std::exchange(regions_[from], {});
    to.nodes.insert(to.nodes.end(), other.nodes.begin(), other.nodes.end());
    to.exits.insert(to.exits.end(), other.exits.begin(), other.exits.end());
    to.fits = to.fits && other.fits;
    joined_[from] = into;
    return into;
  }

  const Graph& graph_;
  const Kept kept_;
  const int64_t rows_;
  TypesOfValues types_;  // of values that have others than in the graph
  std::unordered_map<const Node*, size_t> of_;
  std::vector<Region> regions_;
  std::vector<size_t> joined_;  // into which of them; itself
};

class FilledRows {
 public:
  explicit FilledRows(Graph& graph)
      : graph_(graph), order_(graph.TopologicalOrder()) {}

  bool Run() {
    for (const auto& [kept, first] : AllKept()) Limit(kept, *first);
    graph_.ReplaceUses(replaced_);
    if (changed_) graph_.RemoveDeadNodes();
    return changed_;
  }

 private:
  // Each with the first node that keeps rows so, in their order.
  std::vector<std::pair<Kept, const Node*>> AllKept() const {
    std::vector<std::pair<Kept, const Node*>> all;
    for (const Node* node : order_) {
      const CacheRowsAttrs* attrs = RowsKeptBy(*node);
      if (attrs == nullptr) continue;
      const Shape& data = node->inputs[0].shape();
      const Kept kept{node->inputs[1], attrs->bound,
                      data[static_cast<int>(attrs->axis)]};
      if (std::ranges::find(all, kept, &std::pair<Kept, const Node*>::first) ==
          all.end()) {
        all.emplace_back(kept, node);
      }
    }
    return all;
  }

  // Numbers of rows, descending, with which the same nodes make the regions.
  std::vector<int64_t> LevelsOf(const Kept& kept,
                                std::vector<Region>& regions) const {
    std::vector<int64_t> levels;
    int64_t rows = kept.bound;
    for (int level = 0; level < kMostLevels; ++level) {
      rows /= 2;
      if (rows < std::max(kFewestRows, kept.rows)) break;
      std::vector<Region> found = Regions(graph_, order_, kept, rows).Take();
      if (levels.empty())
        regions = std::move(found);
      else if (found != regions)
        break;
      levels.push_back(rows);
    }
    return levels;
  }

  void Limit(const Kept& kept, const Node& first) {
    std::vector<Region> regions;
    const std::vector<int64_t> levels = LevelsOf(kept, regions);
    if (levels.empty() || regions.empty()) return;
    GraphBuilder builder(graph_, first);
    const Value last =
        builder.Op<op::Max>({builder.Cast(kept.position, DType::kF32)});
    std::vector<Value> fits;
    for (const int64_t rows : levels) {
      fits.push_back(builder.Op<op::LesserEqualScalar>(
          {last}, {.scalar = static_cast<double>(rows - kept.rows)},
          "fit" + std::to_string(rows)));
    }
    for (const Region& region : regions) {
      std::vector<Value> values = Copy(region, kept.bound, kept.bound);
      for (size_t i = 0; i < levels.size(); ++i) {
        std::vector<Value> inputs = Copy(region, levels[i], kept.bound);
        inputs.insert(inputs.begin(), fits[i]);
        inputs.insert(inputs.end(), values.begin(), values.end());
        values = Choose(*region.exits[0], std::move(inputs), levels[i]);
      }
      auto value = values.begin();
      for (Node* exit : region.exits) {
        for (size_t i = 0; i < exit->types.size(); ++i) {
          replaced_.Add(exit->out(static_cast<int>(i)), *value++);
        }
      }
    }
    changed_ = true;
  }

  std::vector<Value> Choose(const Node& exit, std::vector<Value> inputs,
                            int64_t rows) {
    const int64_t count = std::ssize(inputs);
    return GraphBuilder(graph_, exit)
        .Ops<op::Choose>(std::move(inputs), {.num_args = count},
                         "filled" + std::to_string(rows));
  }

  // What the exits say, of the first `rows` rows.
  std::vector<Value> Copy(const Region& region, int64_t rows, int64_t bound) {
    std::unordered_map<Value, Value, ValueHash> copies;
    for (Node* node : region.nodes) {
      if (const CacheRowsAttrs* attrs = RowsKeptBy(*node)) {
        const Value whole = node->out();
        copies[whole] =
            rows == bound
                ? whole
                : GraphBuilder(graph_, *node)
                      .SliceAxis(whole, static_cast<int>(attrs->axis), 0, rows,
                                 "rows" + std::to_string(rows));
      } else {
        CopyNode(*node, rows, copies);
      }
    }
    std::vector<Value> values;
    for (Node* exit : region.exits) {
      Node* copy = CopyNode(*exit, rows, copies);
      for (size_t i = 0; i < copy->types.size(); ++i) {
        values.push_back(copy->out(static_cast<int>(i)));
      }
    }
    return values;
  }

  Node* CopyNode(Node& node, int64_t rows,
                 std::unordered_map<Value, Value, ValueHash>& copies) {
    std::vector<Value> inputs;
    Types types;
    for (const Value& input : node.inputs) {
      const auto copy = copies.find(input);
      inputs.push_back(copy != copies.end() ? copy->second : input);
      types.push_back(inputs.back().type());
    }
    Node* made =
        graph_.AddOperator(node.op, node.name + "/rows" + std::to_string(rows),
                           node.attrs, std::move(inputs));
    made->op_name = node.op_name;
    made->loc = node.loc;
    made->origins = OriginsOf(node);
    made->types = OutputTypes(graph_, node, std::move(types)).value();
    for (size_t i = 0; i < made->types.size(); ++i) {
      const int output = static_cast<int>(i);
      copies[node.out(output)] = made->out(output);
    }
    return made;
  }

  Graph& graph_;
  const std::vector<Node*> order_;
  Replacements replaced_;
  bool changed_ = false;
};

}  // namespace

Result<bool> ReadFilledRows(Graph& graph, PassContext&) {
  return FilledRows(graph).Run();
}

}  // namespace mxc
