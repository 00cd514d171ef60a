# SPDX-License-Identifier: Apache-2.0
"""Shapes and types of a symbol's variables and outputs, by the compiler.

Where Python's own operators stand in the graph, it is cut at them: the compiler
infers what lies between, their CustomOpProp what lies across. For types it is cut at
loops over data, too, which the compiler knows by their length alone: what lies across
is inferred of the body.
"""

import functools
import re

import numpy as np

from ..base import MXNetError, dtype_name
from . import _json
from ._node import Node, cut, walk


@functools.lru_cache(maxsize=256)
def _graph_of_text(text):
    from ... import _ndarray
    return _ndarray.Graph(text)


def graph_of(heads):
    """The compiler's graph with these heads; equal ones share their code."""
    return _graph_of_text(_json.write(heads))


def is_custom(node):
    """Whether Python computes the node."""
    return node.op == "Custom"


def _np_shape():
    from ..util import is_np_shape
    return bool(is_np_shape())


def _given(symbol, args, kwargs, what):
    """What the caller says, by name."""
    names = symbol.list_arguments()
    if args and kwargs:
        raise ValueError(f"{what} are given by position and by name; expected one "
                         "of the two")
    if len(args) > len(names):
        raise MXNetError(f"{len(args)} {what} for {len(names)} arguments")
    given = dict(zip(names, args)) or dict(kwargs)
    inputs = {*names, *symbol.list_auxiliary_states()}
    for name in given:
        if name not in inputs:
            raise MXNetError(f"there is no argument {name!r}, expected one of "
                             f"{', '.join(sorted(inputs))}")
    return {name: value for name, value in given.items() if value is not None}


class _Cut:
    """The graph between nodes such as Python's operators: their outputs are variables,
    their inputs further heads."""

    def __init__(self, heads, is_cut=is_custom):
        heads = list(heads)
        self.customs = [node for node in walk(heads) if is_cut(node)]
        self.outputs = len(heads)
        self.places = []
        for node in self.customs:
            self.places.append(range(len(heads), len(heads) + len(node.inputs)))
            heads += node.inputs
        if self.customs:
            heads = cut(heads, is_cut, lambda node, index: Node(
                None, node.output_name(index)))
        self.graph = graph_of(heads)

    def infer(self, given, across, infer):
        """infer(given) -> (values of variables, values of heads), again and again
        while across(node, values of its inputs) -> (values of inputs, of
        outputs) or None tells more."""
        given = dict(given)
        waiting = dict(enumerate(self.customs))
        while True:
            values, heads = infer(self.graph, given)
            found = {}
            for i, node in waiting.items():
                told = across(node, [heads[place] for place in self.places[i]])
                if told is not None:
                    found[i] = told
            if not found:
                return values, heads[:self.outputs]
            for i, (inputs, outputs) in found.items():
                node = waiting.pop(i)
                for (of, _), value in zip(node.inputs, inputs):
                    if of.op is None:
                        given.setdefault(of.name, value)
                for index, value in enumerate(outputs):
                    given[node.output_name(index)] = value


def _complete(shape):
    return bool(shape) and all(extent > 0 for extent in shape)


def _shapes_across(node, shapes):
    from ..operator import prop_of
    if not shapes or not _complete(shapes[0]) or any(
            not _complete(shape) for shape, (of, _) in zip(shapes, node.inputs)
            if of.op):
        return None
    prop = prop_of(node.attrs)
    arguments = len(prop.list_arguments())
    told = prop.infer_shape([list(shape) for shape in shapes[:arguments]])
    inputs, outputs = told[0], told[1]
    states = told[2] if len(told) > 2 else []
    return ([tuple(shape) for shape in [*inputs, *states]],
            [tuple(shape) for shape in outputs])


def _infer_shapes(graph, given):
    values, _, heads, _ = graph.infer(given, {}, True)
    return values, list(heads)


def shapes(symbol, args, kwargs, partial):
    """See Symbol.infer_shape."""
    np_shape = _np_shape()
    if np_shape and not partial:
        found = _with_rank_0(symbol, _given(symbol, args, kwargs, "shapes"))
        if found is not None:
            return found
    given = {name: tuple(max(int(extent), 0) for extent in _extents(shape))
             for name, shape in _given(symbol, args, kwargs, "shapes").items()}
    given = {name: shape for name, shape in given.items() if shape}
    values, heads = _Cut(symbol._heads).infer(given, _shapes_across, _infer_shapes)
    if partial:
        values = _as_far_as_mxnet(symbol, values)
        heads = [() if _waits(node, values) else shape
                 for (node, _), shape in zip(symbol._heads, heads)]
    found = ([values.get(name, ()) for name in symbol.list_arguments()], heads,
             [values.get(name, ()) for name in symbol.list_auxiliary_states()])
    if not partial and not all(_known(shape) for part in found for shape in part):
        return None, None, None
    return tuple([_shown(shape, np_shape) for shape in part] for part in found)


def _with_rank_0(symbol, given):
    """The shapes where () is one; None where they do not follow from the given ones."""
    given = {name: tuple(_extents(shape)) for name, shape in given.items()
             if shape is not None and min(_extents(shape), default=1) > 0}
    try:
        values, _, heads, _ = graph_of(symbol._heads).infer(given, {}, False)
    except (MXNetError, RuntimeError):
        return None
    return ([tuple(values[name]) for name in symbol.list_arguments()],
            [tuple(shape) for shape in heads],
            [tuple(values[name]) for name in symbol.list_auxiliary_states()])


# Layers of which MXNet infers nothing before the rank of their data is known.
_WAIT_FOR_DATA = {"FullyConnected", "Convolution", "Deconvolution", "Embedding"}


def _as_far_as_mxnet(symbol, values):
    """The shapes without those that only the layer's attributes tell."""
    values = dict(values)
    for node in walk(symbol._heads):
        if node.op not in _WAIT_FOR_DATA or node.inputs[0][0].op:
            continue
        names = [of.name for of, _ in node.inputs if of.op is None]
        if not any(values.get(names[0], ())):
            for name, (of, _) in zip(names, node.inputs):
                if "__shape__" not in of.attrs:
                    values[name] = ()
    return values


# Operators of which MXNet infers no output before the extents of all inputs are known,
# from this axis on.
_WAIT_FOR_ALL = {"where": 0, "batch_dot": 1}


def _waits(node, values):
    first = _WAIT_FOR_ALL.get(node.op)
    return first is not None and any(
        not values.get(of.name) or 0 in values[of.name][first:]
        for of, _ in node.inputs if of.op is None)


def _extents(shape):
    return shape if isinstance(shape, (tuple, list)) else (shape,)


def _known(shape):
    return shape is not None and len(shape) > 0 and 0 not in shape


def _shown(shape, np_shape):
    """0 is unknown, or under np_shape −1; () an unknown shape, or None."""
    if not np_shape:
        return tuple(shape or ())
    return tuple(extent or -1 for extent in shape) if shape else None


def _is_loop(node):
    return node.op in ("_foreach", "_npx_foreach")


def _types_of(heads, given):
    """(types by variable, types of the heads), None where one does not follow."""
    return _Cut(heads, lambda node: is_custom(node) or _is_loop(node)).infer(
        given, _types_across, _infer_types)


def _types_through(node, types):
    """The types of a loop's inputs and outputs, once all follow from its body."""
    heads, = node.subgraphs
    variables = dict(enumerate(of.name for of in walk(heads) if of.op is None))
    data, states, rest = ([variables.get(int(place)) for place
                           in re.findall(r"\d+", node.attrs.get(name, ""))]
                          for name in ("in_data_locs", "in_state_locs", "remain_locs"))
    names = data + states + rest
    if None in names or len(states) > len(heads):
        return None  # who compiles it says what is wrong
    known = {name: kind for name, kind in zip(names, types) if kind}
    while True:
        values, found = _types_of(heads, known)
        last = found[len(found) - len(states):]
        # A state has the type of the next turn's.
        told = {name: kind for name, kind in zip(states, last)
                if kind and not values.get(name)}
        if not told:
            break
        known.update(told)
    inputs = [values.get(name) for name in names]
    outputs = found[:len(found) - len(states)] + [values.get(name) for name in states]
    return (inputs, outputs) if all(inputs) and all(outputs) else None


def _types_across(node, types):
    from ..operator import prop_of
    if _is_loop(node):
        return _types_through(node, types)
    if not types or any(kind is None for kind, (of, _) in zip(types, node.inputs)
                        if of.op):
        return None
    prop = prop_of(node.attrs)
    arguments = len(prop.list_arguments())
    first = next((kind for kind in types if kind), None)
    if first is None:
        return None
    told = prop.infer_type([np.dtype(kind or first).type
                            for kind in types[:arguments]])
    return ([dtype_name(kind) for part in (told[0], told[2] if len(told) > 2
                                           else []) for kind in part],
            [dtype_name(kind) for kind in told[1]])


def _infer_types(graph, given):
    _, values, _, heads = graph.infer({}, given, True)
    return values, [kind or None for kind in heads]


def types(symbol, args, kwargs, partial):
    """See Symbol.infer_type."""
    given = {name: dtype_name(kind) for name, kind
             in _given(symbol, args, kwargs, "types").items()}
    values, heads = _types_of(symbol._heads, given)
    arguments = [values.get(name) or None for name in symbol.list_arguments()]
    states = [values.get(name) or None
              for name in symbol.list_auxiliary_states()]
    found = (arguments, heads, states)
    if not partial and any(kind is None for part in found for kind in part):
        return None, None, None
    return tuple([None if kind is None else np.dtype(kind).type for kind in part]
                 for part in found)


def output_types(symbol, shapes, types):
    """Shapes and types of the outputs, by those of all arguments; None where these do
    not tell them. Both together, as those of a loop need both."""
    if any(is_custom(node) for node in walk(symbol._heads)):
        _, found, _ = symbol.infer_shape(**shapes)
        _, kinds, _ = symbol.infer_type(**types)
        return None if found is None or kinds is None else list(zip(found, kinds))
    types = {name: dtype_name(kind) for name, kind in types.items()}
    try:
        _, _, found, kinds = graph_of(symbol._heads).infer(shapes, types, False)
    except (MXNetError, RuntimeError):
        return None
    return list(zip(found, kinds))
