# SPDX-License-Identifier: Apache-2.0
"""RowSparseNDArray: an array of which only some rows are stored."""

import numbers

import numpy as np

from ._base import BaseSparseNDArray, np_array


class RowSparseNDArray(BaseSparseNDArray):
    """An array whose rows (slices of the first axis) are 0 but those of `indices`, in
    ascending order; `data` has these."""

    _stype = "row_sparse"
    _aux_names = ("indices",)

    # ---- Parts: data, indices -------------------------------------------------
    @staticmethod
    def _no_parts(shape, dtype):
        return np.zeros((0, *shape[1:]), dtype), np.zeros(0, np.int64)

    def _to_dense(self, parts):
        data, indices = parts
        dense = np.zeros(self._shape, data.dtype)
        dense[indices] = data
        return dense

    @staticmethod
    def _pattern_of(parts):
        return parts[1]

    @staticmethod
    def _from_dense(dense, pattern=None):
        stored = (dense != 0).reshape(dense.shape[0], -1).any(axis=1)
        if pattern is not None:
            stored[pattern] = True
        rows = np.nonzero(stored)[0].astype(np.int64)
        return dense[rows], rows

    def _problem(self, parts):
        data, indices = parts
        if ((indices < 0) | (indices >= self._shape[0])).any():
            return f"an index is not a row of {self._shape[0]}"
        if (np.diff(indices) <= 0).any():
            return "indices should be in ascending order"
        return ("as many rows as indices are expected" if len(data) != len(indices)
                else None)

    @staticmethod
    def _layout_problem(stored, shape):
        """What is wrong with the shape of the values, or None."""
        fits = (shape and min(shape) >= 0 and len(stored) == len(shape)
                and stored[1:] == shape[1:])
        return None if fits else f"values of shape {stored} for one of shape {shape}"

    # ---- Elements -------------------------------------------------------------
    def __getitem__(self, key):
        """[:] alone: itself."""
        if isinstance(key, numbers.Integral):
            raise NotImplementedError("a row_sparse array has no single rows to index; "
                                      "a[:] is itself, a.tostype('default') has rows")
        if not isinstance(key, slice):
            raise ValueError(f"a row_sparse array is indexed by [:] alone, not by {key!r}")
        if key != slice(None):
            raise NotImplementedError("a row_sparse array is indexed by [:] alone; "
                                      "a.tostype('default') has rows")
        return self

    def __setitem__(self, key, value):
        """[:] alone, to an array or a number; every row is stored for a number."""
        if not isinstance(key, slice):
            raise TypeError("RowSparseNDArray only supports [:] for assignment")
        if key != slice(None):
            raise ValueError("Assignment with slice for RowSparseNDArray is not "
                             "implmented yet.")
        if not isinstance(value, numbers.Number):
            self._set_all(value, "RowSparseNDArray")
        elif value == 0:
            self._become(type(self)._zeros(self.shape, self._ctx, self._dtype))
        else:
            self._become(np_array(np.asarray(value), self))

    def retain(self, *args, **kwargs):
        """The rows of some indices alone."""
        from ._functions import retain
        return retain(self, *args, **kwargs)
