# SPDX-License-Identifier: Apache-2.0
"""A symbol as one compiled program over arrays."""
import json

from .. import _ndarray, autograd
from ..ndarray import NDArray, _invoke

# Operators whose code is Python's: a graph with one runs node by node.
_PYTHON_OPERATORS = frozenset(("Custom",))


class Graph:
    """Calls a symbol with arrays in the order of `names` (`Symbol.list_inputs()`).

    One program is compiled for each shape; while autograd records, a call is one record
    of the tape. Auxiliary arrays are updated in training.
    """

    def __init__(self, symbol):
        text = symbol.tojson()
        self._nodes = _Nodes(json.loads(text))
        self._graph = None
        if not self._nodes.operators & _PYTHON_OPERATORS:
            self._graph = _ndarray.Graph(text)
            self._order = list(self._graph.arguments) + list(self._graph.auxiliary)
        self.names = symbol.list_inputs()

    def __call__(self, arrays, monitor=None):
        """The outputs for `arrays`; `monitor(name, operator, array)` sees each node's."""
        values = dict(zip(self.names, arrays))
        if self._graph is None or monitor is not None:
            return self._nodes.run(values, monitor)
        outputs = self._graph.call([values[name]._array for name in self._order],
                                   autograd.is_training())
        ctx = arrays[0].context if arrays else None
        return [NDArray(output, ctx) for output in outputs]


class _Nodes:
    """The nodes of a symbol's JSON, run one by one."""

    def __init__(self, graph):
        self._nodes = graph["nodes"]
        self._heads = graph["heads"]
        self.operators = {node["op"] for node in self._nodes}

    def run(self, values, monitor=None):
        """Outputs by the values of variables."""
        results = []
        for node in self._nodes:
            if node["op"] == "null":
                results.append([values[node["name"]]])
                continue
            inputs = [results[entry[0]][entry[1]] for entry in node["inputs"]]
            attrs = {key: value for key, value in node.get("attrs", {}).items()
                     if not key.startswith("__")}
            outputs = _invoke(node["op"], inputs, attrs)
            outputs = outputs if isinstance(outputs, (list, tuple)) else [outputs]
            results.append(outputs)
            if monitor is not None:
                monitor(node, inputs, outputs)
        return [results[head[0]][head[1]] for head in self._heads]
