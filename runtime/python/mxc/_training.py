# SPDX-License-Identifier: Apache-2.0
"""Training, step by step or whole."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._model import Model
    from ._runtime import Entry, Executor


class Trainer:
    """Steps of the entry "train" on states of its own. As in MXNet's Module,
    gradients are divided by the batch; the last batch of an epoch is filled up
    with samples of its beginning."""

    def __init__(self, model: Model, threads: int = 0) -> None:
        self._model = model
        self._train = model.bind("train", threads=threads)
        self._entry = _entry(model, "train")
        self._score: Executor | None = None
        if any(entry.name == "score" for entry in model.entries):
            self._score = model.bind("score", threads=threads,
                                     share=self._train)
        self._fed = [t for t in self._entry.inputs if t.use != "rate"]

    @property
    def batch(self) -> int:
        return self._fed[0].shape[0]

    def step(self, *arrays: object, lr: float) -> dict[str, NDArray[Any]]:
        """One step on a batch: data, then labels, in the order of the entry's
        inputs. Returns its outputs by name, "loss" among them."""
        found = self._train(*arrays, learning_rate=lr)
        return _by_name(self._entry, found)

    def fit(self, *samples: ArrayLike, epochs: int = 1, lr: float = 0.01,
            seed: int = 0,
            on_epoch: Callable[[int, float], None] | None = None) -> list[float]:
        """Trains on all samples, in an order drawn anew for each epoch.
        Returns the mean loss of each epoch."""
        arrays = self._convert(samples)
        order = np.random.default_rng(seed)
        losses = []
        for epoch in range(epochs):
            rows = order.permutation(len(arrays[0]))
            found = [float(np.ravel(self.step(*batch, lr=lr)["loss"])[0])
                     for batch, _ in self._batches(arrays, rows)]
            losses.append(float(np.mean(found)))
            if on_epoch is not None:
                on_epoch(epoch + 1, losses[-1])
        return losses

    def predict(self, *samples: ArrayLike) -> NDArray[Any]:
        """The first output of the entry "score" for all samples, in order."""
        if self._score is None:
            raise TypeError('compile the model with entries ["train", "score"]')
        arrays = self._convert(samples)
        found = []
        for batch, count in self._batches(arrays, np.arange(len(arrays[0]))):
            found.append(self._score(*batch)[0][:count])
        return np.concatenate(found)

    def accuracy(self, *samples: ArrayLike) -> float:
        """The share of samples whose largest output is their label's."""
        classes = self.predict(*samples).argmax(axis=1)
        return float((classes == np.asarray(samples[-1])).mean())

    def states(self) -> dict[str, NDArray[Any]]:
        """Copies of all states: parameters, moving statistics, moments."""
        return {state.name: self._train.read_state(state.name)
                for state in self._model.states}

    def parameters(self) -> dict[str, NDArray[Any]]:
        """What mxc.compile takes as `params`."""
        return {state.name: self._train.read_state(state.name)
                for state in self._model.states
                if state.use in ("parameter", "auxiliary")}

    def save(self, path: str | os.PathLike[str]) -> None:
        """All states as .npz."""
        states: dict[str, Any] = {_escape(n): array
                                  for n, array in self.states().items()}
        np.savez(path, **states)

    def restore(self, path: str | os.PathLike[str]) -> None:
        with np.load(path) as file:
            for state in self._model.states:
                self._train.write_state(state.name, file[_escape(state.name)])

    def _convert(self, arrays: Sequence[ArrayLike]) -> list[NDArray[Any]]:
        if len(arrays) != len(self._fed):
            names = ", ".join(tensor.name for tensor in self._fed)
            raise TypeError(f"the entry is fed {names}")
        return [np.ascontiguousarray(array, dtype=tensor.dtype)
                for array, tensor in zip(arrays, self._fed)]

    def _batches(self, arrays: Sequence[NDArray[Any]], rows: NDArray[np.int64]
                 ) -> Iterator[tuple[list[NDArray[Any]], int]]:
        for first in range(0, len(rows), self.batch):
            chosen = rows[first:first + self.batch]
            count = len(chosen)
            if count < self.batch:
                chosen = np.concatenate(
                    [chosen, np.resize(rows, self.batch - count)])
            yield [array[chosen] for array in arrays], count


def _entry(model: Model, name: str) -> Entry:
    return next(entry for entry in model.entries if entry.name == name)


def _by_name(entry: Entry, found: Any) -> dict[str, NDArray[Any]]:
    arrays = found if isinstance(found, tuple) else (found,)
    return {t.name: array for t, array in zip(entry.outputs, arrays)}


def _escape(name: str) -> str:
    return name.replace("/", "|")  # a member of a zip archive has no folders
