# SPDX-License-Identifier: Apache-2.0
"""Updates of many weights as one program.

An optimizer's update() that calls apply() once and does nothing after it is marked
with @one_call. A step over several weights then collects these calls and makes one
program of them, which is compiled once: rates are its inputs. A step that finds all
as the last one did is called again without asking the optimizer for each weight.
"""

import functools
import json
import operator
import threading
from collections import OrderedDict

import numpy as np

from ... import _ndarray
from .. import ndarray as nd
from ..ndarray._invoke import attribute_pairs, is_watched, rates_apart
from .base import Optimizer

# Programs by what they compute; the one that was used longest ago goes first.
_KEPT = 64
_programs = OrderedDict()


class _Collected(threading.local):
    """What waits, of each thread."""

    calls = None  # (operator, arrays, attributes, output); None: nothing waits


_collected = _Collected()


def one_call(update):
    """Marks an update() after whose only apply() nothing happens."""
    update.is_one_call = True
    return update


def of_settings(*names):
    """The same for one whose call follows from rate, decay, state and what all
    optimizers and this one have under these names; not from how often it was made."""
    def mark(update):
        update.settings = operator.attrgetter("rescale_grad", "clip_gradient", *names)
        return one_call(update)
    return mark


def apply(op, arrays, out, **attrs):
    """Calls an operator that updates, or has it wait for others; attributes that
    are None are left out."""
    waiting = _collected.calls
    if waiting is None:
        return nd._invoke(op, arrays, _given(attrs), out)
    waiting.append((op, [array._array for array in arrays], attrs, out._array))
    return out


def _given(attrs):
    return {name: value for name, value in attrs.items() if value is not None}


def may_collect(optimizer, weights, grads):
    """Whether updates of these weights are one call each, of dense arrays."""
    rules = type(optimizer)
    return (len(weights) > 1 and getattr(optimizer.update, "is_one_call", False)
            and rules.update_multi_precision is Optimizer.update_multi_precision
            and not _ndarray.is_recording() and not is_watched()
            and all(map(_is_dense, weights)) and all(map(_is_dense, grads))
            # One that is there twice is updated twice, one after the other.
            and len({id(weight._array) for weight in weights}) == len(weights)
            and not (optimizer.multi_precision
                     and any(weight.dtype == np.float16 for weight in weights)))


def _is_dense(array):
    return array.stype == "default" and type(array._array) is _ndarray.Array


class Together:
    """Steps over the same weights, each of them one program."""

    def __init__(self):
        self._calls = None  # of the last step
        self._last = None  # the program, its inputs and outputs then
        self._read = None  # what they follow from; None: that is not known
        self._states = None

    def step(self, update):
        """Calls `update()`; what that applies waits and is called in the end."""
        _collected.calls = calls = []
        try:
            update()
        finally:
            _collected.calls = None
            if calls:
                self._call(calls)

    def _call(self, calls):
        # Arrays are compared by who they are: mostly nothing is new.
        if calls != self._calls:
            self._last = _program_of(calls)
            self._calls = calls
        program, inputs, outputs = self._last
        program.call(inputs, outputs)

    def note(self, optimizer, states, indices, grads, weights):
        """That this was what the last step has read."""
        self._states = [states[index] for index in indices]
        self._read = self._reads(optimizer, states, indices, grads, weights)

    def forget(self):
        """The next step is not like the last one."""
        self._read = self._states = None

    def again(self, optimizer, states, indices, grads, weights):
        """Does as the last step did, if all that it has read is the same; whether it
        is."""
        if self._read is None or _ndarray.is_recording() or is_watched():
            return False
        if self._reads(optimizer, states, indices, grads, weights) != self._read:
            return False
        optimizer._update_count(indices)
        program, inputs, outputs = self._last
        program.call(inputs, outputs)
        return True

    @staticmethod
    def _reads(optimizer, states, indices, grads, weights):
        rules = type(optimizer)
        settings = getattr(optimizer.update, "settings", None)
        # Subclasses of others may do anything.
        if settings is None or optimizer.lr_scheduler is not None or (
                not rules.__module__.startswith(_HERE)):
            return None
        return (optimizer, settings(optimizer), tuple(indices),
                optimizer._get_lrs(indices), optimizer._get_wds(indices),
                [id(states.get(index)) for index in indices],
                [grad._array for grad in grads], [weight._array for weight in weights])


_HERE = __name__.rpartition(".")[0]


@functools.lru_cache(maxsize=1024)
def _prepared(op, attrs):
    """Attributes as pairs of texts, and the arrays of rates that are inputs."""
    rates, rest = rates_apart(op, [], _given(dict(attrs)))
    return attribute_pairs(rest), rates


def _program_of(calls):
    """The graph, and its inputs and outputs."""
    inputs, places, parts = [], {}, []
    for op, arrays, attrs, _ in calls:
        pairs, rates = _prepared(op, tuple(attrs.items()))
        part = [op, pairs]
        for array in [*arrays, *rates]:
            place = places.setdefault(id(array), len(inputs))
            if place == len(inputs):
                inputs.append(array)
            part.append(place)
        parts.append(tuple(part))
    key = tuple(parts)
    program = _programs.pop(key, None) or _Program(key, len(inputs))
    _programs[key] = program  # the last one
    if len(_programs) > _KEPT:
        _programs.popitem(last=False)
    return (program, [inputs[i] for i in program.order],
            [out for _, _, _, out in calls])


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
        self.order = [int(name) for name in (*self._graph.arguments,
                                             *self._graph.auxiliary)]

    def call(self, inputs, outputs):
        """inputs: in its order."""
        self._graph.call(inputs, True, outputs)
