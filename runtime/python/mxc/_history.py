# SPDX-License-Identifier: Apache-2.0
"""What training says of its epochs, to programs and to people."""

from __future__ import annotations

import math
import sys
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ._training import Trainer


class StopTraining(Exception):
    """Raised by a callback: the epoch that it is called after is the last."""


@dataclass
class Epoch:
    """What an epoch of training has come to; callbacks get it."""

    epoch: int  # from 1
    epochs: int  # that were asked for
    steps: int  # in all
    loss: float  # mean over the samples, while they were learned
    metrics: dict[str, float]
    validation: dict[str, float]  # "loss" and metrics; empty: there is none
    lr: float  # of the last step
    seconds: float
    samples_per_second: float
    trainer: Trainer = field(repr=False)

    def values(self) -> dict[str, float]:
        """As History has them: {"loss": 0.4, "accuracy": 0.9, "val_loss": …}."""
        return {"loss": self.loss, **self.metrics,
                **{f"val_{name}": value
                   for name, value in self.validation.items()},
                "lr": self.lr, "seconds": self.seconds}

    def __str__(self) -> str:
        shown = [f"{name} {value:.4g}" for name, value in self.values().items()
                 if name not in ("lr", "seconds")]
        return "  ".join([f"epoch {self.epoch}/{self.epochs}", *shown,
                          f"{self.samples_per_second:.4g} samples/s"])


class History(dict[str, list[float]]):
    """Values by name, one for each epoch: history["loss"], ["accuracy"],
    ["val_loss"], ["val_accuracy"], ["lr"], ["seconds"]. pandas.DataFrame(history)
    is a table of it."""

    def add(self, epoch: Epoch) -> None:
        """Appends what the epoch has come to."""
        for name, value in epoch.values().items():
            self.setdefault(name, []).append(value)

    def __str__(self) -> str:
        rows = [["epoch", *self], *(
            [str(i + 1), *(f"{value:.4g}" for value in row)]
            for i, row in enumerate(zip(*self.values())))]
        widths = [max(map(len, column)) for column in zip(*rows)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width
                                   in zip(row, widths)) for row in rows)


class EarlyStopping:
    """A callback: training stops where `monitor` has not become better for
    `patience` epochs, and goes back to the best states.

    monitor: a name of History; losses and errors are to be small, all else
        large, unless `mode` is "min" or "max".
    min_delta: what counts as better."""

    def __init__(self, monitor: str = "val_loss", patience: int = 3,
                 min_delta: float = 0.0, mode: str = "auto",
                 restore_best: bool = True) -> None:
        if mode not in ("auto", "min", "max"):
            raise ValueError(f"mode is {mode!r}, expected auto, min or max")
        small = mode == "min" or (mode == "auto" and _is_small(monitor))
        self._monitor, self._patience = monitor, patience
        self._min_delta, self._sign = min_delta, -1.0 if small else 1.0
        self._restore = restore_best
        self.best_epoch = 0
        self.best = math.nan
        self._states: dict[str, object] = {}

    def __call__(self, epoch: Epoch) -> None:
        values = epoch.values()
        if self._monitor not in values:
            raise ValueError(f"there is no '{self._monitor}' to monitor, only "
                             + ", ".join(values))
        value = values[self._monitor]
        if math.isnan(self.best) or (
                self._sign * (value - self.best) > self._min_delta):
            self.best, self.best_epoch = value, epoch.epoch
            if self._restore:
                self._states = dict(epoch.trainer.states())
        elif epoch.epoch - self.best_epoch >= self._patience:
            if self._restore:
                epoch.trainer.load_states(self._states)
            raise StopTraining


def _is_small(monitor: str) -> bool:
    name = monitor.removeprefix("val_")
    return name in ("loss", "mae", "mse", "rmse", "perplexity",
                    "cross-entropy", "nll-loss")


class Progress:
    """A line for each epoch, and on a terminal how far the running one is."""

    def __init__(self, wanted: bool | None) -> None:
        terminal = sys.stderr is not None and sys.stderr.isatty()
        notebook = "ipykernel" in sys.modules
        self._lines = wanted if wanted is not None else terminal or notebook
        self._bar = self._lines and terminal
        self._last = 0.0

    def wants_step(self) -> bool:
        """Whether it is time to draw the bar again."""
        return self._bar and time.monotonic() - self._last >= 0.1

    def step(self, epoch: int, epochs: int, done: int, batches: int,
             loss: float) -> None:
        self._last = time.monotonic()
        share = min(1.0, done / batches) if batches else 1.0
        bar = "#" * round(30 * share)
        self._show(f"\repoch {epoch}/{epochs} [{bar:30}] {100 * share:3.0f} %  "
                   f"loss {loss:.4g}\x1b[K")

    def epoch(self, epoch: Epoch) -> None:
        if self._lines:
            self._show(("\r\x1b[K" if self._bar else "") + f"{epoch}\n")

    def say(self, sentence: str) -> None:
        if self._lines:
            self._show(("\r\x1b[K" if self._bar else "") + f"{sentence}\n")

    def _show(self, text: str) -> None:
        stream = sys.stderr if self._bar else sys.stdout
        stream.write(text)
        stream.flush()
