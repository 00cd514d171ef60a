# SPDX-License-Identifier: Apache-2.0
"""Samples: arrays and sources of data, cut into batches, and what is wrong with
them."""

from __future__ import annotations

import math
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from . import _train
from ._numbers import numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._runtime import Tensor

    Array = NDArray[Any]


class Batch(NamedTuple):
    """Rows of every array, data first; the last `pad` rows fill it up, and
    sample `samples[r]` is in row r."""

    arrays: list[Array]
    pad: int
    samples: Array


class ClassLabels(NamedTuple):
    """Labels that are numbers of classes: which input they are, how many
    classes there are, and the label that stands for none."""

    name: str
    classes: int
    ignored: float | None

    def wrong(self, labels: Array) -> Array:
        """Where a label is no class."""
        values = np.asarray(labels, np.float64)
        good = ((values >= 0) & (values < self.classes)
                & (values == np.floor(values)))
        if self.ignored is not None:
            good |= values == self.ignored
        wrong: Array = ~good
        return wrong

    def fault(self, label: float) -> tuple[str, str, str]:
        """What is wrong with it, what becomes of it, and what such labels are
        called, as runtime/train/label_check.cc says it."""
        if -1 < label < self.classes:
            return (f"label {label:g} is no class",
                    f"it is cut to {math.trunc(label):g}", "no class")
        return (f"label {label:g} is none of the classes 0 to "
                f"{self.classes - 1}", "nothing is learned from such labels",
                "no class")


class Probabilities(NamedTuple):
    """Labels that are probabilities: which input they are."""

    name: str

    def wrong(self, labels: Array) -> Array:
        """Where a label is no probability."""
        wrong: Array = ~((labels >= 0) & (labels <= 1))
        return wrong

    def fault(self, label: float) -> tuple[str, str, str]:
        """As of ClassLabels."""
        return (f"label {label:g} is not between 0 and 1",
                "the loss of such labels has no lower bound",
                "not between 0 and 1")


class Data:
    """A source of samples by the words of `mxc train --data`: what `mxc.data`
    returns. An epoch is one iteration over it: tuples of arrays, data first,
    each of `batch_size` samples but the last one."""

    def __init__(self, spec: str, batch_size: int = 32, *,
                 shape: Sequence[int] = (), shuffle: bool = False,
                 seed: int = 0, held_out: bool = False,
                 options: Mapping[str, object] | None = None) -> None:
        self.spec, self.batch_size = spec, batch_size
        self._shape, self._shuffle, self._seed = tuple(shape), shuffle, seed
        self._held_out = held_out
        self._options = {k: str(v) for k, v in (options or {}).items()}
        # What varies samples at random is for those that are learned from.
        self._validates = False
        self._label_classes = -1  # of a network that is not known
        self._epoch = 0
        self._tensors: list[Tensor] = []
        self._open: _train.Samples | None = None

    def bound(self, batch: int, tensors: Sequence[Tensor], shuffle: bool,
              seed: int, label_classes: int) -> Data:
        """The same source in batches as the inputs `tensors` take them; where
        nobody said how large samples are, the first input does. Of how many
        classes the label has the probabilities; 0: it is a class's number."""
        self._shape = self._shape or tensors[0].shape[1:]
        found = Data(self.spec, batch, shape=self._shape,
                     shuffle=shuffle or self._shuffle,
                     seed=seed or self._seed, held_out=self._held_out,
                     options=self._options)
        found._tensors, found._validates = list(tensors), self._validates
        found._label_classes = label_classes
        return found

    def split(self, share: float) -> tuple[Data, Data]:
        """Without a share of the samples, which is kept for validation, and
        these."""
        rest = Data(self.spec, self.batch_size, shape=self._shape,
                    shuffle=self._shuffle, seed=self._seed,
                    options={**self._options, "held_out": share})
        rest._tensors, rest._label_classes = self._tensors, self._label_classes
        return rest, rest.held_out()

    def held_out(self) -> Data:
        """The samples that the source itself keeps for validation: MNIST's
        t10k files, other digits; split keeps a share of others. They are not
        varied at random."""
        found = Data(self.spec, self.batch_size, shape=self._shape,
                     held_out=True, options=self._options)
        found._tensors, found._label_classes = (self._tensors,
                                                self._label_classes)
        found._validates = True
        return found

    @property
    def options(self) -> dict[str, str]:
        """Of the source, as text."""
        return dict(self._options)

    @property
    def own_options(self) -> dict[str, str]:
        """Those that are not another source's, of which samples to validate
        take what varies nothing at random."""
        return {} if self._validates else self.options

    @property
    def shuffles(self) -> bool:
        """Whether each epoch has another order."""
        return self._shuffle

    @property
    def seed(self) -> int:
        """Of that order."""
        return self._seed

    @property
    def classes(self) -> list[str]:
        """The names of the labels: of folders, for one."""
        return self._samples().classes

    @property
    def preprocessing(self) -> str:
        """What is done to every sample, as one line."""
        return self._samples().preprocessing

    def __len__(self) -> int:
        return len(self._samples())

    def __iter__(self) -> Iterator[tuple[Array, ...]]:
        for batch in self.batches(self._epoch):
            count = len(batch.arrays[0]) - batch.pad
            yield tuple(array[:count] for array in batch.arrays)
        self._epoch += 1

    def batches(self, epoch: int) -> Iterator[Batch]:
        """The batches of an epoch, which count from 0."""
        samples = self._samples()
        samples.seek(epoch)
        while (found := samples.next()) is not None:
            data, labels, index, pad = found
            arrays = self._adapted([*data, *labels])
            yield Batch(arrays, pad, np.array(index))

    def name_of(self, sample: int) -> str:
        """For messages."""
        return self._samples().name_of(sample)

    def __repr__(self) -> str:
        return f"<mxc.Data {self._samples().summary}>"

    def _adapted(self, arrays: list[Array]) -> list[Array]:
        if not self._tensors:
            return arrays
        if len(arrays) < len(self._tensors):
            names = ", ".join(tensor.name for tensor in self._tensors)
            raise TypeError(f"the entry is fed {names}, but {self.spec} has "
                            f"{len(arrays)} arrays")
        return [np.ascontiguousarray(_samples_of(array, tensor), tensor.dtype)
                for array, tensor in zip(arrays, self._tensors)]

    def _samples(self) -> _train.Samples:
        if self._open is None:
            options = _train.SampleOptions()
            options.batch = self.batch_size
            options.seed = self._seed
            options.shuffle = self._shuffle
            options.held_out = self._held_out
            if self._shape:
                options.shape = [self.batch_size, *self._shape]
            options.label_classes = self._label_classes
            settings = list(self._options.items())
            if self._validates:
                options.offered = settings
            else:
                options.settings = settings
            self._open = _train.Samples(self.spec, options)
        return self._open


def data(spec: str, batch_size: int = 32, *, shape: Sequence[int] = (),
         shuffle: bool = False, seed: int = 0, held_out: bool = False,
         options: Mapping[str, object] | None = None) -> Data:
    """Opens a source of data as `mxc train --data` does.

    spec: "folder:photos" (a folder for each class), "rec:train.rec",
        "npy:x.npy,y.npy", "csv:…", "libsvm:…", "mnist:DIR", "cifar10:DIR",
        "digits" (drawn, nothing to download).
    batch_size: samples of an iteration's arrays; Trainer.fit uses its own.
    shape: of a sample: (3, 224, 224); a trainer knows its network's.
    shuffle, seed: another order for each epoch.
    held_out: the samples that are kept for validation.
    options: as --data-opt: {"rand_mirror": 1, "mean_r": 123.68}.
    Raises ValueError for a source, path or option that there is not."""
    return Data(spec, batch_size, shape=shape, shuffle=shuffle, seed=seed,
                held_out=held_out, options=options)


class Arrays:
    """Samples in memory, as the inputs `tensors` take them, the label last. Of
    how many classes that has the probabilities; 0: it is none. Labels that are
    classes' numbers become probabilities."""

    def __init__(self, arrays: Sequence[ArrayLike], tensors: Sequence[Tensor],
                 batch: int, seed: int = 0, label_classes: int = 0) -> None:
        if label_classes and len(arrays) == len(tensors):
            arrays = [*arrays[:-1],
                      _probabilities(arrays[-1], tensors[-1], label_classes)]
        self._arrays = [_samples_of(array, tensor)
                        for array, tensor in zip(arrays, tensors)]
        self._tensors, self._batch = list(tensors), batch
        self._seed = seed
        _require_same_length(self._arrays, tensors)

    def __len__(self) -> int:
        return len(self._arrays[0])

    def arrays(self) -> Iterator[tuple[Tensor, Array]]:
        """Each input with its samples, where they lie if they are dense."""
        for tensor, array in zip(self._tensors, self._arrays):
            native = array.dtype.newbyteorder("=")
            yield tensor, np.ascontiguousarray(array, native)

    def batches(self, epoch: int) -> Iterator[Batch]:
        rows = np.arange(len(self))
        for first in range(0, len(rows), self._batch):
            index = rows[first:first + self._batch]
            pad = self._batch - len(index)
            if pad:
                index = np.concatenate([index, np.resize(rows, pad)])
            arrays = [np.ascontiguousarray(array[index], dtype=tensor.dtype)
                      for array, tensor in zip(self._arrays, self._tensors)]
            yield Batch(arrays, pad, index)

    def name_of(self, sample: int) -> str:
        return f"sample {sample}"

    def split(self, share: float) -> tuple[Arrays, Arrays]:
        """Without a share of the samples, chosen by the seed, and these."""
        held = max(1, round(share * len(self)))
        if held >= len(self):
            raise ValueError(f"{len(self)} samples are too few to keep "
                             f"{share:g} of them for validation")
        rows = np.random.default_rng([self._seed, 1 << 32]).permutation(
            len(self))
        return self._only(np.sort(rows[held:])), self._only(np.sort(rows[:held]))

    def _only(self, rows: Array) -> Arrays:
        return Arrays([array[rows] for array in self._arrays], self._tensors,
                      self._batch, self._seed)


def _probabilities(labels: ArrayLike, tensor: Tensor, classes: int) -> ArrayLike:
    """Of each class, where the labels are classes' numbers, one a sample."""
    found = numbers(labels, tensor.name)
    if found.ndim == 0 or found.size != len(found) or tensor.shape[1:] != (classes,):
        return found
    found = found.reshape(-1)
    wrong = found[(found < 0) | (found >= classes) | (found != np.floor(found))]
    if len(wrong):
        raise ValueError(f"'{tensor.name}' holds {float(wrong[0]):g}, which is "
                         f"none of the classes 0 to {classes - 1}")
    return np.eye(classes, dtype=tensor.dtype)[found.astype(np.int64)]


class LabelCheck:
    """Warns of labels that the network cannot mean: no loss tells of them."""

    def __init__(self, labels: Sequence[ClassLabels | Probabilities],
                 names: Sequence[str]) -> None:
        self._labels = [(names.index(label.name), label) for label in labels
                        if label.name in names]
        self._sort = ""
        self.count = 0

    def look(self, batch: Batch, samples: Arrays | Data) -> None:
        for place, label in self._labels:
            values = batch.arrays[place]
            wrong = label.wrong(values[:len(values) - batch.pad])
            found = int(np.count_nonzero(wrong))
            if found and not self.count:
                first = np.argwhere(wrong)[0]
                name = samples.name_of(int(batch.samples[first[0]]))
                sentence, consequence, self._sort = label.fault(
                    float(values[tuple(first)]))
                warn(f"{name}: {sentence}; {consequence}")
            self.count += found

    def tell_count(self) -> None:
        if self.count > 1:
            warn(f"{self.count} labels are {self._sort} in this epoch")


def warn(text: str) -> None:
    """As said where the package was called."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get(
            "__package__") == __package__:
        level, frame = level + 1, frame.f_back
    warnings.warn(text, stacklevel=level)


def _samples_of(array: ArrayLike, tensor: Tensor) -> Array:
    """Samples of the tensor in an array of numbers, of any type: batches are
    converted."""
    found = numbers(array, tensor.name)
    wanted = tensor.shape[1:]
    if found.ndim == 0 or found.shape[1:] != wanted:
        same = found.ndim > 0 and len(found) > 0 and (
            math.prod(found.shape[1:]) == math.prod(wanted))
        if not same or _without_ones(found.shape[1:]) != _without_ones(wanted):
            raise ValueError(f"'{tensor.name}' has samples of shape {wanted}, "
                             f"not {found.shape[1:]}")
        found = found.reshape(len(found), *wanted)
    return found


def _without_ones(shape: Sequence[int]) -> list[int]:
    return [dim for dim in shape if dim != 1]


def _require_same_length(arrays: Sequence[Array],
                         tensors: Sequence[Tensor]) -> None:
    if not len(arrays[0]):
        raise ValueError(f"'{tensors[0].name}' has no samples")
    for array, tensor in zip(arrays, tensors):
        if len(array) != len(arrays[0]):
            raise ValueError(
                f"'{tensor.name}' has {len(array)} samples, but "
                f"'{tensors[0].name}' {len(arrays[0])}")
