# SPDX-License-Identifier: Apache-2.0
"""Functions of mx.nd.sparse that are not of the table."""

from ...base import MXNetError
from .. import _arithmetic
from .._invoke import _invoke
from ..ndarray import NDArray

_STYPES = ("default", "csr", "row_sparse")


def cast_storage(data, stype, out=None, name=None):
    """The array in another storage type; between "csr" and "row_sparse" there is no
    way (ValueError). csr arrays have two axes."""
    if stype not in _STYPES:
        raise ValueError(f"unknown storage type {stype}")
    if {data.stype, stype} == {"csr", "row_sparse"}:
        raise ValueError(f"cast_storage from {data.stype} to {stype} is not supported")
    if stype == "csr" and len(data.shape) != 2:
        raise ValueError(f"an array of shape {data.shape} cannot be a csr array, which has "
                         "two axes")
    from .._invoke import sparse_arrays_exist
    sparse_arrays_exist()
    return _invoke("cast_storage", [data], {"stype": stype}, out)


def retain(data, indices=None, out=None, name=None, **kwargs):
    """The row_sparse array with the rows of `indices` alone."""
    if kwargs or indices is None:
        raise MXNetError("_sparse_retain takes data and indices"
                         + "".join(f", not {key}" for key in kwargs))
    if not isinstance(indices, NDArray):
        raise MXNetError("retain: indices are an NDArray")
    if data.stype != "row_sparse":
        raise MXNetError(f"retain is of row_sparse arrays, not of {data.stype} ones")
    return _invoke("_sparse_retain", [data, indices], {}, out)


def _function(name):
    dense = _arithmetic.FUNCTIONS[name]

    def function(lhs, rhs):
        return dense(lhs, rhs)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = dense.__doc__
    return function


add, subtract, multiply, divide = map(
    _function, ("add", "subtract", "multiply", "divide"))
