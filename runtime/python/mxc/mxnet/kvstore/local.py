# SPDX-License-Identifier: Apache-2.0
"""The store of one process."""

import numpy as np

from ..._whole_file import write_whole
from .. import ndarray as nd
from ..base import MXNetError
from ..optimizer import get_updater
from .base import KVStoreBase, as_list, summed

class KVStore(KVStoreBase):
    """Keys are integers or strings, all of one sort. A push of several arrays
    adds them up; the sum goes to the updater with the stored value, or where
    there is none takes its place."""

    def __init__(self, name="local"):
        self._type = name
        self._values = {}
        self._updater = None
        self._keys = None

    # ---- Keys ----------------------------------------------------------------

    def _check(self, key):
        if isinstance(key, bool) or not isinstance(key, (int, str)):
            raise MXNetError("unexpected type for keys: "
                             f"{type(key).__name__}; expected int or str")
        kind = str if isinstance(key, str) else int
        if self._keys not in (None, kind):
            raise MXNetError(f"mixed key types: this store has {self._keys.__name__}"
                             f" keys, found {key!r}")
        self._keys = kind

    def _pairs(self, key, value):
        """[(key, list of arrays)]; a key that is listed twice has the arrays of
        both."""
        if not isinstance(key, (list, tuple)):
            self._check(key)
            return [(key, as_list(value))]
        values = value
        if not isinstance(value, (list, tuple)):
            values = [value] * len(key)
        if len(values) != len(key):
            raise ValueError(f"{len(values)} values for {len(key)} keys")
        found = {}
        for each, arrays in zip(key, values):
            self._check(each)
            found.setdefault(each, []).extend(as_list(arrays))
        return list(found.items())

    def _stored(self, key):
        if key not in self._values:
            raise MXNetError(f"key {key} has not been inited")
        return self._values[key]

    # ---- Values --------------------------------------------------------------

    def _first(self, value):
        """A copy of a key's first value, of which workers have several."""
        return value.copy()

    def _summed(self, key, arrays):
        """A new array: the sum of what is pushed to a key, here and elsewhere."""
        return summed(arrays)

    def init(self, key, value):
        """Stores values under new keys."""
        for each, arrays in self._pairs(key, value):
            if each in self._values:
                raise MXNetError(f"duplicate init of key {each}")
            self._values[each] = self._first(arrays[0])

    def push(self, key, value, priority=0):
        """Adds the arrays up, for the updater or in place of what is stored."""
        for each, arrays in self._pairs(key, value):
            stored = self._stored(each)
            total = self._summed(each, arrays).as_in_context(stored.context)
            if self._updater is not None:
                self._updater(each, total, stored)
            else:
                stored[:] = total

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        """Copies what is stored to the arrays of `out`, but for sparse ones where
        `ignore_sparse`: row_sparse_pull writes those."""
        if out is None:
            raise AssertionError("pull needs out")
        for each, arrays in self._pairs(key, out):
            stored = self._stored(each)
            for array in arrays:
                if not ignore_sparse or array.stype == "default":
                    stored.copyto(array)

    def pushpull(self, key, value, out=None, priority=0):
        """push, then pull; without `out` the values are written."""
        if self._updater is None:
            # All sums before the first array is written: it may be in several.
            sums = [self._summed(*pair) for pair in self._pairs(key, value)]
            targets = self._pairs(key, value if out is None else out)
            for total, (_, arrays) in zip(sums, targets):
                for array in arrays:
                    total.copyto(array)
            return
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority)

    def broadcast(self, key, value, out, priority=0):
        """Stores values, and copies them to `out`."""
        keys = dict.fromkeys(as_list(key))
        firsts = value if isinstance(value, (list, tuple)) else [value] * len(keys)
        for each, first in zip(keys, firsts):
            self._check(each)
            self._values[each] = self._first(as_list(first)[0])
        self.pull(key, out, priority)

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        """Copies the rows `row_ids` of what is stored, row_sparse, to the arrays of
        `out`; row_ids: an array, or one for each array of `out`."""
        if out is None or row_ids is None:
            raise MXNetError("row_sparse_pull needs out and row_ids")
        for each, arrays in self._pairs(key, out):
            stored = self._stored(each)
            if stored.stype != "row_sparse":
                raise MXNetError(f"the value of key {each} is dense: use pull")
            ids = as_list(row_ids)
            for array, rows in zip(arrays, ids * len(arrays) if len(ids) == 1 else ids):
                wanted = nd.array(np.unique(rows.asnumpy().astype(np.int64)),
                                  dtype="int64")
                stored.retain(wanted).copyto(array)

    # ---- Updates -------------------------------------------------------------

    @staticmethod
    def is_capable(capability):
        if capability.lower() == KVStoreBase.OPTIMIZER:
            return True
        raise MXNetError(f"Unknown capability: {capability}")

    def set_optimizer(self, optimizer):
        self._set_updater(get_updater(optimizer))

    def _set_updater(self, updater):
        """updater(key, pushed sum, stored value) changes the stored value."""
        self._updater = updater

    def set_gradient_compression(self, compression_params):
        """Refused: nothing is sent here."""
        raise NotImplementedError("gradients are not compressed in a store of one "
                                  "process")

    def save_optimizer_states(self, fname, dump_optimizer=False):
        if self._updater is None:
            raise AssertionError("the store has no optimizer to save")
        with write_whole(fname) as file:
            file.write(self._updater.get_states(dump_optimizer))

    def load_optimizer_states(self, fname):
        if self._updater is None:
            raise AssertionError("the store has no optimizer to load")
        with open(fname, "rb") as file:
            self._updater.set_states(file.read())

    # ---- Processes -----------------------------------------------------------

    @property
    def type(self):
        return self._type

    @property
    def rank(self):
        return 0

    @property
    def num_workers(self):
        return 1

    def barrier(self):
        """Until all processes are here: at once."""
        nd.waitall()

    _barrier = barrier

    def _set_barrier_before_exit(self, barrier_before_exit=True):
        """Nothing to wait for."""
