# SPDX-License-Identifier: Apache-2.0
"""What travels between the processes of a job, by keys of fixed sizes.

Sums: of arrays of any size, one after the other, in the order in which all workers
ask for them (dist_sync). Calls: each worker has its own key on a server, by which it
asks and is answered (dist_async)."""

import json
import os

import numpy as np

from . import _library

_LARGE = 1 << 20
_SIZES = (256, 1 << 14, _LARGE)
# So many of each size are under way at once.
_EACH = 4


def _sum_keys():
    return [(f"sum/{size}/{i}", size) for size in _SIZES for i in range(_EACH)]


def serve_sums():
    """Is a server of sums."""
    _library.serve("dist_sync", _sum_keys())


class Sums:
    """A worker's sums with all others."""

    def __init__(self, rank):
        self._store = _library.Store("dist_sync", _sum_keys())
        self._buffers = [(np.zeros(size, np.float32), np.zeros(size, np.float32))
                         for _, size in _sum_keys()]
        self._store.begin(rank, [value for _, value in self._buffers])

    def sum(self, array):
        """float32, of any shape: the sum over all workers, in the order of ranks."""
        flat = np.ascontiguousarray(array, np.float32).ravel()
        total = np.empty_like(flat)
        size = next((size for size in _SIZES if flat.size <= size), _LARGE)
        first = _SIZES.index(size) * _EACH
        pieces = range(0, flat.size, size)
        for start in range(0, len(pieces), _EACH):
            group = list(enumerate(pieces[start:start + _EACH], first))
            for key, begin in group:
                given, taken = self._buffers[key]
                part = flat[begin:begin + size]
                given[:part.size] = part
                given[part.size:] = 0
                self._store.push(key, given)
                self._store.pull(key, taken)
            for key, begin in group:
                self._store.wait(key)
                part = total[begin:begin + size]
                part[:] = self._buffers[key][1][:part.size]
        return total.reshape(np.shape(array))

    def close(self, finished):
        """Leaves the job."""
        self._store.close(finished)


# A message: 8 floats, then what it carries.
_HEAD, _CARRIED = 8, 1 << 18
_WRITE, _CALL, _READ = 1, 2, 3


def _call_keys():
    workers = int(os.environ["WORLD_SIZE"])
    servers = os.environ["MXC_SERVERS"].count(",") + 1
    # As many for each worker as there are servers: keys of equal size are spread.
    return [(f"call/{turn}", _HEAD + _CARRIED) for turn in range(workers * servers)]


def _pack(words, arrays):
    """A JSON text and float32 arrays as floats that any processor keeps."""
    words = {**words, "shapes": [list(array.shape) for array in arrays]}
    text = np.frombuffer(json.dumps(words).encode(), np.uint8).astype(np.float32)
    size = np.array([text.size >> 12, text.size & 4095], np.float32)
    return np.concatenate([size, text, *(array.ravel() for array in arrays)])


def _unpack(packed):
    size = (int(packed[0]) << 12) + int(packed[1])
    words = json.loads(packed[2:2 + size].astype(np.uint8).tobytes())
    place, arrays = 2 + size, []
    for shape in words["shapes"]:
        count = int(np.prod(shape, dtype=np.int64))
        arrays.append(packed[place:place + count].reshape(shape))
        place += count
    return words, arrays


class _Answering:
    """What a server does with messages of one key after the other."""

    def __init__(self, answer):
        self._answer, self._asked, self._answers = answer, {}, {}

    def update(self, key, message, value):
        """A piece of a question, a call, or a piece of an answer."""
        kind, place = int(message[0]), int(message[1])
        if kind == _WRITE:
            self._asked.setdefault(key, []).append(
                message[_HEAD:_HEAD + int(message[2])].copy())
        elif kind == _CALL:
            words, arrays = _unpack(np.concatenate(self._asked.pop(key)))
            try:
                answer = _pack(*self._answer(words, arrays))
            except Exception as error:  # the worker raises it
                answer = _pack({"error": f"{type(error).__name__}: {error}"}, [])
            self._answers[key] = answer
            value[0], value[1] = answer.size >> 12, answer.size & 4095
        else:
            piece = self._answers[key][place * _CARRIED:(place + 1) * _CARRIED]
            value[_HEAD:_HEAD + piece.size] = piece


def serve_calls(answer):
    """Is a server that answers: answer(words, arrays) gives words (a dict for JSON)
    and float32 arrays."""
    _library.serve("dist_async", _call_keys(), _Answering(answer).update)


class Calls:
    """A worker's calls of servers."""

    def __init__(self, rank):
        self._store = _library.Store("dist_async", _call_keys())
        self.servers = len(_call_keys()) // int(os.environ["WORLD_SIZE"])
        self._first = rank * self.servers
        self._message = np.zeros(_HEAD + _CARRIED, np.float32)
        self._value = np.zeros_like(self._message)
        self._store.begin(rank, [self._value] * len(_call_keys()))

    def call(self, server, words, arrays=()):
        """(words, arrays) of one server's answer; what it raised is raised."""
        key = self._first + server
        asked = _pack(words, [np.asarray(array, np.float32) for array in arrays])
        for place in range(0, asked.size, _CARRIED):
            self._send(key, _WRITE, 0, asked[place:place + _CARRIED])
        self._send(key, _CALL, 0, ())
        value = self._receive(key)
        answer = np.empty((int(value[0]) << 12) + int(value[1]), np.float32)
        for place in range(-(-answer.size // _CARRIED)):
            self._send(key, _READ, place, ())
            piece = answer[place * _CARRIED:(place + 1) * _CARRIED]
            piece[:] = self._receive(key)[_HEAD:_HEAD + piece.size]
        words, arrays = _unpack(answer)
        if "error" in words:
            raise _library.MXNetError(f"server {server}: {words['error']}")
        return words, arrays

    def _send(self, key, kind, place, carried):
        self._message[:3] = kind, place, len(carried)
        self._message[_HEAD:_HEAD + len(carried)] = carried
        self._store.push(key, self._message)
        self._store.wait(key)

    def _receive(self, key):
        self._store.pull(key, self._value)
        self._store.wait(key)
        return self._value

    def close(self, finished):
        """Leaves the job."""
        self._store.close(finished)
