# SPDX-License-Identifier: Apache-2.0
"""What a model is called with, beside arrays of just its shapes: any number of
samples, sequences of lengths of their own, and pictures."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _train
from ._errors import Error
from ._summary import shape_text, size_of

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
        """For the entry that infers and wastes the least; None where it is not
        the number of samples that does not fit."""
        found = [batches for entry in _inferring(entries)
                 if (batches := cls._for(entry, arrays, named))]
        enough = [b for b in found if b._entry.batch >= b._samples]
        if enough:
            return min(enough, key=lambda b: b._entry.batch)
        return max(found, key=lambda b: b._entry.batch, default=None)

    @classmethod
    def _for(cls, entry: Entry, arrays: Sequence[Any],
             named: Mapping[str, Any]) -> Batches | None:
        inputs = _inputs(entry)
        given = {**dict(zip(inputs, arrays)), **named}
        if len(given) < len(arrays) + len(named):
            return None  # one is given twice
        counts, whole = set(), set()
        for name, array in given.items():
            shape = getattr(array, "shape", None)
            if name not in inputs or shape is None:
                return None
            fits = _fits(tuple(shape), inputs[name])
            if all(fits) and not _is_batched(inputs[name], entry):
                whole.add(name)
            elif _is_batched(inputs[name], entry) and all(fits[1:]):
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


class Sequences:
    """Samples that are as long as each is: lists of them, for open axes. Those
    of one length are computed together, and none is filled up."""

    def __init__(self, entry: Entry, samples: dict[str, list[NDArray[Any]]],
                 whole: dict[str, Any]) -> None:
        self._entry, self._samples, self._whole = entry, samples, whole
        self._lengths = self._find_lengths()  # of each sample

    @classmethod
    def of(cls, entries: Sequence[Entry], arrays: Sequence[Any],
           named: Mapping[str, Any]) -> Sequences | None:
        """None where no open axis is given a list. Raises ValueError for lists
        that do not fit."""
        entry = max(_inferring(entries), key=size_of, default=None)
        if entry is None:
            return None
        inputs = _inputs(entry)
        given = {**dict(zip(inputs, arrays)), **named}
        lists = [name for name, value in given.items()
                 if name in inputs and inputs[name].open_axes
                 and isinstance(value, (list, tuple))]
        if not lists or len(given) < len(arrays) + len(named):
            return None
        samples, whole = {}, {}
        for name, value in given.items():
            if name in inputs and _is_batched(inputs[name], entry) and (
                    name in lists or np.ndim(value) > 0):
                samples[name] = [np.asarray(one) for one in value]
            elif name in lists:
                raise ValueError(
                    f"'{name}' is a list of samples, but {inputs[name].shape}, "
                    f"what the model takes, does not begin with them")
            else:
                whole[name] = value
        return cls(entry, samples, whole)

    def run(self, call: Callable[..., Any]) -> Any:
        """Returns, of each output, a list of arrays where it has an open axis,
        else an array with a row for each sample."""
        outputs = self._entry.outputs
        for tensor in outputs:
            if not _is_batched(tensor, self._entry) or tensor.use == "count":
                raise ValueError(
                    f"samples of several lengths are given, and output "
                    f"'{tensor.name}' {tensor.shape} cannot be told apart by "
                    f"them")
        rows: list[list[Any]] = [[None] * len(self._lengths) for _ in outputs]
        for lengths in sorted(set(self._lengths)):
            places = [k for k, own in enumerate(self._lengths) if own == lengths]
            named = {name: np.stack([samples[k] for k in places])
                     for name, samples in self._samples.items()}
            found = call(**named, **self._whole)
            for found_rows, array in zip(
                    rows, found if len(outputs) > 1 else [found]):
                for k, row in zip(places, array):
                    found_rows[k] = row
        results = [found_rows if tensor.open_axes else np.stack(found_rows)
                   for tensor, found_rows in zip(outputs, rows)]
        return results[0] if len(results) == 1 else tuple(results)

    def _find_lengths(self) -> list[tuple[tuple[str, int], ...]]:
        """Of each sample, by name; all that is wrong with them is found here."""
        inputs = _inputs(self._entry)
        first = next(iter(self._samples))
        count = len(self._samples[first])
        lengths: list[dict[str, int]] = [{} for _ in range(count)]
        told: list[dict[str, str]] = [{} for _ in range(count)]
        if count == 0:
            raise ValueError(f"'{first}' has no sample")
        for name, samples in self._samples.items():
            if len(samples) != count:
                raise ValueError(f"'{name}' has {len(samples)} samples, "
                                 f"'{first}' has {count}")
            for k, sample in enumerate(samples):
                if not all(_fits((self._entry.batch, *sample.shape),
                                 inputs[name])):
                    raise ValueError(
                        f"sample {k} of '{name}' is {sample.shape}, expected "
                        f"{shape_text(inputs[name], first_axis=1)}")
                for axis, length in inputs[name].open_axes.items():
                    own = sample.shape[axis - 1]
                    if lengths[k].setdefault(length, own) != own:
                        along = f" along '{length}'" if length else ""
                        raise ValueError(
                            f"sample {k} is {lengths[k][length]} long{along} in "
                            f"'{told[k][length]}', {own} in '{name}'")
                    told[k][length] = name
        return [tuple(sorted(own.items())) for own in lengths]


def _inferring(entries: Sequence[Entry]) -> list[Entry]:
    """Of those that take as many samples, the one for the longest."""
    longest: dict[int, Entry] = {}
    for entry in entries:
        known = longest.get(entry.batch)
        if entry.purpose == "infer" and (
                known is None or size_of(entry) > size_of(known)):
            longest[entry.batch] = entry
    return list(longest.values())


def _inputs(entry: Entry) -> dict[str, Tensor]:
    return {tensor.name: tensor for tensor in entry.inputs
            if tensor.use != "length"}


def _fits(shape: Sequence[int], tensor: Tensor) -> list[bool]:
    """By axis; of an open one up to the tensor's extent."""
    if len(shape) != len(tensor.shape):
        return [False, False]
    return [1 <= own <= most if axis in tensor.open_axes else own == most
            for axis, (own, most) in enumerate(zip(shape, tensor.shape))]


def _is_batched(tensor: Tensor, entry: Entry) -> bool:
    return (bool(tensor.shape) and tensor.shape[0] == entry.batch
            and 0 not in tensor.open_axes)


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
