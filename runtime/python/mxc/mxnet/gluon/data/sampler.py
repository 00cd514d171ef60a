# SPDX-License-Identifier: Apache-2.0
"""In which order samples are drawn."""
import numpy as np

__all__ = ["Sampler", "SequentialSampler", "RandomSampler", "FilterSampler", "BatchSampler"]


class Sampler:
    """Iterates over numbers of samples."""

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __len__.")

    def __iter__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __iter__.")


class SequentialSampler(Sampler):
    """`length` numbers from `start` on."""

    def __init__(self, length, start=0):
        self._length = length
        self._start = start

    def __iter__(self):
        return iter(range(self._start, self._start + self._length))

    def __len__(self):
        return self._length


class RandomSampler(Sampler):
    """Each number below `length` once, in an order that NumPy draws anew each time."""

    def __init__(self, length):
        self._length = length

    def __iter__(self):
        indices = np.arange(self._length)
        np.random.shuffle(indices)
        return iter(indices)

    def __len__(self):
        return self._length


class FilterSampler(Sampler):
    """The numbers of the samples for which `fn` says true."""

    def __init__(self, fn, dataset):
        self._indices = [i for i in range(len(dataset)) if fn(dataset[i])]

    def __iter__(self):
        return iter(self._indices)

    def __len__(self):
        return len(self._indices)


class BatchSampler(Sampler):
    """Lists of `batch_size` numbers of another sampler.

    A last list that is shorter is kept ("keep"), left out ("discard") or begins the next
    round ("rollover")."""

    def __init__(self, sampler, batch_size, last_batch="keep"):
        if last_batch not in ("keep", "discard", "rollover"):
            raise ValueError("last_batch is 'keep', 'discard' or 'rollover', not "
                             f"'{last_batch}'.")
        self._sampler = sampler
        self._batch_size = batch_size
        self._last_batch = last_batch
        self._rest = []

    def __iter__(self):
        batch, self._rest = self._rest, []
        for i in self._sampler:
            batch.append(i)
            if len(batch) == self._batch_size:
                yield batch
                batch = []
        if batch and self._last_batch == "keep":
            yield batch
        elif self._last_batch == "rollover":
            self._rest = batch

    def __len__(self):
        count = len(self._sampler)
        if self._last_batch == "keep":
            return -(-count // self._batch_size)
        if self._last_batch == "rollover":
            count += len(self._rest)
        return count // self._batch_size
