# SPDX-License-Identifier: Apache-2.0
"""Updates of many weights as one program.

An optimizer's update() that calls apply() once and does nothing after it is marked
with @one_call. A step over several weights then collects these calls and makes one
program of them, which is compiled once: rates are its inputs.
"""

import contextlib
import functools
import json
from collections import OrderedDict

import numpy as np

from ... import _ndarray
from .. import ndarray as nd
from ..ndarray._invoke import attribute_pairs, is_watched, rates_apart
from .base import Optimizer

# Programs by what they compute; the one that was used longest ago goes first.
_KEPT = 64
_programs = OrderedDict()

_collected = None  # calls that wait: (operator, arrays, attributes, output)


def one_call(update):
    """Marks an update() after whose only apply() nothing happens."""
    update.is_one_call = True
    return update


def apply(op, arrays, out, **attrs):
    """Calls an operator that updates, or has it wait for others; attributes that
    are None are left out."""
    given = {name: value for name, value in attrs.items() if value is not None}
    if _collected is not None:
        _collected.append((op, arrays, given, out))
        return out
    return nd._invoke(op, arrays, given, out)


def may_collect(optimizer, weights, grads):
    """Whether updates of these weights are one call each, of dense arrays."""
    rules = type(optimizer)
    return (len(weights) > 1 and getattr(rules.update, "is_one_call", False)
            and rules.update_multi_precision is Optimizer.update_multi_precision
            and not _ndarray.is_recording() and not is_watched()
            and all(array.stype == "default" and type(array._array) is _ndarray.Array
                    for array in (*weights, *grads))
            and not (optimizer.multi_precision
                     and any(weight.dtype == np.float16 for weight in weights)))


@contextlib.contextmanager
def collected():
    """Within, updates wait; in the end all are called as one program."""
    global _collected
    _collected = []
    try:
        yield
    finally:
        calls, _collected = _collected, None
        if calls:
            _call(calls)


@functools.lru_cache(maxsize=1024)
def _prepared(op, attrs):
    """Attributes as pairs of texts, and the arrays of rates that are inputs."""
    rates, rest = rates_apart(op, [], dict(attrs))
    return attribute_pairs(rest), rates


def _call(calls):
    inputs, places, parts = [], {}, []
    for op, arrays, attrs, _ in calls:
        pairs, rates = _prepared(op, tuple(attrs.items()))
        part = [op, pairs]
        for array in [*[array._array for array in arrays], *rates]:
            place = places.setdefault(id(array), len(inputs))
            if place == len(inputs):
                inputs.append(array)
            part.append(place)
        parts.append(tuple(part))
    key = tuple(parts)
    program = _programs.get(key)
    if program is None:
        program = _programs[key] = _Program(key, len(inputs))
        if len(_programs) > _KEPT:
            _programs.popitem(last=False)
    program.call(inputs, [out._array for _, _, _, out in calls])


class _Program:
    """Operators, each with its attributes as pairs of texts and the numbers of its
    inputs."""

    def __init__(self, parts, inputs):
        nodes = [{"op": "null", "name": str(i), "inputs": []} for i in range(inputs)]
        for op, pairs, *places in parts:
            nodes.append({"op": op, "name": f"update{len(nodes)}",
                          "attrs": dict(pairs),
                          "inputs": [[place, 0, 0] for place in places]})
        self._graph = _ndarray.Graph(json.dumps({
            "nodes": nodes, "arg_nodes": list(range(inputs)),
            "heads": [[i, 0, 0] for i in range(inputs, len(nodes))]}))
        self._order = [int(name) for name in (*self._graph.arguments,
                                              *self._graph.auxiliary)]

    def call(self, inputs, outputs):
        self._graph.call([inputs[i] for i in self._order], True, outputs)
