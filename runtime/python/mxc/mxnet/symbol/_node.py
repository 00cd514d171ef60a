# SPDX-License-Identifier: Apache-2.0
"""Nodes of graphs, and walks over them."""

from . import _operators


class Node:
    """A variable (op None), or an operator's call.

    attrs: name -> text. inputs: (node, number of its output). subgraphs: those
    of control flow.
    """

    __slots__ = ("attrs", "inputs", "name", "op", "subgraphs", "_signature")

    def __init__(self, op, name, attrs=None, inputs=(), subgraphs=()):
        self.op = op
        self.name = name
        self.attrs = dict(attrs or {})
        self.inputs = list(inputs)
        self.subgraphs = list(subgraphs)
        self._signature = None

    @property
    def signature(self):
        """The operator's, for these attributes."""
        if self._signature is None:
            self._signature = _operators.signature(self.op, self.attrs,
                                                   len(self.inputs))
        return self._signature

    def states(self):
        """The positions of the inputs that the operator updates."""
        return self.signature.states if self.op else ()

    def outputs(self):
        """How many outputs other nodes can read."""
        return self.signature.visible if self.op else 1

    def output_name(self, index):
        """Of one output, as MXNet makes it."""
        if self.op is None:
            return self.name
        return f"{self.name}_{self.signature.outputs[index]}"


def walk(heads, stops=None):
    """All nodes from which the entries (node, index) follow, inputs first.
    Nodes for which stops(node) is true are left out, and what they read."""
    order, seen = [], set()
    if stops is not None:
        heads = [head for head in heads if not stops(head[0])]
    for head, _ in heads:
        if id(head) in seen:
            continue
        seen.add(id(head))
        stack = [(head, iter(head.inputs))]
        while stack:
            node, rest = stack[-1]
            for reached, _ in rest:
                if id(reached) not in seen and not (stops and stops(reached)):
                    seen.add(id(reached))
                    stack.append((reached, iter(reached.inputs)))
                    break
            else:
                order.append(node)
                stack.pop()
    return order


def updated_variables(order):
    """The ids of the variables that are states of some operator."""
    return {id(node.inputs[i][0]) for node in order if node.op
            for i in node.states() if i < len(node.inputs)}


def copied(heads, replaced=None):
    """The entries of a copy of the graph; `replaced`: id of a variable -> entry
    that takes its place."""
    replaced = replaced or {}
    copies = {}

    def entry(of):
        node, index = of
        return replaced.get(id(node)) or (copies[id(node)], index)

    for node in walk(heads):
        if id(node) not in replaced:
            copies[id(node)] = Node(node.op, node.name, node.attrs,
                                    [entry(i) for i in node.inputs],
                                    node.subgraphs)
    return [entry(head) for head in heads]


def cut(heads, stops, variable):
    """The entries of a copy of the graph that ends at nodes for which
    stops(node) is true: variable(node, index) takes the place of their outputs.
    Other variables are not copied."""
    copies, ends = {}, {}

    def entry(of):
        node, index = of
        if id(node) in copies:
            return copies[id(node)], index
        if (id(node), index) not in ends:
            ends[id(node), index] = variable(node, index)
        return ends[id(node), index], 0

    for node in walk(heads, stops):
        copies[id(node)] = node if node.op is None else Node(
            node.op, node.name, node.attrs, [entry(i) for i in node.inputs],
            node.subgraphs)
    return [entry(head) for head in heads]
