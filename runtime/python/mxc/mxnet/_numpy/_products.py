# SPDX-License-Identifier: Apache-2.0
"""Products of arrays, and what sums them along axes."""

import math

import numpy as onp

from ... import _ndarray
from ..ndarray import _empty
from ..symbol import Symbol
from ._call import (NUMBERS, MXNetError, array_class, as_array, call, function, is_empty,
                    is_symbolic, on_host)
from ._elementwise import _alike, binary, cast
from ._joins import concatenate
from ._shapes import ravel, reshape


def _with_shape(name, a, b, *args):
    """Zeros of the result's shape, where an axis of no extent is summed over."""
    return on_host(getattr(onp, name), (a, b, *args), {}, False)


def dot(a, b, out=None):
    """The last axis of a times the last but one (or only one) of b, summed."""
    if isinstance(a, NUMBERS) or isinstance(b, NUMBERS):
        return binary("multiply", a, b, out)
    if is_empty(a) or is_empty(b):
        return _with_shape("dot", a, b)
    if not is_symbolic(a, b) and (a.ndim == 0 or b.ndim == 0):
        return binary("multiply", a, b, out)
    return call("_np_dot", _alike("dot", a, b), None, out)


def matmul(a, b, out=None):
    """Products of the matrices in the last two axes; the others are broadcast."""
    if is_empty(a) or is_empty(b):
        return _with_shape("matmul", a, b)
    if not is_symbolic(a, b) and 1 in (a.ndim, b.ndim):
        rows = reshape(a, (1, -1)) if a.ndim == 1 else a
        columns = reshape(b, (-1, 1)) if b.ndim == 1 else b
        product = matmul(rows, columns)
        shape = (*product.shape[:-2], *(product.shape[-2:-1] if a.ndim > 1 else ()),
                 *(product.shape[-1:] if b.ndim > 1 else ()))
        return reshape(product, shape)
    return call("_npi_matmul", _alike("matmul", a, b), None, out)


def tensordot(a, b, axes=2):
    """Products summed over axes: so many, or these of a and these of b."""
    if is_empty(a) or is_empty(b):
        return _with_shape("tensordot", a, b, axes)
    a, b = _alike("tensordot", a, b)
    if isinstance(axes, (int, onp.integer)):
        if axes < 0:
            raise ValueError(f"np.tensordot: {axes} axes")
        return call("_npi_tensordot_int_axes", [a, b], {"axes": int(axes)})
    if len(axes) != 2:
        raise ValueError("np.tensordot: axes are a number or two lists")
    first, second = ((part,) if isinstance(part, int) else tuple(part) for part in axes)
    if len(first) != len(second):
        raise ValueError("np.tensordot: as many axes of a as of b are needed")
    if not first:
        return call("_npi_tensordot_int_axes", [a, b], {"axes": 0})
    return call("_npi_tensordot", [a, b], {"a_axes_summed": first,
                                           "b_axes_summed": second})


def inner(a, b):
    """The last axes' products, summed."""
    if is_symbolic(a, b):
        return tensordot(a, b, [-1, -1])
    if is_empty(a) or is_empty(b):
        return _with_shape("inner", a, b)
    if a.ndim == 0 or b.ndim == 0:
        return binary("multiply", a, b)
    return tensordot(a, b, [[a.ndim - 1], [b.ndim - 1]])


def outer(a, b):
    """Each element of a times each of b: a matrix."""
    if is_empty(a) or is_empty(b):
        return _with_shape("outer", a, b)
    return tensordot(ravel(a), ravel(b), 0)


def vdot(a, b):
    """All products, summed."""
    return tensordot(ravel(a), ravel(b), 1)


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The vector product along the last axes; computed by NumPy."""
    return on_host(onp.cross, (a, b, axisa, axisb, axisc, axis), {})


@function()
def kron(a, b):
    """Each element of a times the whole of b, side by side."""
    rank = max(a.ndim, b.ndim)
    a, b = (reshape(x, (1,) * (rank - x.ndim) + x.shape) for x in (a, b))
    left = reshape(a, [n for extent in a.shape for n in (extent, 1)])
    right = reshape(b, [n for extent in b.shape for n in (1, extent)])
    return reshape(binary("multiply", left, right),
                   [m * n for m, n in zip(a.shape, b.shape)])


def einsum(*operands, out=None, optimize=False, **kwargs):
    """Products summed as the subscripts say: "ij,jk->ik"."""
    if kwargs:
        raise NotImplementedError(f"np.einsum does not take {sorted(kwargs)[0]}")
    subscripts, arrays = operands[0], [as_array(array) for array in operands[1:]]
    if not isinstance(subscripts, str):
        raise NotImplementedError("np.einsum: subscripts are a text")
    if is_empty(arrays):
        return on_host(onp.einsum, (subscripts, *arrays), {}, False)
    if len(arrays) > 1 and not is_symbolic(*arrays):
        from ._joins import _alike as alike
        arrays = alike(arrays)
    if len(arrays) > 2 and "." not in subscripts:
        subscripts, arrays = _in_pairs(subscripts, arrays)
    return call("_npi_einsum", arrays, {"num_args": len(arrays), "subscripts": subscripts,
                                        "optimize": int(bool(optimize))}, out)


def _in_pairs(subscripts, arrays):
    """The same sum of two arrays: products of pairs, from the left or as NumPy's
    einsum_path orders them, sum over what nothing else names."""
    inputs, _, output = subscripts.replace(" ", "").partition("->")
    if "->" not in subscripts:
        output = "".join(sorted(x for x in set(inputs) - {","} if inputs.count(x) == 1))
    terms, arrays = inputs.split(","), list(arrays)
    path = [(0, 1)] * len(arrays)
    if not is_symbolic(*arrays):
        shapes = [onp.broadcast_to(onp.int8(0), array.shape) for array in arrays]
        path = onp.einsum_path(subscripts, *shapes, optimize="greedy")[0][1:]
    for places in path:
        if len(terms) == 2 or len(places) != 2:
            break
        first, second = sorted(places)
        kept = set("".join(terms[:first] + terms[first + 1:second] + terms[second + 1:])
                   + output)
        both = "".join(dict.fromkeys(terms[first] + terms[second]))
        term = "".join(x for x in both if x in kept)
        product = call("_npi_einsum", [arrays[first], arrays[second]], {
            "num_args": 2, "subscripts": f"{terms[first]},{terms[second]}->{term}",
            "optimize": 0})
        for place in (second, first):
            del terms[place], arrays[place]
        terms.append(term)
        arrays.append(product)
    return ",".join(terms) + "->" + output, arrays


@function()
def polyval(p, x):
    """The polynomial of coefficients p, the highest first, at each x."""
    if not isinstance(p, (array_class(), Symbol)) or not isinstance(
            x, (array_class(), Symbol)):
        raise TypeError("np.polyval takes two arrays")
    return call("_npi_polyval", _alike("polyval", p, x))


@function()
def diff(a, n=1, axis=-1, prepend=None, append=None):
    """Differences of neighbours, n times over."""
    if prepend is not None or append is not None:
        raise NotImplementedError("np.diff takes neither prepend nor append")
    if n < 0:
        raise ValueError(f"np.diff: n is {n}, expected at least 0")
    if not isinstance(a, Symbol):
        if a.ndim == 0:
            raise ValueError("np.diff: an array has one axis at least")
        if not -a.ndim <= axis < a.ndim:
            raise MXNetError(f"np.diff: there is no axis {axis} among {a.ndim}")
        if a.shape[axis] <= n:
            return on_host(onp.diff, (a, n, axis), {}, False)
    return call("_npi_diff", [a], {"n": n, "axis": axis})


def ediff1d(ary, to_end=None, to_begin=None):
    """Differences of neighbours in the elements' order, with others around them."""
    if not is_symbolic(ary, to_begin, to_end) and (
            ary.size < 2 or is_empty(to_begin) or is_empty(to_end)):
        return _joined_differences(ary, to_begin, to_end)
    attrs, inputs = {}, [ary]
    for name, value in (("begin", to_begin), ("end", to_end)):
        if value is None:
            continue
        if isinstance(value, NUMBERS):
            attrs[f"to_{name}_scalar"] = float(value)
        else:
            attrs[f"to_{name}_arr_given"] = True
            inputs.append(as_array(value))
    return call("_npi_ediff1d", inputs, attrs)


def _joined_differences(ary, to_begin, to_end):
    """ediff1d where one of its parts has no element."""
    dtype = ary._array.dtype
    parts = [cast(as_array(part), dtype).reshape((-1,)) for part in (to_begin, to_end)
             if part is not None]
    if ary.size >= 2:
        parts.insert(int(to_begin is not None), call("_npi_ediff1d", [ary], {}))
    if not parts:
        return on_host(onp.ediff1d, (ary,), {}, needs_gradient=False)
    joined = concatenate(parts)
    if joined.size and not _ndarray.is_recorded(joined._array):
        _empty.as_head(joined._array)
    return joined


FUNCTIONS = {over.__name__: over for over in (
    dot, matmul, tensordot, inner, outer, vdot, cross, kron, einsum, polyval, diff,
    ediff1d)}
CONSTANTS = {"pi": math.pi, "e": math.e, "inf": math.inf, "nan": math.nan,
             "NaN": math.nan, "NAN": math.nan, "PINF": math.inf, "NINF": -math.inf,
             "PZERO": 0.0, "NZERO": -0.0, "newaxis": None}
