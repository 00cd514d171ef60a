# SPDX-License-Identifier: Apache-2.0
"""Batches of a data set, by this process, threads or other processes."""
import numpy as np

from ... import ndarray
from ...context import cpu_pinned
from . import sampler as _sampler
from ._workers import Processes, Threads

__all__ = ["DataLoader"]


def default_batchify_fn(data):
    """Samples side by side: arrays are stacked, tuples part by part."""
    if isinstance(data[0], ndarray.NDArray):
        return ndarray.stack(*data)
    if isinstance(data[0], tuple):
        return [default_batchify_fn(each) for each in zip(*data)]
    data = np.asarray(data)
    return ndarray.array(data, dtype=data.dtype)


def default_mp_batchify_fn(data):
    """`default_batchify_fn` of a worker process: NumPy's arrays, which are sent."""
    if isinstance(data[0], ndarray.NDArray):
        return _Sent(np.stack([each.asnumpy() for each in data]))
    if isinstance(data[0], tuple):
        return [default_mp_batchify_fn(each) for each in zip(*data)]
    return _Sent(np.asarray(data))


class _Sent:
    """An array on its way from a worker process."""

    def __init__(self, values):
        self.values = values


def _pack(batch):
    """`batch` with its arrays ready to be sent."""
    if isinstance(batch, ndarray.NDArray):
        return _Sent(batch.asnumpy())
    if isinstance(batch, (list, tuple)):
        return type(batch)(map(_pack, batch))
    return batch


def _unpack(batch):
    if isinstance(batch, _Sent):
        return ndarray.array(batch.values, dtype=batch.values.dtype)
    if isinstance(batch, (list, tuple)):
        return type(batch)(map(_unpack, batch))
    return batch


def _pinned(batch, device_id):
    if isinstance(batch, ndarray.NDArray):
        return batch.as_in_context(cpu_pinned(device_id))
    if isinstance(batch, (list, tuple)):
        return [_pinned(each, device_id) for each in batch]
    return batch


class _Make:
    """Makes batches of a data set's samples."""

    def __init__(self, dataset, batchify_fn, sent):
        self._dataset = dataset
        self._batchify_fn = batchify_fn
        self._sent = sent

    def __call__(self, samples):
        batch = self._batchify_fn([self._dataset[i] for i in samples])
        return _pack(batch) if self._sent else batch


class _Batches:
    """One round over a loader's batches, `prefetch` of them under way."""

    def __init__(self, loader):
        self._loader = loader  # Its workers live as long as a round over them does.
        self._batches = iter(loader._batch_sampler)
        self._pending = []
        for _ in range(loader._prefetch):
            self._begin()

    def _begin(self):
        samples = next(self._batches, None)
        if samples is not None:
            self._pending.append(self._loader._pool.submit(samples))

    def __len__(self):
        return len(self._loader)

    def __iter__(self):
        return self

    def __next__(self):
        if not self._pending:
            raise StopIteration
        loader = self._loader
        work = self._pending.pop(0)
        self._begin()
        try:
            batch = work.get(loader._timeout)
        except TimeoutError:
            kind = "thread" if loader._thread_pool else "process"
            raise RuntimeError(
                f"A worker {kind} gave no batch within {loader._timeout} seconds: a sample takes "
                "too long; timeout= sets the limit, num_workers=0 works in place.") from None
        return loader._finish(_unpack(batch))

    next = __next__


class DataLoader:
    """Iterates over batches of `dataset`.

    Which samples: `batch_size` with `shuffle` or a `sampler` and `last_batch` ("keep",
    "discard", "rollover"), or a `batch_sampler`. `batchify_fn` makes a batch of a list of
    samples. `num_workers` processes (forked), or threads with `thread_pool`, read ahead
    `prefetch` batches; a batch that takes `timeout` seconds is an error.
    """

    def __init__(self, dataset, batch_size=None, shuffle=False, sampler=None, last_batch=None,
                 batch_sampler=None, batchify_fn=None, num_workers=0, pin_memory=False,
                 pin_device_id=0, prefetch=None, thread_pool=False, timeout=120,
                 auto_reload=False):
        del auto_reload  # Each round begins to read ahead when it is asked for.
        assert timeout > 0, f"timeout is more than 0 seconds, not {timeout}."
        self._dataset = dataset
        self._pin_memory = pin_memory
        self._pin_device_id = pin_device_id
        self._thread_pool = thread_pool
        self._timeout = timeout
        self._batch_sampler = self._batches_of(batch_size, shuffle, sampler, last_batch,
                                               batch_sampler)
        self._num_workers = max(0, num_workers)
        self._prefetch = max(0, 2 * self._num_workers if prefetch is None else int(prefetch))
        self._prefetch = max(self._prefetch, 1)
        in_processes = self._num_workers > 0 and not thread_pool
        self._batchify_fn = batchify_fn or (
            default_mp_batchify_fn if in_processes else default_batchify_fn)
        self._make = _Make(dataset, self._batchify_fn, in_processes)
        self._pool = None
        if self._num_workers > 0:
            self._pool = (Threads if thread_pool else Processes)(self._num_workers, self._make)

    def _batches_of(self, batch_size, shuffle, sampler, last_batch, batch_sampler):
        if batch_sampler is not None:
            if batch_size is not None or shuffle or sampler is not None or \
                    last_batch is not None:
                raise ValueError("A batch_sampler says all: batch_size, shuffle, sampler and "
                                 "last_batch are not given beside it.")
            return batch_sampler
        if batch_size is None:
            raise ValueError("DataLoader wants a batch_size, or a batch_sampler.")
        if sampler is None:
            sampler = (_sampler.RandomSampler if shuffle else _sampler.SequentialSampler)(
                len(self._dataset))
        elif shuffle:
            raise ValueError("A sampler says in which order: shuffle is not given beside it.")
        return _sampler.BatchSampler(sampler, batch_size, last_batch or "keep")

    def _finish(self, batch):
        return _pinned(batch, self._pin_device_id) if self._pin_memory else batch

    def __iter__(self):
        if self._num_workers > 0:
            return _Batches(self)
        return (self._finish(self._make(samples))
                for samples in self._batch_sampler)

    def __len__(self):
        return len(self._batch_sampler)
