// SPDX-License-Identifier: Apache-2.0
// What every front end does with variables and outputs.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_set>

#include "frontend/frontend.h"
#include "ir/graph/graph.h"
#include "ir/graph/output_names.h"

namespace mxc {

// A graph output, named as MXNet's list_outputs() names it: "conv0_output".
// `namer` serves for one output after the other.
void AddOutput(Graph& graph, Value value, OutputNamer& namer);

// The variable's type from its annotations __shape__ and __dtype__, MXNet's
// hints. Texts that make no sense are passed over, as MXNet does. With NumPy's
// shapes 0 is an extent and -1 unknown; without, both are unknown.
void SetAnnotatedType(Node& variable, bool numpy_shapes);

// Says the shape of a variable as __shape__, whose batch axis stays open.
void AnnotateShape(Node& variable, Shape shape, bool numpy_shapes);

// Says the shape that it has as __shape__, open extents as 0.
void AnnotateShape(Node& variable);

// Says the element type that it has as __dtype__.
void AnnotateType(Node& variable);

// States are what feeds an auxiliary input; parameters what feeds a parameter
// input, or is named or annotated like one; the rest are inputs.
void AssignRoles(Graph& graph);

// Marks the inputs that the outputs depend on, MXNet's list_arguments(), as
// declared: what optimization makes of the network takes them still.
void DeclareInputs(Graph& graph);

// Sets the shapes and types that the caller gives, and the batch; see
// BuildOptions.
Status SetInputTypes(Graph& graph, const BuildOptions& options);

// The axis of `__layout__`'s N; -1: the layout has none, and the variable is the
// same for all samples; 0 where nobody says.
int BatchAxis(const Node& variable, int rank);

// The inputs' axes of unknown extent behind the batch. What `visit` makes of the
// extent stays.
void VisitOpenAxes(
    Graph& graph,
    const std::function<void(Node& input, int axis, int64_t& extent)>& visit);

// Gives inputs of which only the batch is open the batch of the others, or 1
// where those have none or several.
void CloseBatches(Graph& graph);

// The variables that feed label inputs of loss heads and nothing else.
std::unordered_set<const Node*> LabelsOf(const Graph& graph);
// Of a single one.
bool IsLabel(const Graph& graph, const Node& variable);

// What a symbol, which knows no constants, writes of one: to MXNet it is an
// argument of that shape and type.
std::map<std::string, std::string> AnnotationsOfConstant(const Tensor& value);
// The constant that a variable with these annotations stands for; nullopt where
// it is a variable.
std::optional<Tensor> AnnotatedConstant(const Node& variable);

}  // namespace mxc
