# SPDX-License-Identifier: Apache-2.0
"""Data sets: samples by number."""
import os

from ... import ndarray, recordio
from .sampler import Sampler

__all__ = ["Dataset", "SimpleDataset", "ArrayDataset", "RecordFileDataset"]


class Dataset:
    """Samples by number: a subclass has `__getitem__` and `__len__`."""

    def __getitem__(self, idx):
        raise NotImplementedError(f"{type(self).__name__} has no __getitem__.")

    def __len__(self):
        raise NotImplementedError(f"{type(self).__name__} has no __len__.")

    def filter(self, fn):
        """The samples for which `fn` says true."""
        return _Chosen(self, [i for i in range(len(self)) if fn(self[i])])

    def shard(self, num_shards, index):
        """Part `index` of `num_shards`, in order; the first ones have one more if need be."""
        assert num_shards > 0, f"num_shards is at least 1, not {num_shards}."
        assert 0 <= index < num_shards, f"index is from 0 to {num_shards - 1}, not {index}."
        each, more = divmod(len(self), num_shards)
        begin = each * index + min(index, more)
        return _Chosen(self, range(begin, begin + each + (index < more)))

    def take(self, count):
        """The first `count` samples, all where that is None or more than there are."""
        if count is not None and count < 0:
            raise ValueError(f"count is at least 0, not {count}.")
        return _Chosen(self, range(len(self) if count is None else min(count, len(self))))

    def sample(self, sampler):
        """The samples that `sampler` names, in its order."""
        if not isinstance(sampler, Sampler):
            raise TypeError(f"sample wants a Sampler, not a {type(sampler).__name__}.")
        return _Chosen(self, list(sampler))

    def transform(self, fn, lazy=True):
        """`fn(*sample)` of each sample: whenever it is read, or at once."""
        changed = _Transformed(self, fn)
        return changed if lazy else SimpleDataset([changed[i] for i in range(len(changed))])

    def transform_first(self, fn, lazy=True):
        """`transform` of the first part of each sample alone, as of (picture, label)."""
        return self.transform(_First(fn), lazy)


class _First:
    """A class and no closure, so that workers can be sent it."""

    def __init__(self, fn):
        self._fn = fn

    def __call__(self, x, *rest):
        return (self._fn(x), *rest) if rest else self._fn(x)


class _Chosen(Dataset):
    """Some samples of another set."""

    def __init__(self, data, indices):
        self._data = data
        self._indices = indices

    def __len__(self):
        return len(self._indices)

    def __getitem__(self, idx):
        return self._data[self._indices[idx]]


class _Transformed(Dataset):
    def __init__(self, data, fn):
        self._data = data
        self._fn = fn

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx):
        sample = self._data[idx]
        return self._fn(*sample) if isinstance(sample, tuple) else self._fn(sample)


class SimpleDataset(Dataset):
    """Anything with `[]` and `len`."""

    def __init__(self, data):
        self._data = data

    def __len__(self):
        return len(self._data)

    def __getitem__(self, idx):
        return self._data[idx]


class ArrayDataset(Dataset):
    """Sequences of the same length: sample i is the tuple of their elements i."""

    def __init__(self, *args):
        assert args, "ArrayDataset wants at least one sequence."
        self._length = len(args[0])
        self._data = []
        for i, data in enumerate(args):
            assert len(data) == self._length, (
                f"All sequences have the same length: the first has {self._length}, number {i} "
                f"{len(data)}.")
            if isinstance(data, ndarray.NDArray) and len(data.shape) == 1:
                data = data.asnumpy()
            self._data.append(data)

    def __getitem__(self, idx):
        if len(self._data) == 1:
            return self._data[0][idx]
        return tuple(data[idx] for data in self._data)

    def __len__(self):
        return self._length


class RecordFileDataset(Dataset):
    """The records of a RecordIO file, bytes, by its index (`.idx` beside it)."""

    def __init__(self, filename):
        self.filename = filename
        self.idx_file = os.path.splitext(filename)[0] + ".idx"
        self._open()

    def _open(self):
        self._record = recordio.MXIndexedRecordIO(self.idx_file, self.filename, "r")
        self._process = os.getpid()

    def __getitem__(self, idx):
        if self._process != os.getpid():  # A forked worker would share the file's position.
            self._open()
        return self._record.read_idx(self._record.keys[idx])

    def __len__(self):
        return len(self._record.keys)

    def __getstate__(self):
        return {"filename": self.filename, "idx_file": self.idx_file}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._open()
