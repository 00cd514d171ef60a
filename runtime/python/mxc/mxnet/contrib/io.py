# SPDX-License-Identifier: Apache-2.0
"""A gluon.data.DataLoader as an iterator of mx.io, for Module."""
from .. import ndarray
from ..io import DataBatch, DataDesc, DataIter

__all__ = ["DataLoaderIter"]


class DataLoaderIter(DataIter):
    """Batches (data, label) of `loader`; a last one that is short is padded."""

    def __init__(self, loader, data_name="data", label_name="softmax_label", dtype="float32"):
        super().__init__()
        self._loader = loader
        self.dtype = dtype
        data, label = next(iter(loader))
        self.batch_size = data.shape[0]
        self.provide_data = [DataDesc(data_name, data.shape, dtype)]
        self.provide_label = [DataDesc(label_name, label.shape, dtype)]
        self._current = None
        self.reset()

    def reset(self):
        """Begins a new round."""
        self._iter = iter(self._loader)

    def iter_next(self):
        """Whether there is another batch, which becomes the current one."""
        self._current = next(self._iter, None)
        return self._current is not None

    def next(self):
        """The next io.DataBatch."""
        if not self.iter_next():
            raise StopIteration
        return DataBatch(data=self.getdata(), label=self.getlabel(), pad=self.getpad())

    def _part(self, i):
        part = self._current[i].astype(self.dtype)
        if not self.getpad():
            return [part]
        whole = ndarray.zeros((self.batch_size, *part.shape[1:]), dtype=self.dtype)
        whole[:part.shape[0]] = part
        return [whole]

    def getdata(self):
        """The current batch's data."""
        return self._part(0)

    def getlabel(self):
        """The current batch's labels."""
        return self._part(1)

    def getpad(self):
        """How many samples at its end are padding."""
        return self.batch_size - self._current[0].shape[0]

    def getindex(self):
        """None: loaders do not number their samples."""
        return None
