# SPDX-License-Identifier: Apache-2.0
"""mx.nd.sparse: arrays are dense; the functions of sparse ones are those of mx.nd."""

from . import _arithmetic, _register
from .ndarray import NDArray

globals().update(_register.MODULES[""])
globals().update(_register.MODULES["sparse"])
globals().update(_arithmetic.FUNCTIONS)


class BaseSparseNDArray(NDArray):
    """None is ever made: arrays are dense."""

    def __init__(self, *args, **kwargs):
        _refuse(type(self).__name__)


class CSRNDArray(BaseSparseNDArray):
    """None is ever made: arrays are dense."""


class RowSparseNDArray(BaseSparseNDArray):
    """None is ever made: arrays are dense."""


def _refuse(what):
    raise NotImplementedError(f"{what}: sparse arrays are not here")


def csr_matrix(arg1, shape=None, ctx=None, dtype=None):
    """Refused."""
    _refuse("csr_matrix")


def row_sparse_array(arg1, shape=None, ctx=None, dtype=None):
    """Refused."""
    _refuse("row_sparse_array")


def zeros(stype, shape, ctx=None, dtype=None, **kwargs):
    """Zeros; refused unless `stype` is "default"."""
    from .creation import zeros as dense
    return dense(shape, ctx, dtype, stype)


def array(source_array, ctx=None, dtype=None):
    """Refused."""
    _refuse("sparse.array")


def empty(stype, shape, ctx=None, dtype=None):
    """Refused unless `stype` is "default"."""
    return zeros(stype, shape, ctx, dtype)
