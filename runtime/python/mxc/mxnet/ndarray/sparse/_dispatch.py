# SPDX-License-Identifier: Apache-2.0
"""Calls of operators over arrays some of which are sparse.

Where there is a kernel for their parts, it computes the result; elsewhere the operator
is called over dense arrays, as MXNet falls back, and the result becomes an array of the
storage type that MXNet gives it. Dense arrays that a sparse one is kept as are recorded
by autograd like any others."""

from .._invoke import _invoke, invoke_dense
from ..ndarray import NDArray
from . import _kernels, _storage, _updates
from ._base import BaseSparseNDArray
from ._creation import CLASSES


def stored_as(stype, array, ctx):
    """The array of mxc._ndarray as one of a storage type."""
    cls = CLASSES.get(stype, NDArray)
    return cls(array, ctx)


def _is_sparse(array):
    return isinstance(array, BaseSparseNDArray)


def invoke(op, inputs, attrs, out):
    """What an operator gives; None where no sparse array takes part."""
    if not any(map(_is_sparse, inputs)):
        if out is not None or _storage.is_plain(op):
            return None
        if not inputs or _storage.infer(op, ["default"] * len(inputs),
                                        attrs) == "default":
            return None
    if _updates.is_update(op):
        return _updates.update(op, inputs, attrs, out)
    result = _result(op, inputs, attrs)
    return result if out is None else _written(result, out)


def _result(op, inputs, attrs):
    if _kernels.takes(op, inputs):
        result = _kernels.call(op, inputs, attrs)
        if result is not None:
            return result
    return _fallback(op, inputs, attrs)


def _written(result, out):
    """Writes results into the arrays of `out`."""
    outs = out if isinstance(out, (list, tuple)) else [out]
    results = result if isinstance(result, list) else [result]
    for source, target in zip(results, outs):
        if target is not source:
            source.copyto(target)
    return out


def dense(array):
    """A dense NDArray of the same values, through which gradients flow."""
    return array._as_dense() if _is_sparse(array) else array


def _fallback(op, inputs, attrs):
    result = invoke_dense(op, [dense(array) for array in inputs], attrs)
    stype = _storage.infer(op, [array.stype for array in inputs], attrs)
    if stype == "default":
        return result
    if isinstance(result, list):
        return [stored_as(stype, each._array, each._ctx) for each in result]
    made = stored_as(stype, result._array, result._ctx)
    made._pattern = _kernels.pattern(op, inputs, attrs, stype)
    return made


_SCALAR_OPERATORS = {
    "broadcast_add": ("_plus_scalar", "_plus_scalar"),
    "broadcast_sub": ("_minus_scalar", "_rminus_scalar"),
    "broadcast_mul": ("_mul_scalar", "_mul_scalar"),
    "broadcast_div": ("_div_scalar", "_rdiv_scalar"),
    "broadcast_mod": ("_mod_scalar", "_rmod_scalar"),
    "broadcast_power": ("_power_scalar", "_rpower_scalar"),
    "broadcast_equal": ("_equal_scalar", "_equal_scalar"),
    "broadcast_not_equal": ("_not_equal_scalar", "_not_equal_scalar"),
    "broadcast_greater": ("_greater_scalar", "_lesser_scalar"),
    "broadcast_greater_equal": ("_greater_equal_scalar", "_lesser_equal_scalar"),
    "broadcast_lesser": ("_lesser_scalar", "_greater_scalar"),
    "broadcast_lesser_equal": ("_lesser_equal_scalar", "_greater_equal_scalar"),
    "broadcast_maximum": ("_maximum_scalar", "_maximum_scalar"),
    "broadcast_minimum": ("_minimum_scalar", "_minimum_scalar"),
}
_ELEMENTWISE = {"broadcast_add": "elemwise_add", "broadcast_sub": "elemwise_sub",
                "broadcast_mul": "elemwise_mul"}


def binary(name, left, right, out):
    """What a broadcasting operator gives of two arrays, or of one and a number; None
    where none is sparse."""
    if not (_is_sparse(left) or _is_sparse(right)):
        return None
    if not isinstance(right, NDArray):
        op = _SCALAR_OPERATORS.get(name, (None, None))[0]
        return op and _invoked(op, [left], {"scalar": right}, out)
    if not isinstance(left, NDArray):
        op = _SCALAR_OPERATORS.get(name, (None, None))[1]
        return op and _invoked(op, [right], {"scalar": left}, out)
    if left.shape == right.shape and (left.stype == right.stype
                                      or name == "broadcast_mul"):
        name = _ELEMENTWISE.get(name, name)
    return _invoked(name, [left, right], {}, out)


def _invoked(op, inputs, attrs, out):
    return _invoke(op, inputs, attrs, out)
