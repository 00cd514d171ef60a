# SPDX-License-Identifier: Apache-2.0
"""mx.nd.sparse: arrays of which only some elements are stored, and operators over them.

    csr_matrix, row_sparse_array    new arrays of their parts, or of dense ones
    x.tostype("csr")                a dense array's stored elements
    dot(csr, dense), csr * 2 …      results have the storage types of MXNet
"""

from .. import _arithmetic, _register
from .._invoke import set_sparse
from ..ndarray import NDArray

_table = {**_register.MODULES[""], **_register.MODULES["sparse"]}
globals().update(_table)
globals().update(_arithmetic.FUNCTIONS)

from . import _dispatch  # noqa: E402
from ._base import BaseSparseNDArray, NotSupportedForSparseNDArray  # noqa: E402
from ._creation import (array, csr_matrix, empty, row_sparse_array,  # noqa: E402
                        zeros)
from ._csr import CSRNDArray  # noqa: E402
from ._functions import cast_storage, retain  # noqa: E402
from ._row_sparse import RowSparseNDArray  # noqa: E402
from ._updates import update_rows  # noqa: E402

set_sparse(_dispatch)

__all__ = ["BaseSparseNDArray", "CSRNDArray", "NDArray", "NotSupportedForSparseNDArray",
           "RowSparseNDArray", "array", "cast_storage", "csr_matrix", "empty", "retain",
           "row_sparse_array", "update_rows", "zeros", *sorted(_table)]
