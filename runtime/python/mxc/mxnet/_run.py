# SPDX-License-Identifier: Apache-2.0
"""How a graph is computed: compiled as one program, or node by node where Python
computes some nodes, somebody watches, or compiling does not pay yet."""

import contextlib

from .. import _ndarray
from . import ndarray as nd
from .ndarray._invoke import call
from .symbol import _operators
from .symbol._infer import graph_of, is_custom
from .symbol._json import variables
from .symbol._node import Node, walk


@contextlib.contextmanager
def recorded(recording, training):
    """Within, calls are recorded for gradients, and are those of training."""
    before = _ndarray.set_recording(recording), _ndarray.set_training(training)
    try:
        yield
    finally:
        _ndarray.set_recording(before[0])
        _ndarray.set_training(before[1])


# Its values say how many rows it gives, which no program of known shapes can.
_MASK = "_contrib_boolean_mask"


def runner_of(symbol, ctx):
    """What computes the symbol's outputs of arrays of its arguments and states."""
    if any(is_custom(node) or node.op == _MASK for node in walk(symbol._heads)):
        return NodeByNode(symbol, ctx)
    return Compiled(symbol, ctx)


class NodeByNode:
    """Calls one operator after the other."""

    def __init__(self, symbol, ctx):
        self._symbol = symbol
        self._ctx = ctx
        self._order = walk(symbol._heads)
        self._variables = [node for part in variables(symbol._heads)
                           for node in part]
        self._customs = {}
        self._sources = [node for node in self._order
                         if node.op and not node.inputs and "shape" in node.attrs]
        self._source_shapes = {}
        self._inferred_for = None

    def _infer_sources(self, inputs):
        """The shapes of nodes without inputs: what reads them may say it."""
        if not self._sources:
            return
        shapes = {node.name: array.shape
                  for node, array in zip(self._variables, inputs)}
        if shapes == self._inferred_for:
            return
        self._inferred_for = shapes
        _, found, _ = type(self._symbol)(
            [(node, 0) for node in self._sources]
            + self._symbol._heads).infer_shape_partial(**shapes)
        self._source_shapes = {id(node): shape for node, shape
                               in zip(self._sources, found)}

    def run(self, inputs, training):
        """Arrays of the outputs; inputs: of arguments, then states."""
        return self.run_watched(inputs, training, None, False)

    def run_watched(self, inputs, training, watch, with_inputs):
        """The same; watch(name, array) is told each output, and each input: before an
        operator's input the variable that it is."""
        values = {(id(node), 0): array
                  for node, array in zip(self._variables, inputs)}
        self._infer_sources(inputs)
        for node in self._order:
            if node.op is None:
                continue
            read = [values[id(of), index] for of, index in node.inputs]
            if watch and with_inputs:
                self._show_inputs(node, read, watch)
            found = self._call(node, read, training)
            for index in range(node.outputs()):
                values[id(node), index] = found[index]
                if watch:
                    watch(node.output_name(index),
                          nd.NDArray(found[index], self._ctx))
        return [values[id(node), index] for node, index in self._symbol._heads]

    def _show_inputs(self, node, arrays, watch):
        for (of, _), name, array in zip(node.inputs, _operators.input_names(node), arrays):
            shown = nd.NDArray(array, self._ctx)
            if of.op is None:
                watch(of.name, shown)
            watch(f"{node.name}_{name}", shown)

    def _call(self, node, arrays, training):
        if is_custom(node):
            from .operator import CustomCall
            if id(node) not in self._customs:
                self._customs[id(node)] = CustomCall(node.attrs, self._ctx)
            return self._customs[id(node)](arrays, training)
        if node.op in _operators.CONTROL_FLOW:
            return self._call_subgraphs(node, arrays, training)
        if node.op == _MASK:
            data, index = (nd.NDArray(array, self._ctx) for array in arrays)
            return [nd.contrib.boolean_mask(
                data, index, int(node.attrs.get("axis", 0)))._array]
        params = _operators.find(node.op).params
        attrs = tuple((name, value) for name, value in node.attrs.items()
                      if name in params)
        if id(node) in self._source_shapes:
            attrs = tuple((name, value) for name, value in attrs
                          if name != "shape")
            attrs += (("shape", str(self._source_shapes[id(node)])),)
        return call(node.op, arrays, attrs)

    @staticmethod
    def _call_subgraphs(node, arrays, training):
        inputs = [(Node(None, f"input{i}"), 0) for i in range(len(arrays))]
        alone = Node(node.op, node.name, node.attrs, inputs, node.subgraphs)
        graph = graph_of([(alone, i) for i in range(alone.outputs())])
        by_name = dict(zip((of.name for of, _ in inputs), arrays))
        return graph.call([by_name[name] for name in
                           [*graph.arguments, *graph.auxiliary]], training)


# A graph of so many operators, an unrolled network for one, takes seconds to
# compile: it runs node by node at first, as the same operators come again and
# again, and is compiled when it has run so often that this pays.
_LARGE = 120
_RUNS_BEFORE_COMPILED = 16


class Compiled(NodeByNode):
    """One program for the whole graph."""

    def __init__(self, symbol, ctx):
        super().__init__(symbol, ctx)
        self._graph = graph_of(symbol._heads)
        operators = sum(node.op is not None for node in self._order)
        self._waits = _RUNS_BEFORE_COMPILED if operators >= _LARGE else 0

    def run(self, inputs, training):
        if self._waits > 0:
            self._waits -= 1
            return super().run(inputs, training)
        return self._graph.call(inputs, training)
