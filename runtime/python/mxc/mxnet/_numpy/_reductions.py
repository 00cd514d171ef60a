# SPDX-License-Identifier: Apache-2.0
"""Functions of all elements, or of those along axes."""

import numpy as onp

from ..base import dtype_name
from ..ndarray import NDArray
from ..symbol import Symbol
from ._call import (NUMBERS, MXNetError, as_array, axis_tuple, call, function, is_empty,
                    on_host)
from ._elementwise import binary, cast

# Function: operator.
_REDUCTIONS = {"sum": "_np_sum", "prod": "_np_prod", "mean": "_npi_mean",
               "max": "_np_max", "min": "_np_min"}
_ALIASES = {"amax": "max", "amin": "min", "product": "prod"}


def _reduction(name):
    kind = _ALIASES.get(name, name)
    operator = _REDUCTIONS[kind]
    with_type = kind in ("sum", "prod", "mean")

    def over(a, axis=None, dtype=None, out=None, keepdims=False, initial=None,
             where=True):
        if initial is not None or where is not True:
            raise NotImplementedError(f"np.{name} takes neither initial nor where")
        if isinstance(a, NUMBERS):
            a = as_array(a)
        if not isinstance(a, (NDArray, Symbol)):
            raise TypeError(f"np.{name} takes an array, found {type(a).__name__}")
        if axis == () and with_type:
            return _each_alone(kind, a, dtype, out)
        if axis == ():
            return call("_copy", [a], None, out)
        attrs = {"keepdims": bool(keepdims)}
        if axis is not None:
            attrs["axis"] = axis_tuple(axis)
        if dtype is not None:
            attrs["dtype"] = dtype_name(dtype)
            a = _wide(a, attrs["dtype"])
        return call(operator, [a], attrs, out)

    if not with_type:
        def reduced(a, axis=None, out=None, keepdims=False, initial=None, where=True):
            if is_empty(a):
                raise MXNetError(f"np.{name}: an array of shape {a.shape} has no "
                                 "elements")
            return over(a, axis, None, out, keepdims, initial, where)
    else:
        reduced = over
    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = (f"{kind} over all axes, one or several; axis=(): of each element "
                       "alone.")
    return function(_on_host(kind))(reduced) if with_type else reduced


def _wide(a, dtype):
    """The elements in a type that holds the sum: the operator sums in theirs."""
    if isinstance(a, Symbol):
        return cast(a, "float64") if dtype.startswith("float") else cast(a, dtype)
    here = a._array.dtype
    if here.startswith("float") or here == dtype:
        return a
    return cast(a, "float32" if dtype == "float16" else dtype)


def _on_host(kind):
    def host(a, axis=None, dtype=None, out=None, keepdims=False, **kwargs):
        if dtype is None and (kind == "mean" and a.dtype.kind != "f"):
            dtype = "float32"
        elif dtype is None and a.dtype != bool:
            dtype = a.dtype
        with onp.errstate(all="ignore"):
            return getattr(onp, kind)(a, axis=axis, dtype=dtype, keepdims=keepdims)
    host.__name__ = kind
    return host


def _each_alone(kind, a, dtype, out):
    if dtype is None and not isinstance(a, Symbol):
        here = a._array.dtype
        dtype = ("float32" if kind == "mean" and not here.startswith("float") else
                 "int64" if here == "bool" else here)
    if dtype is None:
        return call("_copy", [a], None, out)
    return call("_npi_cast", [a], {"dtype": dtype_name(dtype)}, out)


FUNCTIONS = {name: _reduction(name) for name in (*_REDUCTIONS, *_ALIASES)}


def _moment(name):
    def over(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False):
        if axis == ():
            zero = binary("multiply", cast(a, dtype_name(dtype)) if dtype else a, 0)
            return binary("true_divide", zero, 1.0 - ddof)
        attrs = {"ddof": ddof, "keepdims": bool(keepdims)}
        if axis is not None:
            attrs["axis"] = axis_tuple(axis)
        if dtype is not None:
            attrs["dtype"] = dtype_name(dtype)
        return call(f"_npi_{name}", [a], attrs, out)
    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"{name} over axes; divides by their elements less `ddof`."
    return function(getattr(onp, name))(over)


def _logical(name):
    def over(a, axis=None, out=None, keepdims=False):
        if not isinstance(a, (NDArray, Symbol)):
            a = as_array(a)
        if axis == ():
            return binary("not_equal", a, 0, out)
        attrs = {"keepdims": bool(keepdims)}
        if axis is not None:
            attrs["axis"] = axis_tuple(axis)
        return call(f"_np_{name}", [a], attrs, out)
    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"Whether {name} elements are not 0, over all axes or some."
    return function(getattr(onp, name))(over)


FUNCTIONS.update(var=_moment("var"), std=_moment("std"), all=_logical("all"),
                 any=_logical("any"))
FUNCTIONS.update(alltrue=FUNCTIONS["all"], sometrue=FUNCTIONS["any"])


@function()
def cumsum(a, axis=None, dtype=None, out=None):
    """Sums of the elements up to each one, along an axis or in their order."""
    attrs = {} if axis is None else {"axis": int(axis)}
    if dtype is not None:
        attrs["dtype"] = dtype_name(dtype)
    elif not isinstance(a, Symbol) and a._array.dtype == "bool":
        attrs["dtype"] = "int64"
    if isinstance(a, Symbol) or a._array.dtype != "float16" or attrs.get(
            "dtype", "float16") != "float16":
        return call("_np_cumsum", [a], attrs, out)
    sums = cast(call("_np_cumsum", [cast(a, "float32")], {**attrs, "dtype": "float32"}),
                "float16")
    if out is None:
        return sums
    out[...] = sums
    return out


def average(a, axis=None, weights=None, returned=False, out=None):
    """The mean, weighted by `weights`; `returned`: and the weights' sum."""
    if is_empty(a):
        return on_host(onp.average, (a, axis, weights, returned), {}, False)
    if not isinstance(a, Symbol) and not a._array.dtype.startswith("float"):
        a = cast(a, "float32")
    attrs = {"returned": bool(returned), "weighted": weights is not None}
    if axis is not None:
        attrs["axis"] = axis_tuple(axis)
    inputs = [a]
    if weights is not None:
        inputs.append(weights if isinstance(a, Symbol) else
                      cast(weights, a._array.dtype))
    found = call("_npi_average", inputs, attrs)
    if returned:
        return tuple(found)
    found = found[0] if isinstance(found, list) else found
    if out is None:
        return found
    out._assign(found)
    return out


def _extreme(name):
    def over(a, axis=None, out=None, keepdims=False):
        attrs = {"keepdims": bool(keepdims)}
        if axis is not None:
            attrs["axis"] = int(axis)
        return call(f"_npi_{name}", [a], attrs, out)
    over.__name__ = over.__qualname__ = name
    over.__doc__ = f"{name}: where the extreme element is, along an axis or of all; int64."

    def host(a, axis=None, out=None, keepdims=False):
        return getattr(onp, name)(a, axis)
    host.__name__ = name
    return function(host)(over)


FUNCTIONS.update(cumsum=cumsum, average=average, argmax=_extreme("argmax"),
                 argmin=_extreme("argmin"))


@function()
def trace(a, offset=0, axis1=0, axis2=1, out=None):
    """Sums of diagonals."""
    if not isinstance(a, Symbol) and not onp.diagonal(
            onp.broadcast_to(onp.int8(0), a.shape), offset, axis1, axis2).shape[-1]:
        return on_host(onp.trace, (a, offset, axis1, axis2, a.dtype), {},
                       False)
    return call("_np_trace", [a], {"offset": offset, "axis1": axis1, "axis2": axis2},
                out)


def percentile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear",
               keepdims=False):
    """Values below which q percent of the elements lie; `q`: a number or an array."""
    if overwrite_input:
        raise NotImplementedError("np.percentile: overwrite_input is not taken")
    if is_empty(a) or is_empty(q):
        return on_host(lambda a, q: onp.percentile(a, q, axis=axis, keepdims=keepdims),
                       (a, q), {"out": out}, False)
    attrs = {"interpolation": interpolation, "keepdims": bool(keepdims)}
    if axis is not None:
        attrs["axis"] = axis_tuple(axis)
    if isinstance(q, NUMBERS):
        return call("_npi_percentile", [a], {**attrs, "q_scalar": float(q)}, out)
    return call("_npi_percentile", [a, as_array(q, "float32")], attrs, out)


def quantile(a, q, axis=None, out=None, overwrite_input=None, interpolation="linear",
             keepdims=False):
    """percentile with `q` from 0 to 1."""
    q = q * 100 if isinstance(q, (*NUMBERS, NDArray, Symbol)) else onp.asarray(q) * 100
    return percentile(a, q, axis, out, overwrite_input, interpolation, keepdims)


def median(a, axis=None, out=None, overwrite_input=None, keepdims=False):
    """The value in the middle."""
    return percentile(a, 50.0, axis, out, overwrite_input, "linear", keepdims)


FUNCTIONS.update(trace=trace, percentile=percentile, quantile=quantile, median=median)
