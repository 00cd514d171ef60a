# SPDX-License-Identifier: Apache-2.0
"""Functions that make arrays of no others, and of others' shapes."""

import numpy as onp

from ..base import dtype_name
from ..ndarray import NDArray
from ..ndarray._shapes import as_shape
from ..symbol import Symbol
from ._call import Untraceable, as_array, call, from_numpy, is_empty, on_host


def _type(dtype):
    return "float32" if dtype is None else dtype_name(dtype)


def _filled(name, fill):
    def over(shape, dtype=None, order="C", ctx=None):
        _ordered(name, order)
        return from_numpy(onp.full(as_shape(shape), fill, _type(dtype)), None, ctx)
    return over, f"An array of {fill}; dtype: float32 unless given."


def _ordered(name, order):
    if order != "C":
        raise NotImplementedError(f"np.{name}: arrays lie in order C, not {order!r}")


def full(shape, fill_value, dtype=None, order="C", ctx=None, out=None):
    """An array of one value, or of an array's values that are broadcast."""
    _ordered("full", order)
    if isinstance(fill_value, NDArray):
        from ._shapes import broadcast_to
        made = broadcast_to(fill_value, shape)
        return made if dtype is None else made.astype(dtype)
    if dtype is None:
        dtype = "bool" if isinstance(fill_value, bool) else "float32"
    made = from_numpy(onp.full(as_shape(shape), fill_value, _type(dtype)), None, ctx)
    if out is None:
        return made
    out[...] = made
    return out


def identity(n, dtype=None, ctx=None):
    """Ones on the diagonal of n rows, else zeros."""
    return from_numpy(onp.identity(n, _type(dtype)), None, ctx)


def eye(N, M=None, k=0, dtype=float, **kwargs):
    """Ones on the k-th diagonal of N rows and M (or N) columns, else zeros; dtype:
    float32 unless another is given than Python's float."""
    dtype = None if dtype is float else dtype
    return from_numpy(onp.eye(N, M, k, _type(dtype)), None, kwargs.get("ctx"))


def arange(start, stop=None, step=1, dtype=None, ctx=None):
    """Numbers from start (0 where there is no stop) to before stop."""
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    if step == 0:
        raise ZeroDivisionError("np.arange: step is 0")
    return from_numpy(onp.arange(start, stop, step), _type(dtype), ctx)


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0,
             ctx=None):
    """`num` numbers from start to stop; `retstep`: and the distance between them."""
    if isinstance(start, (list, onp.ndarray, NDArray)) or isinstance(
            stop, (list, onp.ndarray, NDArray)):
        raise NotImplementedError("np.linspace: start and stop are numbers")
    if axis != 0:
        raise NotImplementedError("np.linspace: axis is 0")
    values, step = onp.linspace(start, stop, num, endpoint, True)
    made = from_numpy(values, _type(dtype), ctx)
    return (made, step) if retstep else made


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0, ctx=None):
    """base to the power of each of linspace's numbers."""
    if axis != 0:
        raise NotImplementedError("np.logspace: axis is 0")
    return from_numpy(onp.logspace(start, stop, num, endpoint, base), _type(dtype), ctx)


def indices(dimensions, dtype=onp.int32, ctx=None):
    """Each element's position along each axis, one axis behind the other."""
    if not isinstance(dimensions, (tuple, list)):
        raise ValueError("np.indices: dimensions are a tuple")
    return from_numpy(onp.indices(tuple(dimensions)), _type(dtype), ctx)


def _window(name):
    def over(M, dtype=None, ctx=None):
        return from_numpy(getattr(onp, name)(M), _type(dtype), ctx)
    return over, f"The {name} window of M numbers; none where M is below 1."


def array(object, dtype=None, ctx=None):
    """An array of the values of lists, numbers or another array. dtype: that of an
    array, else float32 (bool of bools), unless it is given."""
    if isinstance(object, NDArray):
        dtype = object.dtype if dtype is None else dtype
        object = object.asnumpy()
    elif not isinstance(object, (onp.ndarray, onp.generic)):
        object = _nested(object)
        if dtype is None:
            if object.dtype == bool and object.size:
                dtype = "bool"
            else:
                dtype = getattr(object, "_dtype", "float32")
    elif dtype is None:
        dtype = object.dtype
        if dtype.kind not in "biuf":
            dtype = "float32"
    return from_numpy(object, dtype_name(dtype), ctx)


def _nested(object):
    """NumPy's form of nested lists that may hold arrays."""
    from ._call import to_numpy
    try:
        values = onp.array(to_numpy(object))
    except (TypeError, ValueError) as error:
        raise TypeError(f"np.array: source is not like an array: {error}") from None
    if values.dtype.kind not in "biuf":
        raise TypeError(f"np.array: an array of {values.dtype} cannot be made")
    return values


def _like(name, fill):
    def over(a, dtype=None, order="C", subok=False, ctx=None, out=None):
        _ordered(name, order)
        if subok:
            raise NotImplementedError(f"np.{name}: subok is False")
        if not isinstance(a, (NDArray, Symbol)):
            a = as_array(a)
        return full_like(a, fill, dtype, order, ctx, out)
    return over, f"An array of {fill} like another."


def full_like(a, fill_value, dtype=None, order="C", ctx=None, out=None):
    """An array of one value, like another."""
    _ordered("full_like", order)
    if is_empty(a):
        return on_host(onp.full_like, (a, fill_value, dtype), {}, False)
    attrs = {"fill_value": float(fill_value)}
    if dtype is not None:
        attrs["dtype"] = dtype_name(dtype)
    return call("_npi_full_like", [a], attrs, out)


def meshgrid(*xi, **kwargs):
    """Arrays of positions along each axis of a grid; a list."""
    arrays = [as_array(x) for x in xi]
    sparse, copy = kwargs.get("sparse", False), kwargs.get("copy", True)
    indexing = kwargs.get("indexing", "xy")
    if indexing not in ("xy", "ij"):
        raise ValueError("np.meshgrid: indexing is 'xy' or 'ij'")
    rank = len(arrays)
    places = list(range(rank))
    if indexing == "xy" and rank > 1:
        places[:2] = 1, 0
    from ._shapes import broadcast_arrays
    shaped = [x.reshape((1,) * place + (-1,) + (1,) * (rank - place - 1))
              for x, place in zip(arrays, places)]
    if sparse:
        return shaped
    return broadcast_arrays(*shaped) if copy or rank else shaped


def copy(a):
    """Another array of the same values."""
    if isinstance(a, Symbol):
        return call("_np_copy", [a])
    return a.copy()


def _made(table):
    functions = {}
    for name, (over, doc) in table.items():
        over.__name__ = over.__qualname__ = name
        over.__doc__ = doc
        functions[name] = over
    return functions


#: Functions of other arrays, for symbols, too.
LIKE = _made({"zeros_like": _like("zeros_like", 0), "ones_like": _like("ones_like", 1),
              "empty_like": _like("empty_like", 0)})
LIKE.update(full_like=full_like, copy=copy)

#: Functions of numbers that give arrays.
ARRAYS = _made({"zeros": _filled("zeros", 0), "ones": _filled("ones", 1),
                "empty": _filled("empty", 0), "hanning": _window("hanning"),
                "hamming": _window("hamming"), "blackman": _window("blackman")})
ARRAYS.update({over.__name__: over for over in (
    array, full, identity, eye, arange, linspace, logspace, indices, meshgrid)})


def as_symbols(make):
    """Functions like ARRAYS that give symbols; `make`: _call.make_symbol. Values are
    computed here and become a constant of the graph where no operator makes them."""
    def filled(name, value):
        def over(shape, dtype=None, order="C", ctx=None):
            _ordered(name, order)
            return _constant_fill(make, as_shape(shape), value, _type(dtype))
        return over

    def full_symbol(shape, fill_value, dtype=None, order="C", ctx=None, out=None):
        _ordered("full", order)
        if dtype is None:
            dtype = "bool" if isinstance(fill_value, bool) else "float32"
        return _constant_fill(make, as_shape(shape), fill_value, _type(dtype))

    def attributes(name, *names):
        host = ARRAYS[name]

        def over(*args, **kwargs):
            import inspect
            given = inspect.signature(host).bind(*args, **kwargs)
            given.apply_defaults()
            values = dict(given.arguments)
            if 0 in host(*args, **kwargs).shape:
                raise Untraceable(f"np.{name}: a graph has no arrays without elements")
            attrs = {key: values[key] for key in names}
            attrs["dtype"] = _type(None if values["dtype"] is float else values["dtype"])
            return make(f"_npi_{name}", (), attrs)
        return over

    def identity_symbol(n, dtype=None, ctx=None):
        if n == 0:
            raise Untraceable("np.identity: a graph has no arrays without elements")
        return make("_npi_identity", (), {"shape": (n, n), "dtype": _type(dtype)})

    def eye_symbol(N, M=None, k=0, dtype=float, **kwargs):
        return make("_npi_eye", (), {"N": N, "M": M or N, "k": k, "dtype": _type(
            None if dtype is float else dtype)})

    def arange_symbol(start, stop=None, step=1, dtype=None, ctx=None):
        if stop is None:
            start, stop = 0, start
        step = 1 if step is None else step
        if not onp.arange(start, stop, step).size:
            raise Untraceable("np.arange: a graph has no arrays without elements")
        return make("_npi_arange", (), {"start": start, "stop": stop, "step": step,
                                        "dtype": _type(dtype)})

    found = {"zeros": filled("zeros", 0), "ones": filled("ones", 1),
             "empty": filled("empty", 0), "full": full_symbol,
             "identity": identity_symbol, "eye": eye_symbol, "arange": arange_symbol,
             "linspace": attributes("linspace", "start", "stop", "num", "endpoint"),
             "logspace": attributes("logspace", "start", "stop", "num", "endpoint",
                                    "base"),
             "indices": attributes("indices", "dimensions")}
    found.update({name: attributes(name, "M")
                  for name in ("hanning", "hamming", "blackman")})
    for name, over in found.items():
        over.__name__ = over.__qualname__ = name
        over.__doc__ = ARRAYS[name].__doc__
    return found


def _constant_fill(make, shape, value, dtype):
    if 0 in shape:
        raise Untraceable("a graph has no arrays without elements")
    made = make("_npi_full", (), {"shape": shape or (1,), "value": float(value),
                                  "dtype": dtype})
    return made if shape else make("_np_reshape", (made,), {"newshape": ()})
