# SPDX-License-Identifier: Apache-2.0
"""The C API of KVStores (runtime/mxc_kvstore.h), called through ctypes.

Its keys are known before a job begins. Those of MXNet come one by one, so they
travel in slots (_slots.py), keys of fixed sizes."""

import ctypes
import functools
import os
import pathlib

import numpy as np

from ..base import MXNetError

_FLOATS = ctypes.POINTER(ctypes.c_float)
UPDATER = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_uint64,
                           ctypes.c_uint64, _FLOATS, _FLOATS, ctypes.c_double)
# No key is cut into parts: each lives on one server.
_UNCUT = 1 << 40


class _Key(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("elements", ctypes.c_uint64)]


class _Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("kvstore", ctypes.c_char_p),
                ("keys", ctypes.POINTER(_Key)), ("key_count", ctypes.c_uint32),
                ("updater", UPDATER), ("user_data", ctypes.c_void_p),
                ("workers", ctypes.c_uint32), ("servers", ctypes.c_char_p),
                ("staleness", ctypes.c_uint32), ("mean", ctypes.c_int),
                ("compression", ctypes.c_char_p), ("cut_from", ctypes.c_uint64),
                ("rank", ctypes.c_uint32), ("key_file", ctypes.c_char_p),
                ("listen", ctypes.c_char_p),
                ("widths", ctypes.POINTER(ctypes.c_uint64))]


@functools.cache
def _library():
    path = pathlib.Path(__file__).parents[2] / "libmxc_train.so.0"
    library = ctypes.CDLL(str(path))
    handle, key = ctypes.c_void_p, ctypes.c_uint32
    for name, arguments in {
            "open": [ctypes.POINTER(_Options), ctypes.POINTER(handle)],
            "init": [handle, key, _FLOATS], "wait": [handle, key], "finish": [handle],
            "push": [handle, key, ctypes.POINTER(_FLOATS), key, ctypes.c_int64],
            "pull": [handle, key, ctypes.POINTER(_FLOATS), key, ctypes.c_int64],
            "serve": [ctypes.POINTER(_Options)]}.items():
        function = getattr(library, f"mxc_kvstore_{name}")
        function.argtypes, function.restype = arguments, ctypes.c_void_p
        function.errcheck = _check
    library.mxc_kvstore_close.argtypes = [handle]
    library.mxc_status_message.argtypes = [handle]
    library.mxc_status_message.restype = ctypes.c_char_p
    library.mxc_status_release.argtypes = [handle]
    return library


def _check(status, function, arguments):
    if status:
        library = _library()
        text = library.mxc_status_message(status).decode(errors="replace")
        library.mxc_status_release(status)
        raise MXNetError(text)


def _options(kind, keys, updater=None):
    """Of this process, as `mxc launch` has told it; the arrays must outlive it."""
    place, listen = os.environ, os.environ.get("MXC_LISTEN")
    if listen and listen.startswith("fd:"):
        # Who serves closes it; it may serve again.
        listen = f"fd:{os.dup(int(listen[3:]))}"
    table = (_Key * len(keys))(*((name.encode(), size) for name, size in keys))
    return _Options(
        ctypes.sizeof(_Options), kind.encode(), table, len(keys), updater or UPDATER(),
        None, int(place["WORLD_SIZE"]), place["MXC_SERVERS"].encode(), 0, 0, None,
        _UNCUT, int(place["RANK"]), place.get("MXC_KEY", "").encode() or None,
        listen.encode() if listen else None, None)


def _pointer(array):
    return array.ctypes.data_as(_FLOATS)


def _pointers(array):
    return (_FLOATS * 1)(_pointer(array))


class Store:
    """A worker's end of a job. `keys`: [(name, elements)], the same in all processes;
    `kind`: "dist_sync", whose values are sums of what all workers have pushed, or
    "dist_async", whose values the servers' function changes by each push."""

    def __init__(self, kind, keys):
        self._handle = ctypes.c_void_p()
        _library().mxc_kvstore_open(_options(kind, keys), ctypes.byref(self._handle))

    def begin(self, rank, values):
        """Zeros as the first values of all keys, which worker 0 gives and the others
        wait for; `values`: an array for each."""
        for key, value in enumerate(values):
            if rank == 0:
                _library().mxc_kvstore_init(self._handle, key, _pointer(value))
            self.pull(key, value)
        for key in range(len(values)):
            self.wait(key)

    def push(self, key, value):
        """Begins; `value` (contiguous float32) is read until wait."""
        _library().mxc_kvstore_push(self._handle, key, _pointers(value), 1, 0)

    def pull(self, key, value):
        """Begins; `value` (contiguous float32) is written until wait."""
        _library().mxc_kvstore_pull(self._handle, key, _pointers(value), 1, 0)

    def wait(self, key):
        """Until the key's pushes and pulls are done."""
        _library().mxc_kvstore_wait(self._handle, key)

    def close(self, finished):
        """Leaves the job; without `finished` the others hear that it failed."""
        handle, self._handle = self._handle, ctypes.c_void_p()
        if handle:
            try:
                if finished:
                    _library().mxc_kvstore_finish(handle)
            finally:
                _library().mxc_kvstore_close(handle)


def serve(kind, keys, update=None):
    """Is a server until all workers have finished. update(key, gradient, value)
    changes `value`; both are float32 arrays of the whole key."""
    def call(_, key, first, count, gradient, value, rate):
        update(key, np.ctypeslib.as_array(gradient, (count,)),
               np.ctypeslib.as_array(value, (count,)))

    updater = UPDATER(call) if update else None
    _library().mxc_kvstore_serve(_options(kind, keys, updater))
