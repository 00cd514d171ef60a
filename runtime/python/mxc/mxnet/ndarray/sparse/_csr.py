# SPDX-License-Identifier: Apache-2.0
"""CSRNDArray: rows of a matrix, each with the columns that are stored."""

import numbers

import numpy as np

from ._base import BaseSparseNDArray


def rows_of(indptr):
    """The row of each stored value."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))


def pointers(rows, count):
    """Where each of `count` rows begins, of the sorted rows of stored values."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(
        np.int64)


class CSRNDArray(BaseSparseNDArray):
    """A matrix in compressed sparse rows: `data` has the stored values, `indices` the
    column of each, `indptr` where each row begins among them, and their number."""

    _stype = "csr"
    _aux_names = ("indptr", "indices")

    @property
    def indptr(self):
        """Where each row begins in `data`, and behind the last its length."""
        return self._part(2)

    # ---- Parts: data, indices, indptr -----------------------------------------
    @staticmethod
    def _no_parts(shape, dtype):
        if len(shape) != 2:
            raise ValueError(f"a csr array has two axes, not those of {shape}")
        return (np.zeros(0, dtype), np.zeros(0, np.int64),
                np.zeros(shape[0] + 1, np.int64))

    def _to_dense(self, parts):
        data, indices, indptr = parts
        dense = np.zeros(self._shape, data.dtype)
        np.add.at(dense, (rows_of(indptr), indices), data)
        return dense

    def _pattern_of(self, parts):
        _, indices, indptr = parts
        return rows_of(indptr) * self._shape[1] + indices

    @staticmethod
    def _from_dense(dense, pattern=None):
        stored = dense != 0
        if pattern is not None:
            stored.reshape(-1)[pattern] = True
        rows, columns = np.nonzero(stored)
        return (dense[rows, columns], columns.astype(np.int64),
                pointers(rows, dense.shape[0]))

    def _problem(self, parts):
        data, indices, indptr = parts
        steps = np.diff(indptr)
        if len(indptr) != self._shape[0] + 1:
            return f"indptr has {len(indptr)} entries for {self._shape[0]} rows"
        if indptr[0] != 0 or (steps < 0).any() or indptr[-1] != len(indices):
            return "indptr should rise from 0 to the number of indices"
        if ((indices < 0) | (indices >= self._shape[1])).any():
            return f"an index is not a column of {self._shape[1]}"
        rows = rows_of(indptr)
        if ((np.diff(indices) <= 0) & (np.diff(rows) == 0)).any():
            return "indices of a row should be in ascending order"
        return ("as many values as indices are expected"
                if len(data) != len(indices) else None)

    @staticmethod
    def _layout_problem(stored, shape):
        """What is wrong with the shape of the values, or None."""
        fits = len(shape) == 2 and min(shape) >= 0 and len(stored) == 1
        return None if fits else f"values of shape {stored} for one of shape {shape}"

    # ---- Elements -------------------------------------------------------------
    def __getitem__(self, key):
        """Rows: one (as a matrix of one row), or those of a slice without a step."""
        if isinstance(key, tuple):
            raise ValueError("a csr array is indexed by rows alone, not by several axes")
        count = self._shape[0]
        if isinstance(key, numbers.Integral):
            if not -count <= key < count:
                raise IndexError(f"index {key} is out of bounds for axis 0 with size "
                                 f"{count}")
            row = int(key) % count
            return self._rows(row, row + 1)
        if isinstance(key, slice):
            if key.step not in (None, 1):
                raise ValueError(f"rows of a csr array are cut by step 1, not {key.step}")
            if key.start is None and key.stop is None:
                return self
            begin, end, _ = key.indices(count)
            return self._rows(begin, max(begin, end))
        raise ValueError(f"a csr array is indexed by a row or a slice of rows, not by {key!r}")

    def _rows(self, begin, end):
        from .._invoke import _invoke
        return _invoke("slice", [self], {"begin": (begin,), "end": (end,)})

    def __setitem__(self, key, value):
        """[:] alone, to an array."""
        if not isinstance(key, slice) or key != slice(None):
            raise ValueError("a csr array is assigned to as a whole: a[:] = b")
        if isinstance(value, numbers.Number):
            raise ValueError("a csr array is assigned from an array, not from a "
                             "number, which would fill it")
        self._set_all(value, "CSRNDArray")

    def take_rows(self, rows):
        """The matrix of some rows (NumPy's numbers), in their order."""
        data, indices, indptr = self._get_parts()
        counts = np.diff(indptr)[rows]
        ends = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        places = np.arange(ends[-1]) + np.repeat(indptr[rows] - ends[:-1], counts)
        return type(self)._of_parts((data[places], indices[places], ends),
                                    (len(rows), self._shape[1]), self._ctx)

    def asscipy(self):
        """The matrix of scipy.sparse."""
        import scipy.sparse
        data, indices, indptr = self._get_parts()
        return scipy.sparse.csr_matrix((data.copy(), indices.copy(), indptr.copy()),
                                       shape=self.shape, dtype=self.dtype)
