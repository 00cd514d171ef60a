# SPDX-License-Identifier: Apache-2.0
"""Files of arrays, as MXNet's .params are."""

import struct

import numpy as np

from ..._whole_file import write_whole
from ..base import MXNetError, string_types
from ..util import is_np_array, is_np_shape
from .creation import array
from .ndarray import NDArray

__all__ = ["save", "load", "load_frombuffer"]

_LIST = 0x112
_V1, _V2, _V3 = 0xF993FAC8, 0xF993FAC9, 0xF993FACA
_STORAGE = ["default", "row_sparse", "csr"]
_TYPES = ["float32", "float64", "float16", "uint8", "int32", "int8", "int64", "bool",
          "int16", "uint16", "uint32", "uint64"]


def save(fname, data):
    """Writes an array, a list of them or a dict of them by name."""
    if isinstance(data, NDArray):
        data = [data]
    if isinstance(data, dict):
        names, arrays = list(data.keys()), list(data.values())
        if any(not isinstance(name, string_types) for name in names):
            raise TypeError("only NDArrays can be saved, in a list or by names")
    elif isinstance(data, (list, tuple)):
        names, arrays = [], list(data)
    else:
        raise ValueError(f"only NDArrays can be saved, in a list or by names, not {type(data)}")
    if any(not isinstance(value, NDArray) for value in arrays):
        raise TypeError("only NDArrays can be saved, in a list or by names")
    with write_whole(fname) as file:
        file.write(struct.pack("<QQQ", _LIST, 0, len(arrays)))
        for value in arrays:
            file.write(array_bytes(value))
        file.write(struct.pack("<Q", len(names)))
        for name in names:
            text = name.encode()
            file.write(struct.pack("<Q", len(text)) + text)


def _shape_bytes(shape):
    return struct.pack(f"<I{len(shape)}q", len(shape), *shape)


def _sparse_bytes(value):
    """A sparse array as it lies in a file; auxiliary arrays are int64."""
    data, *rest = value._get_parts()
    aux = rest[::-1]  # a csr array's indptr comes before its indices
    code = _TYPES.index
    return b"".join((
        struct.pack("<Ii", _V3 if is_np_shape() else _V2, _STORAGE.index(value.stype)),
        _shape_bytes(data.shape), _shape_bytes(value.shape),
        struct.pack("<iii", 1, 0, code(data.dtype.name)),
        *(struct.pack("<i", code("int64")) + _shape_bytes(part.shape) for part in aux),
        *(np.ascontiguousarray(part).tobytes() for part in (data, *aux))))


def array_bytes(value):
    """An array as it lies in a file."""
    if value.stype != "default":
        return _sparse_bytes(value)
    shape = value.shape
    return b"".join((
        struct.pack("<IiI", _V3 if is_np_shape() else _V2, 0, len(shape)),
        struct.pack(f"<{len(shape)}q", *shape),
        struct.pack("<iii", 1, 0, _TYPES.index(value._array.dtype)),
        np.ascontiguousarray(value.asnumpy()).tobytes()))


def array_of_bytes(data):
    """The array of array_bytes; MXNetError for anything else."""
    return _Reader(data, "array").array()


class _Reader:
    def __init__(self, data, where):
        self._data, self._where, self._at = memoryview(data), where, 0

    def fail(self, what):
        raise MXNetError(f"{self._where}: {what}, at byte {self._at}")

    def take(self, layout):
        size = struct.calcsize("<" + layout)
        return struct.unpack("<" + layout, self.bytes(size))

    def bytes(self, size):
        if size > len(self._data) - self._at:
            self.fail(f"the file ends where {size} bytes are expected")
        part = self._data[self._at:self._at + size]
        self._at += size
        return part

    def count(self, least):
        (number,) = self.take("Q")
        if number * least > len(self._data):
            self.fail(f"{number} entries do not fit in the file")
        return number

    def shape(self, letter):
        (rank,) = self.take("I")
        if rank > 32:
            self.fail(f"an array of {rank} axes")
        return self.take(f"{rank}{letter}")

    def array(self):
        (magic,) = self.take("I")
        if magic in (_V2, _V3):
            (storage,) = self.take("i")
            if storage not in (-1, 0):
                return self._sparse(storage)
            shape = self.shape("q")
            if (magic == _V3) != is_np_shape() and (magic == _V3 or 0 in shape):
                self.fail("the array was saved with the other meaning of 0 in shapes: "
                          "np_shape changes it")
        elif magic == _V1:
            shape = self.shape("q")
        else:
            if magic > 32:
                self.fail("this is no file of arrays")
            shape = self.take(f"{magic}I")
        if not shape and magic != _V3:
            return None
        _, _, flag = self.take("iii")
        values = self._values(self._type(flag), shape)
        made = array(values, dtype=values.dtype)
        return made.as_np_ndarray() if is_np_array() else made

    def _type(self, flag):
        if not 0 <= flag < len(_TYPES):
            self.fail(f"there is no type {flag}")
        return np.dtype(_TYPES[flag])

    def _values(self, dtype, shape):
        if any(extent < 0 for extent in shape):
            self.fail(f"an array of shape {shape}")
        elements = 1
        for extent in shape:
            elements *= extent
        return np.frombuffer(self.bytes(elements * dtype.itemsize), dtype).reshape(shape)

    def _sparse(self, storage):
        """The rest of a sparse array's record."""
        from .sparse._creation import CLASSES
        if storage >= len(_STORAGE):
            self.fail(f"there is no storage type {storage}")
        cls = CLASSES[_STORAGE[storage]]
        stored, shape = self.shape("q"), self.shape("q")
        _, _, flag = self.take("iii")
        aux = []
        for _ in cls._aux_names:
            (kind,) = self.take("i")
            aux.append((self._type(kind), self.shape("q")))
        data = self._values(self._type(flag), stored)
        rest = [self._values(*each).astype(np.int64) for each in aux]
        made = cls._of_parts((data.copy(), *rest[::-1]), shape)
        problem = cls._layout_problem(stored, shape) or made._problem(made._parts)
        if problem:
            self.fail(f"a {cls._stype} array: {problem}")
        return made


def load_frombuffer(buf):
    """Arrays of a file's bytes: a list, or a dict where they have names."""
    if not isinstance(buf, (bytes, bytearray, memoryview)):
        raise TypeError(f"a file's bytes are expected, not {type(buf)}")
    return _load(buf, "buffer")


def load(fname):
    """Arrays of a file: a list, or a dict where they have names."""
    if not isinstance(fname, string_types):
        raise TypeError(f"a file's name is expected, not {type(fname)}")
    try:
        with open(fname, "rb") as file:
            return _load(file.read(), fname)
    except OSError as error:
        raise MXNetError(f"{fname}: {error.strerror}") from None


def _load(data, where):
    reader = _Reader(data, where)
    magic, _ = reader.take("QQ")
    if magic != _LIST:
        reader.fail("this is no file of arrays")
    arrays = [reader.array() for _ in range(reader.count(4))]
    names = [bytes(reader.bytes(reader.count(1))).decode()
             for _ in range(reader.count(8))]
    if not names:
        return arrays
    if len(names) != len(arrays):
        reader.fail(f"{len(names)} names for {len(arrays)} arrays")
    return dict(zip(names, arrays))
