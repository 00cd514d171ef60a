# SPDX-License-Identifier: Apache-2.0
"""Training whole, by the library's loop (mxc_train.h)."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _runtime, _samples
from ._errors import Error
from ._history import Epoch, History, Progress, StopTraining
from ._samples import Arrays, Data
from ._words import in_python

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._measures import Measures
    from ._training import Trainer

    Rate = float | str | Callable[[int], float]
    Setting = tuple[str, str]


class Fit:
    """A run of a trainer: settings as text, arrays where they lie, and what is
    called meanwhile."""

    def __init__(self, trainer: Trainer, progress: Progress,
                 callbacks: Sequence[Callable[[Epoch], object]]) -> None:
        self._trainer, self._progress = trainer, progress
        self._callbacks = callbacks
        self._settings: list[Setting] = []
        self._rate: Callable[[int], float] | None = None
        self._samples: _runtime.TrainingSamples | None = None
        self._validation: _runtime.TrainingSamples | None = None
        self._own: dict[str, Callable[..., float]] = {}
        self._training: _runtime.Training | None = None
        self._states: list[_runtime.Tensor] = []  # that training has its own of
        self.history = History()

    def set(self, **settings: object) -> None:
        """Settings of `mxc train` by name, "_" for "-"; None leaves one out."""
        for name, value in settings.items():
            if value is None:
                continue
            if isinstance(value, bool):
                value = int(value)
            text = repr(value) if isinstance(value, float) else (
                os.fspath(value) if isinstance(value, os.PathLike)
                else str(value))
            self._settings.append((name.replace("_", "-"), text))

    def take_rate(self, rate: Rate, schedule: str | None) -> None:
        """The learning rate: a number, a schedule, or a function of the
        step."""
        if schedule is not None and (isinstance(rate, str) or callable(rate)):
            raise ValueError("lr_schedule changes the number that lr is, and lr "
                             f"is {rate!r}")
        if callable(rate):
            self._rate = _checked(rate)
        elif isinstance(rate, str):
            self.set(lr_schedule=rate)
        else:
            self.set(lr=_legal(float(rate), 1), lr_schedule=schedule)

    def take_metrics(self, measured: Measures) -> None:
        self.set(metric=measured.names)
        self._own = measured.own

    def take_samples(self, samples: Arrays | Data, options: Mapping[str, object]
                     ) -> None:
        """What is learned from; options of every source beside its own."""
        if isinstance(samples, Data):
            self.set(data=samples.spec)
            options = {**samples.options, **options}
        else:
            self._samples = self._arrays(samples)
        for name, value in options.items():
            self.set(data_opt=f"{name}={value}")

    def take_validation(self, samples: Arrays | Data | None) -> None:
        """What is scored after each epoch."""
        if isinstance(samples, Data):
            self.set(val=samples.spec)
            for name, value in samples.own_options.items():
                self.set(val_opt=f"{name}={value}")
        elif samples is not None:
            self._validation = self._arrays(samples)

    def run(self) -> _runtime.Training:
        """Trains. What a callback raises is raised here."""
        trainer = self._trainer
        try:
            several = "," in trainer._devices
            self.set(device=trainer._devices or None, threads=trainer._threads)
            training = self._training = _runtime.Training(
                trainer._model, None if several else trainer._train,
                self._settings, self._samples, self._validation,
                {"learning_rate": self._rate, "wants_step": self._wants_step,
                 "on_step": self._on_step, "on_epoch": self._on_epoch,
                 "say": self._say, "metrics": self._own})
            if training.serves:
                training.fit()
                sys.exit(0)  # of the job: the workers have finished
            if several:
                self._states = self._trainer._model.states
                self._give_states()
            diverged = training.fit()["diverged"]
            self._take_states()
        except Error as error:
            raise _in_python(error) from None
        finally:
            # It holds what it calls, and so this: nobody would free either.
            self._training = None
        if diverged is not None:
            _samples.warn(f"{diverged}; training has stopped")
        return training

    def _arrays(self, samples: Arrays) -> _runtime.TrainingSamples:
        held = _runtime.TrainingSamples()
        labels = {tensor.name for tensor in self._trainer._labels}
        for tensor, array in samples.arrays():
            held.add(tensor.name, array, tensor.name in labels)
        return held

    def _wants_step(self, step: int) -> bool:
        return self._progress.wants_step()

    def _on_step(self, epoch: int, epochs: int, batch: int, batches: int,
                 loss: float) -> None:
        self._progress.step(epoch, epochs, batch, batches, loss)

    def _on_epoch(self, told: dict[str, Any]) -> bool:
        epoch = Epoch(told["epoch"], told["epochs"], told["step"],
                      told["loss"], told["metrics"], told["validation"],
                      told["lr"], told["seconds"], told["samples_per_second"],
                      self._trainer)
        self.history.add(epoch)
        self._progress.epoch(epoch)
        if self._callbacks:
            self._take_states()
        try:
            for callback in self._callbacks:
                callback(epoch)
        except StopTraining:
            return True
        finally:
            if self._callbacks:
                self._give_states()
        return False

    def _give_states(self) -> None:
        """Of the trainer's executor, where training has its own."""
        for state in self._states:
            assert self._training is not None
            values = self._trainer._train.read_state(state.name)
            self._training.write_state(state.name, values.tobytes())

    def _take_states(self) -> None:
        for state in self._states:
            assert self._training is not None
            own = self._trainer._train.read_state(state.name)
            values = self._training.read_state(state.name, own.nbytes)
            self._trainer._train.write_state(
                state.name, np.frombuffer(values, own.dtype).reshape(own.shape))

    def _say(self, sentence: str, warning: bool) -> None:
        sentence = in_python(sentence)
        if warning:
            _samples.warn(sentence)
        else:
            self._progress.say(sentence)


def averages(training: _runtime.Training, trainer: Trainer
             ) -> dict[str, NDArray[Any]]:
    """The moving averages that a run has kept, of the parameters' types."""
    kept = {}
    for state in trainer._model.states:
        if state.use not in ("parameter", "auxiliary"):
            continue
        try:
            values = training.read_average(state.name, math.prod(state.shape))
        except Error as error:
            if error.code != "not found":  # one of integers has none
                raise
            continue
        kept[state.name] = np.frombuffer(values, np.float32).reshape(
            state.shape).astype(state.dtype)
    return kept


def _checked(rate: Callable[[int], float]) -> Callable[[int], float]:
    return lambda step: _legal(float(rate(step)), step)


def _legal(rate: float, step: int) -> float:
    if not math.isfinite(rate) or rate < 0:
        raise ValueError(f"the learning rate of step {step} is {rate}, expected "
                         "0 or more")
    return rate


def _in_python(error: Error) -> Exception:
    """As Python has it: what is wrong with an argument is a ValueError, and files
    that would be written over are a FileExistsError."""
    sentence = in_python(str(error))
    if "--overwrite" in str(error) or "another network" in str(error):
        return FileExistsError(sentence)
    if error.code == "invalid argument":
        kind = TypeError if sentence.startswith("no setting '") else ValueError
        return kind(sentence)
    return Error(sentence, error.code)
