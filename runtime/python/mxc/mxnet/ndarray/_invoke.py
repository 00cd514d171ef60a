# SPDX-License-Identifier: Apache-2.0
"""Calls operators: texts of attributes, operators that are kept, results."""

import functools
import json
from collections import OrderedDict

import numpy

from ... import _ndarray
from ..base import MXNetError, attribute_text
from . import _empty

# Operators with their attributes, which keep the code that was compiled for them;
# the one that was used longest ago goes first.
_KEPT = 4096
_operators = OrderedDict()

is_recording = getattr(_ndarray, "is_recording", lambda: False)
is_training = getattr(_ndarray, "is_training", lambda: False)

#: Rows of `mxc ops --json` by each of their names.
TABLE = {name: row
         for row in json.loads(_ndarray.operators_json())["operators"]
         for name in [row["name"], *row["aliases"]]}


# Updates of weights whose rates may be inputs: a schedule compiles nothing anew.
_WITH_RATES = {name for name, row in TABLE.items()
               if any(attr["name"] == "rates_as_inputs" for attr in row["attributes"])}


@functools.lru_cache(maxsize=256)
def _number(value):
    return _ndarray.from_numpy(numpy.array([value], "float32"))


def has_rates(op_name):
    """Whether lr and wd of the operator are inputs."""
    return op_name in _WITH_RATES


def rates_apart(op_name, arrays, attrs):
    """An update's arrays with lr and wd behind them, and its other attributes."""
    if op_name not in _WITH_RATES or "rates_as_inputs" in attrs:
        return arrays, attrs
    attrs = dict(attrs)
    rates = [float(attrs.pop("lr", 0)), float(attrs.pop("wd", 0) or 0)]
    return (arrays + [_number(rate) for rate in rates],
            {**attrs, "lr": 0, "rates_as_inputs": True})


def operator(name, attrs):
    """The operator with attributes as pairs of texts; MXNetError for wrong ones."""
    key = (name, attrs)
    found = _operators.get(key)
    if found is None:
        found = _operators[key] = _ndarray.Operator(name, list(attrs))
        if len(_operators) > _KEPT:
            _operators.popitem(last=False)
    return found


def attribute_pairs(attrs):
    """Attributes as pairs of texts; `None` stays where it is a value."""
    return tuple((name, attribute_text(value)) for name, value in attrs.items())


def call(name, arrays, attrs=(), outputs=None, shown_as=None):
    """Calls over arrays of mxc._ndarray; attributes are pairs of texts. shown_as: the
    name that who watches is told."""
    if _watch is not None:
        return _watch(shown_as or name, lambda: _call(name, arrays, attrs, outputs))
    return _call(name, arrays, attrs, outputs)


def watched(name, array):
    """The array, of an operator that needs no call, as who watches sees one."""
    if _watch is not None:
        _watch(name, lambda: [array])
    return array


def _call(name, arrays, attrs, outputs):
    try:
        return operator(name, attrs).call(arrays, outputs, is_training())
    except TypeError:
        if not any(isinstance(array, _empty.EmptyArray) for array in arrays):
            raise
        return _empty.call(name, arrays, attrs, outputs)


_watch = None


def watch_calls(watch):
    """From now on every call is made by `watch(name, call)`, which gives what
    `call()` does; None: by nobody."""
    global _watch
    _watch = watch


def is_watched():
    """Whether somebody watches calls."""
    return _watch is not None


def signature(name, attrs, inputs=1):
    """Names and kinds of inputs, and outputs: see mxc._ndarray.signature_json."""
    return json.loads(_ndarray.signature_json(name, list(attribute_pairs(attrs)),
                                              inputs))


def _invoke(op_name, inputs, attrs, out=None):
    """Calls any operator of the table.

    inputs: a list of NDArrays; attrs: values by name, written as MXNet writes
    them; out: an NDArray, or a list of them. Returns an NDArray, or a list where
    there are several. What is called while autograd records is recorded.
    """
    if _sparse is not None:
        found = _sparse.invoke(op_name, inputs, attrs, out)
        if found is not None:
            return found
    return invoke_dense(op_name, inputs, attrs, out)


def invoke_dense(op_name, inputs, attrs, out=None):
    """_invoke over arrays none of which is sparse."""
    ctx = None
    if attrs:
        attrs = dict(attrs)
        ctx = attrs.pop("ctx", None)
    given = [array._array for array in inputs]
    if attrs:
        given, attrs = rates_apart(op_name, given, attrs)
    where = (inputs[0]._ctx if inputs else
             None if out is not None else _context_of(ctx))
    return _results(op_name, given, attribute_pairs(attrs), out, where,
                    type(inputs[0]) if inputs else _array_class)


def call_arrays(op_name, inputs, pairs, out):
    """_invoke for attributes as pairs of texts and at least one input."""
    return _results(op_name, [array._array for array in inputs], pairs, out,
                    inputs[0]._ctx, type(inputs[0]))


def _results(op_name, given, pairs, out, where, cls):
    """cls: of the results, that of the first input: of mx.np's arrays come mx.np's."""
    if out is not None:
        outs = out if isinstance(out, (list, tuple)) else [out]
        call(op_name, given, pairs, [array._array for array in outs])
        return out
    arrays = call(op_name, given, pairs)
    if len(arrays) == 1:
        return cls(arrays[0], where)
    return [cls(array, where) for array in arrays]


_dispatch = None  # of mx.nd.sparse, which is made over this module
_sparse = None  # the same, from the first sparse array on: dense programs do not ask


def set_sparse(dispatch):
    """The module that calls operators over sparse arrays."""
    global _dispatch
    _dispatch = dispatch


def sparse_arrays_exist():
    """Operators look for sparse arrays from here on."""
    global _sparse
    _sparse = _dispatch


def binary_of_sparse(name, left, right, out):
    """What a broadcasting operator gives where an array is sparse, else None."""
    return None if _sparse is None else _sparse.binary(name, left, right, out)


_array_class = None  # NDArray, which is made over this module


def give_results_as(cls):
    """The class of which _invoke makes results."""
    global _array_class
    _array_class = cls


def _context_of(ctx):
    from ..context import Context, current_context
    if ctx is None:
        return current_context().check()
    if isinstance(ctx, str):
        name, _, number = ctx.rstrip(")").partition("(")
        ctx = Context(name, int(number or 0))
    return ctx.check()


__all__ = ["TABLE", "MXNetError", "attribute_pairs", "call", "is_recording",
           "is_training", "operator", "signature"]
