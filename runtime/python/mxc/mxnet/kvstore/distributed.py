# SPDX-License-Identifier: Apache-2.0
"""Stores of a job's workers."""

import atexit
import functools
import os
import sys
import time

import numpy as np

from .. import ndarray as nd
from ..base import MXNetError
from . import _server, _slots
from .base import as_list, summed
from .compression import TwoBits
from .local import KVStore


@functools.cache
def _channel(kind):
    """The one way to the servers that a worker has, however many stores."""
    channel = kind(int(os.environ["RANK"]))

    def leave():
        nd.waitall()
        # After an exception that nobody caught the others must not wait for it.
        channel.close(finished=not hasattr(sys, "last_value"))

    atexit.register(leave)
    return channel


class _JobStore(KVStore):
    """What both kinds share: who takes part."""

    def __init__(self, name, channel):
        super().__init__(name)
        self._channel = _channel(channel)
        self._compression = None

    @property
    def rank(self):
        return int(os.environ["RANK"])

    @property
    def num_workers(self):
        return int(os.environ["WORLD_SIZE"])

    def set_gradient_compression(self, compression_params):
        """{"type": "2bit", "threshold": t}: a worker's gradients become t, 0 or -t;
        what is left of them is added to the next."""
        kind = compression_params.get("type", "2bit")
        if kind not in ("2bit", "none"):
            raise MXNetError(f"unknown compression {kind!r}; expected 2bit or none")
        self._compression = kind == "2bit" and TwoBits(
            float(compression_params.get("threshold", 0.5)))

    def _pushed(self, key, arrays):
        """The sum of this worker's devices, compressed where that is wanted."""
        total = summed(arrays)
        if self._compression and total.stype == "default":
            total = self._compression(key, total)
        return total


class SyncStore(_JobStore):
    """dist_sync: gradients are added over all workers, in the order of ranks; each
    worker has the values and makes the same updates. All workers push the same keys
    in the same order."""

    def __init__(self, name):
        super().__init__(name, _slots.Sums)

    serve = staticmethod(_slots.serve_sums)

    def _first(self, value):
        """The value of worker 0."""
        mine = value.tostype("default").asnumpy()
        whole = self._sum(mine if self.rank == 0 else np.zeros_like(mine))
        return nd.array(whole, ctx=value.context, dtype=value.dtype).tostype(value.stype)

    def _summed(self, key, arrays):
        total = self._pushed(key, arrays)
        if total.stype == "row_sparse":
            return self._sum_rows(total)
        return nd.array(self._sum(total.asnumpy()), ctx=total.context, dtype=total.dtype)

    def _sum(self, array):
        if array.dtype.itemsize <= 4 and array.dtype.kind == "f":
            return self._channel.sum(array)
        # Wider numbers as the nearest float32 and what that lacks.
        near = array.astype(np.float32)
        rest = (array - near.astype(array.dtype)).astype(np.float32)
        near, rest = self._channel.sum(np.stack([near, rest])).astype(np.float64)
        return near + rest

    def _sum_rows(self, total):
        """Rows of all workers, one behind the other; then those of equal numbers
        are added."""
        rows = total.indices.asnumpy().astype(np.int64)
        counts = np.zeros(self.num_workers, np.float32)
        counts[self.rank] = rows.size
        counts = self._channel.sum(counts).astype(np.int64)
        begin, width = counts[:self.rank].sum(), int(np.prod(total.shape[1:]))
        sent = np.zeros((counts.sum(), width + 2), np.float32)
        mine = sent[begin:begin + rows.size]
        mine[:, 0], mine[:, 1] = rows >> 20, rows & 0xFFFFF
        mine[:, 2:] = total.data.asnumpy().reshape(rows.size, width)
        taken = self._channel.sum(sent)
        numbers = (taken[:, 0].astype(np.int64) << 20) + taken[:, 1].astype(np.int64)
        found, places = np.unique(numbers, return_inverse=True)
        values = np.zeros((found.size, width), np.float32)
        np.add.at(values, places.ravel(), taken[:, 2:])
        return nd.sparse.row_sparse_array(
            (values.reshape((-1, *total.shape[1:])), found), shape=total.shape,
            ctx=total.context, dtype=total.dtype)

    def barrier(self):
        """Until all workers are here."""
        nd.waitall()
        self._channel.sum(np.zeros(1, np.float32))

    _barrier = barrier


class AsyncStore(_JobStore):
    """dist_async: servers have the values, and update them by each push as it comes."""

    def __init__(self, name):
        super().__init__(name, _slots.Calls)
        self._shapes, self._turn = {}, 0

    @staticmethod
    def serve():
        """Is a server of such a job."""
        _slots.serve_calls(_server.Server().answer)

    def _call(self, key, do, arrays=(), **words):
        server = _server.place_of(key, self._channel.servers)
        return self._channel.call(server, {"do": do, "key": key, **words}, arrays)

    def _known(self, key):
        if key not in self._shapes:
            raise MXNetError(f"key {key} has not been inited")
        return self._shapes[key]

    def init(self, key, value):
        """The values of worker 0, when this returns."""
        for each, arrays in self._pairs(key, value):
            if each in self._shapes:
                raise MXNetError(f"duplicate init of key {each}")
            self._keep(each, arrays[0])
        self.barrier()

    def _keep(self, key, value):
        self._shapes[key] = value.shape
        if self.rank == 0:
            self._call(key, "init", [value.tostype("default").asnumpy()],
                       stype=value.stype, dtype=np.dtype(value.dtype).name)

    def broadcast(self, key, value, out, priority=0):
        """Stores worker 0's values, and copies them to `out`."""
        keys = as_list(key)
        firsts = value if isinstance(value, (list, tuple)) else [value] * len(keys)
        for each, first in zip(keys, firsts):
            self._check(each)
            self._keep(each, as_list(first)[0])
        self.barrier()
        self.pull(key, out, priority)

    def push(self, key, value, priority=0):
        for each, arrays in self._pairs(key, value):
            self._known(each)
            total = self._pushed(each, arrays)
            if total.stype == "row_sparse":
                self._call(each, "push", [total.data.asnumpy()],
                           rows=total.indices.asnumpy().tolist())
            else:
                self._call(each, "push", [total.asnumpy()])

    def pull(self, key, out=None, priority=0, ignore_sparse=True):
        if out is None:
            raise AssertionError("pull needs out")
        for each, arrays in self._pairs(key, out):
            self._known(each)
            _, (value,) = self._call(each, "pull")
            for array in arrays:
                nd.array(value, dtype=array.dtype).tostype(array.stype).copyto(array)

    def pushpull(self, key, value, out=None, priority=0):
        self.push(key, value, priority)
        self.pull(key, value if out is None else out, priority)

    def row_sparse_pull(self, key, out=None, priority=0, row_ids=None):
        if out is None or row_ids is None:
            raise MXNetError("row_sparse_pull needs out and row_ids")
        for each, arrays in self._pairs(key, out):
            shape, ids = self._known(each), as_list(row_ids)
            for array, rows in zip(arrays, ids * len(arrays) if len(ids) == 1 else ids):
                wanted = np.unique(rows.asnumpy().astype(np.int64))
                _, (value,) = self._call(each, "pull", rows=wanted.tolist())
                nd.sparse.row_sparse_array((value, wanted), shape=shape).copyto(array)

    def set_optimizer(self, optimizer):
        """Servers make one of its class and numbers; one of mxc.mxnet's own."""
        described = _server.describe(optimizer)
        if self.rank == 0:
            for server in range(self._channel.servers):
                self._channel.call(server, {"do": "optimizer", "is": described})
        self.barrier()

    def _set_updater(self, updater):
        raise NotImplementedError("dist_async: servers update; set_optimizer says how")

    def save_optimizer_states(self, fname, dump_optimizer=False):
        raise AssertionError("servers have the optimizer's states, not workers")

    load_optimizer_states = save_optimizer_states

    def barrier(self):
        """Until all workers are here."""
        nd.waitall()
        self._turn += 1
        self._channel.call(0, {"do": "arrive"})
        wanted = self._turn * self.num_workers
        while self._channel.call(0, {"do": "arrived"})[0]["count"] < wanted:
            time.sleep(0.002)

    _barrier = barrier
