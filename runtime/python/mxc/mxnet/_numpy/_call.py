# SPDX-License-Identifier: Apache-2.0
"""Calls operators over arrays or symbols, and makes functions of tables."""

import functools

import numpy as onp

from ..context import current_context
from ..base import MXNetError, attribute_text
from ..ndarray import NDArray, _empty
from ..ndarray._invoke import attribute_pairs, call as call_arrays, is_recording
from ..symbol import Symbol
from ..symbol._compose import create

NUMBERS = (int, float, bool, onp.generic)


class Untraceable(NotImplementedError):
    """A function of values was asked for symbols, which have none: a hybridized
    block that calls it runs operator by operator."""


def array_class():
    """mx.np.ndarray."""
    from ..numpy.multiarray import ndarray
    return ndarray


def symbol_class():
    """mx.sym.np's Symbol."""
    from ..symbol.numpy._symbol import _Symbol
    return _Symbol


def is_symbolic(*values):
    """Whether one of the values, or of the items of lists, is a symbol."""
    return any(isinstance(value, Symbol) or isinstance(value, (list, tuple)) and
               is_symbolic(*value) for value in values)


def is_empty(value):
    """Whether it is an array without elements, or a list that holds one."""
    if isinstance(value, NDArray):
        return isinstance(value._array, _empty.EmptyArray)
    return isinstance(value, (list, tuple)) and any(is_empty(item) for item in value)


def call(name, inputs, attrs=None, out=None):
    """Calls an operator; arrays or symbols come back as the inputs are, several as a
    list. `out`: an array, or a list of them, that is written."""
    if any(isinstance(value, Symbol) for value in inputs):
        return make_symbol(name, inputs, attrs)
    return make_array(name, inputs, attrs, None, out)


def make_symbol(name, inputs=(), attrs=None, ctx=None, out=None):
    """The symbols of a call, of mx.sym.np."""
    given = {key: value if isinstance(value, str) else attribute_text(value)
             for key, value in (attrs or {}).items()}
    made = create(name, name.lstrip("_"), tuple(inputs), given)
    cls = symbol_class()
    if len(made._heads) == 1:
        return cls(made._heads)
    return [cls([head]) for head in made._heads]


def make_array(name, inputs=(), attrs=None, ctx=None, out=None):
    """The arrays of a call, of mx.np."""
    given = [value._array for value in inputs]
    pairs = attribute_pairs(attrs or {})
    if out is not None:
        outs = out if isinstance(out, (list, tuple)) else [out]
        try:
            call_arrays(name, given, pairs, [array._array for array in outs])
        except MXNetError as error:
            raise BadOut(str(error)) from None
        return out
    ctx = inputs[0]._ctx if inputs else (ctx or current_context()).check()
    cls = array_class()
    made = [cls(array, ctx) for array in call_arrays(name, given, pairs)]
    return made[0] if len(made) == 1 else made


def from_numpy(values, dtype=None, ctx=None):
    """An mx.np array of NumPy's values."""
    values = onp.asarray(values)
    with onp.errstate(all="ignore"):
        dense = onp.array(values, dtype=dtype or values.dtype, order="C")
    return array_class()(_empty.from_numpy(dense), ctx or current_context())


def as_array(value, dtype=None):
    """The value itself where it is an array or a symbol, else an array of it."""
    if isinstance(value, (NDArray, Symbol)):
        return value
    values = onp.asarray(value)
    if dtype is None:
        dtype = values.dtype if isinstance(value, (onp.ndarray, onp.generic)) else (
            "float32" if values.dtype.kind == "f" else None)
    return from_numpy(values, dtype)


def to_numpy(value):
    """NumPy's form of an argument: arrays, and those within lists and dicts."""
    if isinstance(value, NDArray):
        return value.asnumpy()
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(to_numpy(item) for item in value)
    if isinstance(value, dict):
        return {key: to_numpy(item) for key, item in value.items()}
    return value


def of_numpy(value):
    """mx.np's form of a result of NumPy."""
    if isinstance(value, (onp.ndarray, onp.generic)):
        if value.dtype.kind not in "biuf":
            return value
        return from_numpy(value)
    if isinstance(value, (list, tuple)):
        return type(value)(of_numpy(item) for item in value) if not hasattr(
            value, "_fields") else tuple(of_numpy(item) for item in value)
    return value


def on_host(numpy_function, args, kwargs, needs_gradient=True):
    """Calls NumPy's function over the arrays' values. NotImplementedError while
    autograd records and the results are real numbers: they would have no gradient."""
    name = numpy_function.__name__
    if is_symbolic(*args, *kwargs.values()):
        raise Untraceable(f"np.{name} needs values, and symbols have none")
    out = kwargs.pop("out", None)
    kwargs = {key: to_numpy(value) for key, value in kwargs.items() if key != "ctx"}
    try:
        result = of_numpy(numpy_function(*to_numpy(tuple(args)), **kwargs))
    except (ValueError, IndexError, onp.exceptions.AxisError
            if hasattr(onp, "exceptions") else ValueError) as error:
        raise BadValue(f"np.{name}: {error}") from None
    if needs_gradient and is_recording() and _is_real(result):
        raise NotImplementedError(
            f"np.{name} is computed by NumPy and has no gradient: call it outside of "
            "autograd.record()")
    if not needs_gradient and isinstance(result, NDArray) and result.size:
        _empty.as_head(result._array)
    if out is not None:
        out[...] = result
        return out
    return result


class BadOut(MXNetError, TypeError):
    """`out` is not of the shape and type of what is written there."""


class BadValue(MXNetError, ValueError, IndexError):
    """Arguments that NumPy refuses."""


def _is_real(result):
    if isinstance(result, (list, tuple)):
        return any(_is_real(item) for item in result)
    return isinstance(result, NDArray) and result._array.dtype.startswith("float")


def function(numpy_function=None):
    """A decorator of functions over operators, which do not take arrays without
    elements: those are left to NumPy's function of the same name, or the one given."""
    def decorate(over_operators):
        other = numpy_function or getattr(onp, over_operators.__name__, None)
        if other is None:
            return over_operators

        @functools.wraps(over_operators)
        def wrapper(*args, **kwargs):
            for value in (*args, *kwargs.values()) if kwargs else args:
                if is_empty(value):
                    return on_host(other, args, kwargs, needs_gradient=False)
            return over_operators(*args, **kwargs)
        return wrapper
    return decorate


def view(array, shape):
    """The array's memory in another shape of as many elements."""
    if not shape and is_recording():
        return call("_np_reshape", [array], {"newshape": ()})
    return array._new(array._array.reshape(list(shape)))


def axis_tuple(axis):
    """An axis or several as a tuple; None stays."""
    if axis is None or isinstance(axis, tuple):
        return axis
    return tuple(axis) if isinstance(axis, list) else (int(axis),)
