# SPDX-License-Identifier: Apache-2.0
"""Batches of arrays in memory."""

from collections import OrderedDict

import numpy as np

from .. import ndarray as nd
from .base import DataBatch, DataDesc, DataIter


def _named(data, allow_empty, default_name):
    """[(name, array)] of one array, or of several in a list or dict."""
    if data is None:
        data = []
    if not isinstance(data, (list, tuple, dict)):
        data = [data]
    if not isinstance(data, dict):
        if not data and not allow_empty:
            raise AssertionError("there is no data")
        if len(data) == 1:
            data = OrderedDict([(default_name, data[0])])
        else:
            data = OrderedDict((f"_{i}_{default_name}", array)
                               for i, array in enumerate(data))
    return [(name, _of_numbers(name, array))
            for name, array in sorted(data.items())]


def _of_numbers(name, array):
    """NumPy's array of the values (a csr matrix as it is), with the type that batches have: an
    NDArray's own, else float32."""
    if hasattr(array, "tocsr") or getattr(array, "stype", "") == "csr":
        return nd.sparse.csr_matrix(array)
    if isinstance(array, nd.NDArray):
        return array.asnumpy()
    try:
        return np.asarray(array, dtype="float32")
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name} is {type(array).__name__}, which is no array of "
                        "numbers") from error


def _as_arrays(named):
    return [(name, array if isinstance(array, nd.NDArray) else
             nd.array(array, dtype=array.dtype)) for name, array in named]


class NDArrayIter(DataIter):
    """Batches of rows of arrays.

    data, label: an array, a list of arrays or a dict by name, of NumPy or
    NDArrays; the first of the data says how many rows are read. last_batch_handle, of
    rows that do not fill a batch: "pad" fills it from the beginning, "discard" leaves
    them out, "roll_over" begins the next epoch with them.
    """

    def __init__(self, data, label=None, batch_size=1, shuffle=False,
                 last_batch_handle="pad", data_name="data",
                 label_name="softmax_label"):
        super().__init__(batch_size)
        if last_batch_handle not in ("pad", "discard", "roll_over"):
            raise ValueError("last_batch_handle is pad, discard or roll_over, not "
                             f"{last_batch_handle!r}")
        self._data = _named(data, False, data_name)
        self._label = _named(label, True, label_name)
        rows = self._data[0][1].shape[0]
        if last_batch_handle != "discard" and any(
                isinstance(array, nd.NDArray) for _, array in self._data + self._label):
            raise NotImplementedError("batches of csr matrices are whole: "
                                      "last_batch_handle is \"discard\"")
        for name, array in self._data + self._label:
            if array.shape[0] < rows:
                raise ValueError(f"{name} has {array.shape[0]} rows, "
                                 f"{self._data[0][0]} {rows}")
        self.idx = np.arange(rows)
        self.shuffle = shuffle
        self.last_batch_handle = last_batch_handle
        self.num_source = len(self._data) + len(self._label)
        self.num_data = (rows - rows % batch_size
                         if last_batch_handle == "discard" else rows)
        if self.num_data < batch_size and last_batch_handle != "pad":
            raise AssertionError(f"{rows} rows do not fill a batch of {batch_size}")
        self._left = np.empty(0, self.idx.dtype)
        if shuffle:
            np.random.shuffle(self.idx)
        self.cursor = -batch_size

    @property
    def data(self):
        """[(name, NDArray)], in the order of the rows that were given."""
        return _as_arrays(self._data)

    @property
    def label(self):
        """The same of the labels."""
        return _as_arrays(self._label)

    @property
    def provide_data(self):
        """Descriptions of the data."""
        return self._described(self._data)

    @property
    def provide_label(self):
        """Descriptions of the labels."""
        return self._described(self._label)

    def _described(self, arrays):
        return [DataDesc(name, (self.batch_size, *array.shape[1:]), np.dtype(array.dtype).type)
                for name, array in arrays]

    def hard_reset(self):
        """Back to the beginning, without what roll_over left."""
        if self.shuffle:
            np.random.shuffle(self.idx)
        self._left = self._left[:0]
        self.cursor = -self.batch_size

    def reset(self):
        """Back to the beginning; an epoch of roll_over that ended begins with
        the rows that it left."""
        left = self._left
        if self.last_batch_handle == "roll_over" and (
                0 <= self.cursor < self.num_data < self.cursor + self.batch_size):
            left = self.idx[self.cursor:]
        self.hard_reset()
        if self.last_batch_handle == "roll_over" and len(left):
            self._left = left
            self.cursor = -self.batch_size - len(left)

    def iter_next(self):
        self.cursor += self.batch_size
        if self.last_batch_handle == "pad":
            return self.cursor < self.num_data
        return self.cursor + self.batch_size <= self.num_data

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=self.getdata(), label=self.getlabel(),
                         pad=self.getpad(), index=self.getindex())

    def _rows(self):
        """The rows of the present batch."""
        places = np.arange(self.cursor, self.cursor + self.batch_size)
        if self.cursor < 0:
            rows = self.idx[np.maximum(places, 0)]
            return np.where(places < 0, self._left[np.minimum(places, -1)],
                            rows)
        return self.idx[places % self.num_data]

    def _batch(self, arrays):
        rows = self._rows()
        return [array.take_rows(rows) if isinstance(array, nd.NDArray) else
                nd.array(array[rows], dtype=array.dtype) for _, array in arrays]

    def getdata(self):
        return self._batch(self._data)

    def getlabel(self):
        return self._batch(self._label)

    def getindex(self):
        return self._rows()

    def getpad(self):
        if self.last_batch_handle == "pad":
            return max(0, self.cursor + self.batch_size - self.num_data)
        # Those that an earlier epoch of roll_over left.
        return max(0, -self.cursor)
