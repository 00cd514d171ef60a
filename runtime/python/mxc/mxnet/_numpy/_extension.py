# SPDX-License-Identifier: Apache-2.0
"""What mx.npx and mx.sym.npx share: operators of networks, from the table's rows whose
names begin with _npx_."""

import numpy as onp

from ..base import MXNetError
from ..ndarray import NDArray
from ..ndarray._invoke import TABLE, is_recording
from ..ndarray._register import _function
from ..symbol._compose import function as symbol_function
from ._call import (Untraceable, array_class, call, from_numpy, is_empty, is_symbolic,
                    on_host, symbol_class)

_PREFIX, _IMAGE = "_npx_", "_npx__image_"


def _extension(operator, name):
    of_arrays = _function(operator, TABLE[operator])
    of_symbols = symbol_function(operator, name)
    empty = _EMPTY.get(name)

    def over(*args, **kwargs):
        if is_symbolic(*args, *kwargs.values()):
            return _as_np(of_symbols(*args, **kwargs))
        if empty is not None and is_empty([*args, *kwargs.values()]):
            return empty(*args, **kwargs)
        return _as_np(of_arrays(*args, **kwargs))
    over.__name__ = over.__qualname__ = name
    over.__doc__ = of_arrays.__doc__
    return over


def _as_np(value):
    if isinstance(value, (list, tuple)):
        return type(value)(_as_np(item) for item in value)
    if isinstance(value, NDArray):
        return value if type(value) is array_class() else array_class()(value)
    if len(value._heads) == 1:
        return symbol_class()(value._heads)
    return [symbol_class()([head]) for head in value._heads]


def _same(data, *args, **kwargs):
    return data.copy()


def _batch_dot(lhs, rhs, transpose_a=False, transpose_b=False, **kwargs):
    def product(a, b):
        return onp.matmul(a.swapaxes(-1, -2) if transpose_a else a,
                          b.swapaxes(-1, -2) if transpose_b else b)
    return on_host(product, (lhs, rhs), {}, False)


def _one_hot(indices, depth, dtype="float32", **kwargs):
    return from_numpy(onp.empty((*indices.shape, depth), dtype))


# What becomes of arrays without elements, by the function's name.
_EMPTY = {name: _same for name in """relu sigmoid softmax log_softmax erf erfinv gamma
gammaln smooth_l1 activation leaky_relu dropout sequence_mask""".split()}
_EMPTY.update(batch_dot=_batch_dot, one_hot=_one_hot)


def functions(prefix, but=None):
    """Functions of the operators whose names begin so, by the rest of their names."""
    return {name[len(prefix):]: _extension(name, name[len(prefix):])
            for name in TABLE if name.startswith(prefix) and not (
                but and name.startswith(but))}


FUNCTIONS = functions(_PREFIX, _IMAGE)
IMAGE = functions(_IMAGE)


def reshape(a, newshape, reverse=False, order="C"):
    """Another shape; -1 is what is left, -2 keeps an extent, -3 leaves out one of 1, -4
    keeps all that are left, -5 is the product of two, -6 splits one into the two behind
    it; `reverse` reads the shape from the right."""
    if order != "C":
        raise NotImplementedError(f"arrays lie in order C, not {order!r}")
    newshape = (newshape,) if isinstance(newshape, int) else tuple(newshape)
    if is_empty(a):
        return a.reshape(_decoded(a.shape, newshape, reverse))
    return call("_npx_reshape", [a], {"newshape": newshape, "reverse": bool(reverse)})


def _decoded(shape, codes, reverse):
    shape, codes = list(shape), list(codes)
    if reverse:
        shape, codes = shape[::-1], codes[::-1]
    found, axis = [], 0
    for code in codes:
        if code == -4:
            found.extend(shape[axis:])
            axis = len(shape)
        elif code == -5:
            found.append(shape[axis] * shape[axis + 1])
            axis += 2
        elif code == -3:
            axis += 1
        elif code == -6:
            raise NotImplementedError("npx.reshape: -6 of an array without elements")
        else:
            found.append(shape[axis] if code == -2 else code)
            axis += 1
    return found[::-1] if reverse else found


def nonzero(a):
    """Where the elements are not 0: rows of positions, int64."""
    if is_symbolic(a):
        raise Untraceable("npx.nonzero needs values, and symbols have none")
    return from_numpy(onp.argwhere(a.asnumpy()).astype("int64"))


def constraint_check(x, msg):
    """True where all of x is; ValueError says `msg` where some is not. A block that
    checks is run operator by operator."""
    if is_symbolic(x):
        raise Untraceable("npx.constraint_check needs values, and symbols have none")
    if not bool(x.asnumpy().all()):
        raise ValueError(msg)
    return from_numpy(onp.asarray(True))


def slice(data, begin, end, step=None):
    """The part between begin and end along each of the first axes, by steps."""
    begin, end = tuple(begin), tuple(end)
    step = tuple(step) if step else (None,) * len(begin)
    if is_symbolic(data):
        if not begin:
            return call("_copy", [data])
        return call("_npi_slice", [data], {"begin": begin, "end": end, "step": step})
    from builtins import slice as python_slice
    return data[tuple(python_slice(*part) for part in zip(begin, end, step))].copy() if (
        not is_recording()) else data[tuple(map(python_slice, begin, end, step))]


def batch_norm(x, gamma, beta, running_mean, running_var, eps=1e-3, momentum=0.9,
               fix_gamma=True, use_global_stats=False, output_mean_var=False, axis=1,
               cudnn_off=False, **kwargs):
    """x without its mean, over its deviation, along one axis, times gamma plus beta; in
    training the running mean and variance follow those of x."""
    if not is_symbolic(x) and not -x.ndim <= axis < x.ndim:
        raise MXNetError(f"npx.batch_norm: there is no axis {axis} among {x.ndim}")
    return _batch_norm(x, gamma, beta, running_mean, running_var, eps=eps,
                       momentum=momentum, fix_gamma=fix_gamma,
                       use_global_stats=use_global_stats,
                       output_mean_var=output_mean_var, axis=axis)


_batch_norm = FUNCTIONS["batch_norm"]
FUNCTIONS.update(reshape=reshape, nonzero=nonzero, constraint_check=constraint_check,
                 slice=slice, batch_norm=batch_norm)


def random_functions(make):
    """npx.random's functions; `make` calls a sampler without inputs."""
    from ._random import _drawn, _real, checked

    def bernoulli(prob=None, logit=None, size=None, dtype=None, ctx=None, out=None):
        """Ones with this probability, or logit, else zeros."""
        if (prob is None) == (logit is None):
            raise ValueError("npx.random.bernoulli: one of prob and logit is needed")
        if prob is not None:
            checked("bernoulli", most=1, prob=prob)
        attrs = {"is_logit": prob is None,
                 "dtype": "float32" if dtype is None else onp.dtype(dtype).name}
        given = {"logit": logit} if prob is None else {"prob": prob}
        return _drawn(make, "_npi_bernoulli", given, size, attrs, ctx, out)

    def _each(name, first, second):
        def draw(first_value, second_value, batch_shape, dtype, ctx):
            values = {first: first_value, second: second_value}
            shapes = [value.shape for value in values.values() if hasattr(value, "shape")]
            size = batch_shape
            if size is not None:
                size = (size,) if isinstance(size, int) else tuple(size)
                if not shapes and not is_symbolic(*values.values()):
                    return _drawn(make, name[:-2], values, size, _real(dtype), ctx, None)
                if 0 in size or any(0 in shape for shape in shapes):
                    return from_numpy(onp.empty((*size, *onp.broadcast_shapes(*shapes))))
            return _drawn(make, name, values, size, _real(dtype), ctx, None)
        return draw

    uniform_each = _each("_npi_uniform_n", "low", "high")
    normal_each = _each("_npi_normal_n", "loc", "scale")

    def uniform_n(low=0.0, high=1.0, batch_shape=None, dtype=None, ctx=None):
        """batch_shape draws for each pair of low and high."""
        return uniform_each(low, high, batch_shape, dtype, ctx)

    def normal_n(loc=0.0, scale=1.0, batch_shape=None, dtype=None, ctx=None):
        """batch_shape draws for each pair of loc and scale."""
        return normal_each(loc, scale, batch_shape, dtype, ctx)

    return {"bernoulli": bernoulli, "uniform_n": uniform_n, "normal_n": normal_n}
