# SPDX-License-Identifier: Apache-2.0
"""What a model is called with, beside arrays of just its shapes: any number of
samples, and pictures."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _train
from ._errors import Error

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._runtime import Entry, Tensor


class Batches:
    """Samples for an entry that computes another number of them at once."""

    def __init__(self, entry: Entry, samples: int, given: dict[str, Any],
                 whole: set[str]) -> None:
        self._entry, self._samples = entry, samples
        self._given, self._whole = given, whole

    @classmethod
    def of(cls, entries: Sequence[Entry], arrays: Sequence[Any],
           named: Mapping[str, Any]) -> Batches | None:
        """For the entry "infer" that wastes the least; None where it is not the
        number of samples that does not fit."""
        found = [batches for entry in entries if entry.name == "infer"
                 and (batches := cls._for(entry, arrays, named))]
        enough = [b for b in found if b._entry.batch >= b._samples]
        if enough:
            return min(enough, key=lambda b: b._entry.batch)
        return max(found, key=lambda b: b._entry.batch, default=None)

    @classmethod
    def _for(cls, entry: Entry, arrays: Sequence[Any],
             named: Mapping[str, Any]) -> Batches | None:
        inputs = {tensor.name: tensor for tensor in entry.inputs}
        given = {**dict(zip(inputs, arrays)), **named}
        if len(given) < len(arrays) + len(named):
            return None  # one is given twice
        counts, whole = set(), set()
        for name, array in given.items():
            shape = getattr(array, "shape", None)
            if name not in inputs or shape is None:
                return None
            if tuple(shape) == inputs[name].shape and not _is_batched(
                    inputs[name], entry):
                whole.add(name)
            elif _is_batched(inputs[name], entry) and (
                    tuple(shape[1:]) == inputs[name].shape[1:]):
                counts.add(int(shape[0]))
            else:
                return None
        if len(counts) != 1 or counts == {entry.batch} or 0 in counts:
            return None
        return cls(entry, counts.pop(), given, whole)

    def run(self, call: Callable[..., Any]) -> Any:
        """Calls batch by batch, the last one filled up with its last sample."""
        batch = self._entry.batch
        given = (f"the model computes {batch} samples at once, "
                 f"{self._samples} are given, and ")
        for tensor in self._entry.outputs:
            if tensor.use == "count":
                output = tensor.name.partition(":")[2]
                raise ValueError(f"{given}data decide how many rows output "
                                 f"'{output}' has")
        for tensor in self._entry.outputs:
            if not _is_batched(tensor, self._entry):
                raise ValueError(f"{given}output '{tensor.name}' "
                                 f"{tensor.shape} cannot be told apart by them")
        found = [call(**{name: self._part(name, array, first)
                         for name, array in self._given.items()})
                 for first in range(0, self._samples, batch)]
        if len(self._entry.outputs) == 1:
            return np.concatenate(found)[:self._samples]
        return tuple(np.concatenate(rows)[:self._samples]
                     for rows in zip(*found))

    def _part(self, name: str, array: Any, first: int) -> Any:
        if name in self._whole:
            return array
        part = array[first:first + self._entry.batch]
        lacking = self._entry.batch - len(part)
        if not lacking:
            return part
        filled = np.asarray(part)
        return np.concatenate([filled, np.repeat(filled[-1:], lacking, axis=0)])


def _is_batched(tensor: Tensor, entry: Entry) -> bool:
    return bool(tensor.shape) and tensor.shape[0] == entry.batch


def is_pictures(value: Any) -> bool:
    """Whether it is a file of a picture, its bytes, or several of them."""
    if isinstance(value, (list, tuple)):
        return bool(value) and all(map(is_pictures, value))
    if isinstance(value, bytes):
        return value.startswith((b"\xff\xd8", b"\x89PNG"))
    return isinstance(value, (str, os.PathLike))


def read_pictures(files: Any, preprocessing: str,
                  shape: Sequence[int]) -> NDArray[Any]:
    """As the network was trained on them, for an input of the shape."""
    transform = _train.Pictures(preprocessing)
    several = files if isinstance(files, (list, tuple)) else [files]
    samples = [_load(transform, file) for file in several]
    pictures = np.stack(samples)
    if pictures.shape[1:] != tuple(shape[1:]):
        pictures = pictures.transpose(0, 2, 3, 1)  # NHWC
    return np.ascontiguousarray(pictures)


def _load(transform: _train.Pictures, file: Any) -> NDArray[Any]:
    if isinstance(file, bytes):
        return transform.load(file)
    try:
        return transform.load(pathlib.Path(file).read_bytes())
    except (ValueError, Error) as error:
        raise ValueError(f"{os.fspath(file)}: {error}") from None
