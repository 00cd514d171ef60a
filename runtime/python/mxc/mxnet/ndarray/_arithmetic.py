# SPDX-License-Identifier: Apache-2.0
"""Arithmetic and comparisons of arrays and numbers, as operators and as functions."""

import numpy as np

from ... import _ndarray
from ._invoke import binary_of_sparse, call

_NUMBERS = (int, float, bool, np.generic)
_SCALARS_KEPT = 4096
_scalars = {}


def scalar_array(value, dtype):
    """A number as an array without axes, cast to the type as C would."""
    key = (value, type(value), dtype)
    found = _scalars.get(key)
    if found is None:
        if len(_scalars) >= _SCALARS_KEPT:
            _scalars.clear()
        with np.errstate(all="ignore"):
            number = (np.asarray(value).astype(dtype) if value == value else
                      np.asarray(np.nan).astype(dtype))
        found = _scalars[key] = _ndarray.from_numpy(number)
    return found


# MXNet's names of operators over an array and a number, for mx.profiler.
_OF_SCALARS = {f"broadcast_{name}": f"_{short}_scalar" for name, short in
               [("add", "plus"), ("sub", "minus"), ("rsub", "rminus"),
                *((name, name) for name in """mul div rdiv mod rmod power rpower maximum
                minimum equal not_equal greater greater_equal lesser lesser_equal
                logical_and logical_or logical_xor""".split())]}
# Where the number is on the left.
_REFLECTED = {f"broadcast_{name}": f"broadcast_{other}" for name, other in
              [*((name, f"r{name}") for name in ("sub", "div", "mod", "power")),
               ("greater", "lesser"), ("greater_equal", "lesser_equal"),
               ("lesser", "greater"), ("lesser_equal", "greater_equal")]}


def binary(name, left, right, out=None):
    """Calls a broadcasting operator; one of the two may be a number, which takes
    the other's type. TypeError for anything else."""
    from .ndarray import NDArray
    found = binary_of_sparse(name, left, right, out)
    if found is not None:
        return found
    shown_as = None
    if isinstance(left, NDArray):
        array = left
        a = left._array
        if isinstance(right, NDArray):
            b = right._array
        elif isinstance(right, _NUMBERS):
            b = scalar_array(right, a.dtype)
            shown_as = _OF_SCALARS.get(name)
        else:
            raise TypeError(f"arithmetic takes arrays and numbers, not {type(right)}")
    elif isinstance(right, NDArray) and isinstance(left, _NUMBERS):
        array = right
        b = right._array
        a = scalar_array(left, b.dtype)
        shown_as = _OF_SCALARS.get(_REFLECTED.get(name, name))
    else:
        raise TypeError(f"arithmetic takes arrays and numbers, not {type(left)}")
    if out is None:
        return array._new(call(name, [a, b], (), None, shown_as)[0])
    call(name, [a, b], (), [out._array], shown_as)
    return out


# method: (operator, reflected method, in-place method)
_ARITHMETIC = {
    "__add__": ("broadcast_add", "__radd__", "__iadd__"),
    "__sub__": ("broadcast_sub", "__rsub__", "__isub__"),
    "__mul__": ("broadcast_mul", "__rmul__", "__imul__"),
    "__truediv__": ("broadcast_div", "__rtruediv__", "__itruediv__"),
    "__mod__": ("broadcast_mod", "__rmod__", "__imod__"),
    "__pow__": ("broadcast_power", "__rpow__", "__ipow__"),
}
_COMPARISONS = {
    "__eq__": "broadcast_equal",
    "__ne__": "broadcast_not_equal",
    "__gt__": "broadcast_greater",
    "__ge__": "broadcast_greater_equal",
    "__lt__": "broadcast_lesser",
    "__le__": "broadcast_lesser_equal",
}


def _in_place(name):
    def method(self, other):
        return binary(name, self, other, out=self)
    return method


METHODS = None  # of mxc._ndarray, once they are installed


def install(cls):
    """Gives a class of arrays its operators."""
    global METHODS
    METHODS = methods = _ndarray.Methods(cls, scalar_array, binary)
    for method, (name, reflected, in_place) in _ARITHMETIC.items():
        setattr(cls, method, methods.method(name))
        setattr(cls, reflected, methods.method(name, reflected=True))
        setattr(cls, in_place, _in_place(name))
    for method, name in _COMPARISONS.items():
        setattr(cls, method, methods.method(name))
    cls.__div__, cls.__rdiv__, cls.__idiv__ = (
        cls.__truediv__, cls.__rtruediv__, cls.__itruediv__)
    cls.__neg__ = lambda self: self * -1
    cls.__abs__ = lambda self: self.abs()


# Functions of mx.nd: name in MXNet, operator, and what two numbers give.
_FUNCTIONS = {
    "add": ("broadcast_add", lambda a, b: a + b),
    "subtract": ("broadcast_sub", lambda a, b: a - b),
    "multiply": ("broadcast_mul", lambda a, b: a * b),
    "divide": ("broadcast_div", lambda a, b: a / b),
    "true_divide": ("broadcast_div", lambda a, b: a / b),
    "modulo": ("broadcast_mod", lambda a, b: a % b),
    "power": ("broadcast_power", lambda a, b: a ** b),
    "maximum": ("broadcast_maximum", lambda a, b: a if a > b else b),
    "minimum": ("broadcast_minimum", lambda a, b: a if a < b else b),
    "equal": ("broadcast_equal", lambda a, b: 1 if a == b else 0),
    "not_equal": ("broadcast_not_equal", lambda a, b: 1 if a != b else 0),
    "greater": ("broadcast_greater", lambda a, b: 1 if a > b else 0),
    "greater_equal": ("broadcast_greater_equal", lambda a, b: 1 if a >= b else 0),
    "lesser": ("broadcast_lesser", lambda a, b: 1 if a < b else 0),
    "lesser_equal": ("broadcast_lesser_equal", lambda a, b: 1 if a <= b else 0),
    "logical_and": ("broadcast_logical_and", lambda a, b: 1 if a and b else 0),
    "logical_or": ("broadcast_logical_or", lambda a, b: 1 if a or b else 0),
    "logical_xor": ("broadcast_logical_xor",
                    lambda a, b: 1 if bool(a) ^ bool(b) else 0),
}


def _function(name, operator, numbers):
    def function(lhs, rhs):
        if isinstance(lhs, _NUMBERS) and isinstance(rhs, _NUMBERS):
            return numbers(lhs, rhs)
        return binary(operator, lhs, rhs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = (f"{operator} of arrays or numbers, whose shapes are "
                        "broadcast.")
    return function


FUNCTIONS = {name: _function(name, *row) for name, row in _FUNCTIONS.items()}
