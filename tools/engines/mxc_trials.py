# SPDX-License-Identifier: Apache-2.0
"""Trials of a search that somebody else makes (mxc_optuna.py, mxc_ray_tune.py):
a network trained many times in this process, from one artifact for all trials
that agree in what is compiled."""

import inspect
import threading

import mxc

# Settings that make another artifact, besides the optimizer's attributes.
_COMPILED = ("batch", "init", "label_smoothing", "loss", "num_classes",
             "optimizer", "precision", "fixed")
# Those of mxc train that Trainer.fit takes by these names, too.
_TRAINED = ("early_stop", "keep_epochs", "save_every", "steps", "data_threads")
_FIT = inspect.signature(mxc.Trainer.fit).parameters
_OURS = {"self", "samples", "epochs", "validation", "callbacks", "progress",
         "settings"}


class Diverged(Exception):
    """A loss that is not finite has ended a training."""


class Trials:
    """network, compiled: as mxc.compile has them. samples, validation, fixed:
    as Trainer.fit has them. epochs: of a whole trial. monitor: a name of
    History, which is reported. threads: of a trial.

    A setting of a trial is a keyword of mxc.compile ("batch", "optimizer", …)
    or of Trainer.fit ("lr", "seed", …), or else an attribute of the optimizer
    ("momentum")."""

    def __init__(self, network, *samples, validation=None, epochs=1,
                 monitor=None, threads=1, compiled=None, **fixed):
        self._network, self._samples = network, samples
        self._validation, self._epochs = validation, epochs
        self.monitor = monitor or (
            "loss" if validation is None else "val_loss")
        self._threads, self._compiled = threads, dict(compiled or {})
        self._fixed = fixed
        self._models, self._lock = {}, threading.Lock()

    @property
    def artifacts(self):
        """How many were compiled."""
        return len(self._models)

    def train(self, settings, report, save=None):
        """Trains with the settings; what `monitor` came to at last.

        report: called with value and epoch after each; what it raises ends
            training and is raised here.
        save: a file for what was learned, .params.
        Raises Diverged where a loss is not finite."""
        compiled, trained = self._sorted(settings)
        trainer = self._model(compiled).trainer(threads=self._threads)
        found = []

        def on_epoch(epoch):
            found.append(self._value(epoch))
            report(found[-1], epoch.epoch)

        trainer.fit(*self._samples, epochs=self._epochs,
                    validation=self._validation, callbacks=[on_epoch],
                    progress=False, **{**self._fixed, **trained})
        if not found or found[-1] - found[-1] != 0:
            raise Diverged(f"a loss is not finite after {len(found)} epochs")
        if save is not None:
            trainer.save(save)
        return found[-1]

    def _sorted(self, settings):
        """Those that are compiled, and those of Trainer.fit."""
        compiled = {**self._compiled,
                    "attributes": dict(self._compiled.get("attributes", {}))}
        trained = {}
        for name, value in settings.items():
            if name in _COMPILED:
                compiled[name] = value
            elif name in _TRAINED or (name in _FIT and name not in _OURS):
                trained[name] = value
            elif name in _OURS:
                raise ValueError(f"'{name}' is of all trials, not of one")
            else:
                compiled["attributes"][name] = value
        return compiled, trained

    def _model(self, compiled):
        key = repr(sorted(compiled.items()))
        with self._lock:
            if key not in self._models:
                self._models[key] = mxc.compile(
                    self._network, **{"init": "xavier",
                                      "entries": ["train", "score"],
                                      "threads": self._threads, **compiled})
            return self._models[key]

    def _value(self, epoch):
        values = epoch.values()
        if self.monitor not in values:
            raise ValueError(f"there is no '{self.monitor}' to monitor, only "
                             + ", ".join(values))
        return values[self.monitor]
