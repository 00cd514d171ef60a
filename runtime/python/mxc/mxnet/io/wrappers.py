# SPDX-License-Identifier: Apache-2.0
"""Iterators over iterators."""

from concurrent.futures import ThreadPoolExecutor

from .base import DataBatch, DataDesc, DataIter


def _next_of(iterator):
    try:
        return iterator.next()
    except StopIteration:
        return None


class _OverBatches(DataIter):
    """Shows the arrays of current_batch, which iter_next() sets."""

    current_batch = None

    def getdata(self):
        return self.current_batch.data

    def getlabel(self):
        return self.current_batch.label

    def getindex(self):
        return self.current_batch.index

    def getpad(self):
        return self.current_batch.pad


class ResizeIter(_OverBatches):
    """`size` batches an epoch, whatever data_iter has: it begins again where it
    ends. reset_internal: whether reset() resets it, too."""

    def __init__(self, data_iter, size, reset_internal=True):
        super().__init__(data_iter.batch_size)
        self.data_iter, self.size, self.cur = data_iter, size, 0
        self.reset_internal = reset_internal
        for name in ("provide_data", "provide_label", "default_bucket_key"):
            if hasattr(data_iter, name):
                setattr(self, name, getattr(data_iter, name))

    def reset(self):
        if self.reset_internal:
            self.data_iter.reset()
        self.cur = 0

    def iter_next(self):
        if self.cur >= self.size:
            return False
        batch = _next_of(self.data_iter)
        if batch is None:
            self.data_iter.reset()
            batch = self.data_iter.next()
        self.current_batch = batch
        self.cur += 1
        return True


class PrefetchingIter(_OverBatches):
    """Reads one batch ahead, each of several iterators in a thread of its own;
    a batch has the arrays of all. rename_data, rename_label: for each iterator a
    dict from its names to others."""

    def __init__(self, iters, rename_data=None, rename_label=None):
        self.iters = iters if isinstance(iters, list) else [iters]
        if not self.iters:
            raise AssertionError("there is no iterator")
        super().__init__(self.iters[0].provide_data[0][1][0])
        self.n_iter = len(self.iters)
        self.rename_data = rename_data
        self.rename_label = rename_label
        self._threads = ThreadPoolExecutor(self.n_iter, "prefetch")
        self._ahead()

    def __del__(self):
        threads = getattr(self, "_threads", None)
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)

    def _ahead(self):
        self._waiting = [self._threads.submit(_next_of, each)
                         for each in self.iters]

    @property
    def provide_data(self):
        """Descriptions of the data of all iterators."""
        return self._described("provide_data", self.rename_data)

    @property
    def provide_label(self):
        """Descriptions of the labels of all iterators."""
        return self._described("provide_label", self.rename_label)

    def _described(self, which, renamed):
        found = []
        for each, names in zip(self.iters, renamed or [{}] * self.n_iter):
            for desc in getattr(each, which):
                if not isinstance(desc, DataDesc):
                    desc = DataDesc(*desc)
                found.append(DataDesc(names.get(desc.name, desc.name), desc.shape,
                                      desc.dtype, desc.layout))
        return found

    def reset(self):
        for future in self._waiting:
            future.result()
        for each in self.iters:
            each.reset()
        self._ahead()

    def iter_next(self):
        batches = [future.result() for future in self._waiting]
        if any(batch is None for batch in batches):
            if any(batch is not None for batch in batches):
                raise AssertionError("one iterator has more batches than another")
            return False
        if any(batch.pad != batches[0].pad for batch in batches):
            raise AssertionError("iterators fill up their batches differently")
        self.current_batch = DataBatch(
            [array for batch in batches for array in batch.data],
            [array for batch in batches for array in batch.label or []],
            batches[0].pad, batches[0].index,
            provide_data=self.provide_data, provide_label=self.provide_label)
        self._ahead()
        return True

    def next(self):
        if not self.iter_next():
            raise StopIteration
        return self.current_batch
