# SPDX-License-Identifier: Apache-2.0
"""Updates of weights by gradients of which only some rows are there.

Lazy updates change the rows of the gradient alone, in the weight and in its states; the
others are as if their gradient had not been asked for: no decay, no momentum."""

import numpy as np

from .. import _empty
from .._invoke import invoke_dense
from ..ndarray import NDArray
from ._base import BaseSparseNDArray
from ._storage import is_true

# Operators whose updates are lazy by an attribute, and whether they are by default.
_BY_ATTRIBUTE = {"sgd_update": True, "sgd_mom_update": True, "adam_update": True,
                 "mp_sgd_update": True, "mp_sgd_mom_update": True}
_ALWAYS = {"ftrl_update"}


def is_update(op):
    """Whether the operator writes inputs of its own."""
    return op.endswith("_update")


def _dense(array):
    """A dense array over what a sparse one is kept as: writes reach it."""
    return NDArray(array._array, array._ctx) if isinstance(
        array, BaseSparseNDArray) else array


def _is_lazy(op, grad, attrs):
    if grad.stype != "row_sparse":
        return False
    if op in _BY_ATTRIBUTE:
        return "lazy_update" not in attrs or is_true(attrs, "lazy_update")
    return op in _ALWAYS


def update(op, inputs, attrs, out):
    """Calls an update: inputs are the weight, its gradient and the states."""
    grad = inputs[1]
    lazy = _is_lazy(op, grad, attrs)
    attrs = {name: value for name, value in attrs.items() if name != "lazy_update"}
    if not lazy:
        arrays = [_dense(array) for array in inputs]
        invoke_dense(op, arrays, attrs,
                            _dense(inputs[0] if out is None else out))
        return inputs[0] if out is None else out
    rows = grad._get_parts()[1]
    target = inputs[0] if out is None else out
    if len(rows):
        _on_rows(op, inputs, attrs, target, rows)
    return target


def _on_rows(op, inputs, attrs, target, rows):
    arrays = [grad_rows(array, rows) for array in inputs]
    invoke_dense(op, arrays, attrs, arrays[0])
    write_rows(target, rows, arrays[0].asnumpy())
    for state, values in zip(inputs[2:], arrays[2:]):
        write_rows(state, rows, values.asnumpy())


def grad_rows(array, rows):
    """A dense array of some rows."""
    values = np.ascontiguousarray(array._view_numpy()[rows])
    return NDArray(_empty.from_numpy(values), array._ctx)


def write_rows(array, rows, values):
    """Rows of an array become `values`."""
    array._array.memory(True)[rows] = values


def update_rows(step, index, weight, grad, state):
    """step(index, weight, grad, state) over the rows of a row_sparse gradient alone;
    it writes its weight and state."""
    rows = grad._get_parts()[1]
    if not len(rows):
        return
    arrays = [grad_rows(array, rows) for array in (weight, grad, state)]
    step(index, *arrays)
    write_rows(weight, rows, arrays[0].asnumpy())
    write_rows(state, rows, arrays[2].asnumpy())
