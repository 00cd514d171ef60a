# SPDX-License-Identifier: Apache-2.0
"""Epochs of steps."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from . import _checkpoints, _samples, _train
from ._checkpoints import Series
from ._history import Epoch, History, Progress, StopTraining
from ._samples import Arrays, Batch, Data, LabelCheck

if TYPE_CHECKING:
    from ._average import Average
    from ._measures import Measures
    from ._training import Trainer

    Rate = float | str | Callable[[int], float]


def schedule(rate: Rate, text: str | None, epochs: int, updates: int
             ) -> Callable[[int], float]:
    """The rate by the update's number, of a run of so many epochs of so many
    updates. text: a schedule whose base the rate is."""
    length = (epochs * updates, updates) if epochs else (0, 0)
    if text is not None:
        if isinstance(rate, str) or callable(rate):
            raise ValueError("lr_schedule changes the number that lr is, and lr "
                             f"is {rate!r}")
        return _train.Schedule(text, float(rate), *length).at
    if isinstance(rate, str):
        return _train.Schedule(rate, None, *length).at
    if callable(rate):
        return rate
    constant = float(rate)
    return lambda step: constant


class Loop:
    """Epochs of steps."""

    def __init__(self, trainer: Trainer, samples: Arrays | Data,
                 held: Arrays | Data | None, measured: Measures,
                 rate: Callable[[int], float], progress: Progress,
                 epochs: int) -> None:
        self._trainer, self._samples, self._held = trainer, samples, held
        self._measured, self._rate = measured, rate
        self._progress, self._epochs = progress, epochs
        self._entry = trainer._entry
        self.series: Series | None = None
        self.accumulate = 1
        self.average: Average | None = None
        self.history = History()
        self._done = self._steps = 0
        self._best = (0, math.inf)
        self._finite = True
        self._said_guessing = False

    def begin(self, resume: bool) -> None:
        assert self.series is not None
        self.series.require_own(self._trainer._model.symbol, resume)
        if not (epoch := self.series.newest()):
            return
        states, self._done, self._steps, self._best = (
            _checkpoints.read_states(self.series.path(epoch, "npz")))
        self._trainer.load_states(states)
        if self.average is not None:
            self.average.restore(states)
        for step in range(1, self._steps + 1):
            self._rate(step)  # schedules remember what they were asked

    def run(self, callbacks: Sequence[Callable[[Epoch], object]]) -> None:
        _samples.warn_of_large_batch(self._trainer.batch, len(self._samples))
        while self._done < self._epochs and self._finite:
            epoch = self._run_epoch()
            self.history.add(epoch)
            self._progress.epoch(epoch)
            if self.series is not None and self._finite:
                model = self._trainer._model
                loss = epoch.validation.get("loss", epoch.loss)
                if loss < self._best[1]:
                    self._best = self._done, loss
                self.series.save(self._done, self._steps,
                                 self._trainer.states(), model.states,
                                 model.symbol, self.average, self._best)
            try:
                for callback in callbacks:
                    callback(epoch)
            except StopTraining:
                break

    def _run_epoch(self) -> Epoch:
        began = time.perf_counter()
        check = LabelCheck(self._trainer._model.label_kinds,
                           [tensor.name for tensor in self._trainer._fed])
        self._measured.reset()
        total, count, rate = 0.0, 0, 0.0
        for batch, updates in _samples.last_of(
                self._samples.batches(self._done), self.accumulate):
            check.look(batch, self._samples)
            rate = float(self._rate(self._steps + 1))
            if not math.isfinite(rate) or rate < 0:
                raise ValueError(f"the learning rate of step {self._steps + 1} "
                                 f"is {rate}, expected 0 or more")
            loss = self._step(batch, rate, updates)
            rows = self._trainer.batch - batch.pad
            total, count = total + loss * rows, count + rows
            if not self._finite:
                break
            self._progress.step(self._done + 1, self._epochs, count,
                                len(self._samples), total / count)
        seconds = time.perf_counter() - began
        if self._done == 0:
            check.tell_count()
        self._done += 1
        epoch = Epoch(self._done, self._epochs, self._steps,
                      total / max(1, count), self._measured.values(), {}, rate,
                      seconds, count / max(seconds, 1e-9), self._trainer)
        if self._finite:
            self._look(epoch, count)
            if self._held is not None:
                epoch.validation = self._validate(self._held)
        return epoch

    def _validate(self, held: Arrays | Data) -> dict[str, float]:
        if self.average is None:
            return self._trainer._evaluate(held, self._measured)
        with self.average.shown():
            return self._trainer._evaluate(held, self._measured)

    def _step(self, batch: Batch, rate: float, updates: bool) -> float:
        outputs = self._trainer._learn(batch.arrays, rate, updates)
        loss = float(np.ravel(outputs["loss"])[0])
        self._finite = math.isfinite(loss)
        if updates or not self._finite:
            self._steps += 1
        if updates and self._finite and self.average is not None:
            self.average.add()
        if self._finite:
            self._measured.update(batch, list(outputs.values()),
                                  len(self._trainer._data))
        else:
            _samples.warn_of_loss(loss, self._steps, self._done + 1, rate,
                                  batch, self._samples)
        return loss

    def _look(self, epoch: Epoch, samples: int) -> None:
        """A few steps or samples tell nothing."""
        if not self._trainer._classes:
            return
        classes = self._trainer._classes[0].classes
        early = self._steps < 10 and self._done < self._epochs
        if (classes > 1 and samples >= 5 * classes and not early
                and not self._said_guessing):
            self._said_guessing = _samples.warn_of_guessing(
                self._done, epoch.loss, epoch.metrics.get("accuracy"), samples,
                classes)
