# SPDX-License-Identifier: Apache-2.0
"""The events, and what "better" is."""


class EventHandler:
    """Something that an Estimator tells of events; the lower its `priority`, the sooner."""


class TrainBegin(EventHandler):
    """Told when training begins."""

    def train_begin(self, estimator, *args, **kwargs):
        """Called once."""


class TrainEnd(EventHandler):
    """Told when training ends."""

    def train_end(self, estimator, *args, **kwargs):
        """Called once."""


class EpochBegin(EventHandler):
    """Told when an epoch begins."""

    def epoch_begin(self, estimator, *args, **kwargs):
        """Called for each epoch."""


class EpochEnd(EventHandler):
    """Told when an epoch ends; true stops the training."""

    def epoch_end(self, estimator, *args, **kwargs):
        """Called for each epoch."""
        return False


class BatchBegin(EventHandler):
    """Told when a batch begins, with `batch`."""

    def batch_begin(self, estimator, *args, **kwargs):
        """Called for each batch."""


class BatchEnd(EventHandler):
    """Told when a batch ends, with `batch`, `pred`, `label`, `loss`; true stops."""

    def batch_end(self, estimator, *args, **kwargs):
        """Called for each batch."""
        return False


def _lower(value, best, delta=0):
    return value < best - delta


def _higher(value, best, delta=0):
    return value > best + delta


def improvement(mode, metric):
    """(is_better(value, best, least change), the worst value) of a metric."""
    if mode not in ("auto", "min", "max"):
        raise ValueError(f"mode is 'auto', 'min' or 'max', not '{mode}'.")
    if mode == "auto":
        name = metric.get()[0].lower()
        mode = "max" if "acc" in name or "f1" in name else "min"
    return (_higher, -float("inf")) if mode == "max" else (_lower, float("inf"))
