# SPDX-License-Identifier: Apache-2.0
"""Lines "label … index:value …" as rows of csr matrices, which never become dense: a
million columns take no more memory than what is named."""

import numpy as np

from .. import ndarray as nd
from ..base import MXNetError
from .base import DataBatch, DataDesc, DataIter


def _bare(line):
    """Without what follows "#", and the query of files for ranking."""
    line = line.split("#", 1)[0]
    if "qid:" in line:
        line = " ".join(word for word in line.split() if not word.startswith("qid:"))
    return line


def _read(path, columns, labels):
    """(labels of all rows, values, columns, where rows begin) of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            numbered = [(number, line) for number, line in
                        enumerate(map(_bare, file), 1) if line.strip()]
    except OSError as error:
        raise MXNetError(f"{path}: {error.strerror}") from error
    counts = np.array([line.count(":") for _, line in numbered], np.int64)
    words = np.array([len(line.replace(",", " ").split()) for _, line in numbered],
                     np.int64)
    wrong = np.nonzero(words - counts != labels)[0]
    if len(wrong):
        raise MXNetError(f"{path}, line {numbered[wrong[0]][0]}: "
                         f"{words[wrong[0]] - counts[wrong[0]]} labels, expected {labels}")
    text = " ".join(line for _, line in numbered).replace(",", " ").replace(":", " ")
    try:
        numbers = np.array(text.split(), np.float64)
    except ValueError as error:
        raise MXNetError(f"{path}: {error}") from error
    begins = np.concatenate([[0], np.cumsum(counts)])
    # Labels stand before the pairs of their row.
    is_label = np.zeros(numbers.size, bool)
    first = 2 * begins[:-1] + labels * np.arange(len(counts))
    for place in range(labels):
        is_label[first + place] = True
    pairs = numbers[~is_label].reshape(-1, 2)
    indices = pairs[:, 0].astype(np.int64)
    wrong = np.nonzero((indices < 0) | (indices >= columns))[0]
    if len(wrong):
        row = np.searchsorted(begins, wrong[0], "right") - 1
        raise MXNetError(f"{path}, line {numbered[row][0]}: index {indices[wrong[0]]} "
                         f"exceeds the {columns} features")
    return (numbers[is_label].reshape(-1, labels).astype(np.float32),
            pairs[:, 1].astype(np.float32), indices, begins)


class CSRIter(DataIter):
    """Batches of rows: csr data of (batch_size, columns), labels of (batch_size,) or
    (batch_size, labels). The last one goes on with the first rows, of which its pad
    says how many, and the next epoch behind these."""

    def __init__(self, path, columns, batch_size, labels=1, data_name="data",
                 label_name="softmax_label", num_parts=1, part_index=0, dtype=None):
        super().__init__(batch_size)
        if not 0 <= part_index < num_parts:
            raise MXNetError(f"part_index {part_index} of {num_parts} parts")
        self._columns = columns
        self._names, self._dtype = (data_name, label_name), dtype or "float32"
        self._labels, self._values, self._indices, self._begins = _read(
            path, columns, labels)
        count = len(self._labels)
        if not count:
            raise MXNetError(f"{path}: there are no rows")
        self._first = count * part_index // num_parts
        self._count = count * (part_index + 1) // num_parts - self._first
        self._label_shape = (batch_size,) if labels == 1 else (batch_size, labels)
        self._place = -batch_size

    @property
    def provide_data(self):
        """The csr matrix of a batch."""
        return [DataDesc(self._names[0], (self.batch_size, self._columns),
                         np.dtype(self._dtype).type)]

    @property
    def provide_label(self):
        """Its labels."""
        return [DataDesc(self._names[1], self._label_shape, np.float32)]

    def reset(self):
        ended = self._place >= self._count
        used = self._place - self._count if ended else 0
        self._place = used - self.batch_size

    def iter_next(self):
        self._place += self.batch_size
        return self._place < self._count

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=[self.getdata()], label=[self.getlabel()],
                         pad=self.getpad(), index=self.getindex())

    def _rows(self):
        """Of this batch."""
        return self._first + (self._place + np.arange(self.batch_size)) % self._count

    def getdata(self):
        """The batch's csr matrix."""
        parts = [slice(self._begins[row], self._begins[row + 1])
                 for row in self._rows()]
        indptr = np.concatenate([[0], np.cumsum([part.stop - part.start
                                                 for part in parts])])
        return nd.sparse.csr_matrix(
            (np.concatenate([self._values[part] for part in parts]),
             np.concatenate([self._indices[part] for part in parts]), indptr),
            shape=(self.batch_size, self._columns), dtype=self._dtype)

    def getlabel(self):
        """The batch's labels."""
        return nd.array(self._labels[self._rows()].reshape(self._label_shape))

    def getindex(self):
        return [int(row) for row in self._rows()]

    def getpad(self):
        return max(0, self._place + self.batch_size - self._count)
