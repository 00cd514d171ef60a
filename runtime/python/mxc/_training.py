# SPDX-License-Identifier: Apache-2.0
"""Training, step by step or whole."""

from __future__ import annotations

import operator
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from . import _checkpoints, _fit
from ._fit import Fit
from ._history import Epoch, History, Progress
from ._measures import Measures
from ._numbers import numbers
from ._samples import Arrays, Batch, Data, LabelCheck
from ._updates import Updates

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ._executor import Executor
    from ._fit import Rate
    from ._measures import Metric
    from ._model import Model
    from ._runtime import Entry

    Validation = float | Data | Sequence[ArrayLike] | None


# Options of `mxc train` that fit has under other names.
_SAID_OTHERWISE = {"data": "what comes first", "val": "validation=",
                   "save": "checkpoint=", "metric": "metrics=",
                   "no_shuffle": "shuffle=False"}


class Trainer:
    """Steps of a model's entry "train" on states of its own, which no other
    trainer sees. One thread at a time uses it.

    As in MXNet's Module, gradients are divided by the batch; the last batch of
    an epoch is filled up with samples of its beginning, which are trained on
    and neither scored nor predicted."""

    def __init__(self, model: Model, threads: int = 0,
                 device: str = "") -> None:
        """threads: of a step; 0: one for each processor. device: "cuda:1", of
        the kind that the model was compiled for; "": the model's own;
        "cuda:0,cuda:1": fit trains on all of them, each on its part of a batch,
        what the model was compiled for with `replicas`, and the first one does
        all else.
        Raises mxc.Error where the model has neither an entry "train" nor
        "grad"."""
        self._model, self._devices, self._threads = model, device, threads
        device = device.split(",")[0]
        names = [entry.name for entry in model.entries]
        self._whole = "train" in names or "grad" not in names
        name = "train" if self._whole else "grad"
        self._train = model.bind(name, threads=threads, device=device)
        self._entry = _entry(model, name)
        self._updates: Updates | None = None
        if "grad" in names:
            grad = self._train if not self._whole else model.bind(
                "grad", threads=threads, device=device, share=self._train)
            self._updates = Updates(model, grad, _entry(model, "grad"), threads,
                                    device)
        self._averages: dict[str, NDArray[Any]] | None = None
        self._score: Executor | None = None
        if any(entry.name == "score" for entry in model.entries):
            self._score = model.bind("score", threads=threads, device=device,
                                     share=self._train)
        self._data = [t for t in self._entry.inputs
                      if t.use not in ("rate", "label")]
        self._labels = [t for t in self._entry.inputs if t.use == "label"]
        self._fed = [t for t in self._entry.inputs if t.use != "rate"]
        self._classes = model.class_labels

    @property
    def batch(self) -> int:
        """Samples of a step: what the model was compiled for."""
        return self._fed[0].shape[0]

    def step(self, *arrays: object, lr: float) -> dict[str, NDArray[Any]]:
        """One step on a batch: arrays of the shapes and types of the entry's
        inputs, data before labels, read where they lie. Returns the outputs by
        name, "loss" (the batch's mean) among them; where that is not finite
        nothing was learned.
        Raises TypeError or ValueError for arrays that do not fit."""
        if self._whole:
            return _by_name(self._entry, self._train(*arrays, learning_rate=lr))
        assert self._updates is not None
        outputs = self._updates.add(*arrays)
        if np.isfinite(outputs["loss"]).all():
            self._updates.apply(lr)
        else:
            self._updates.forget()
        return outputs

    def fit(self, *samples: ArrayLike | Data, epochs: int = 1,
            lr: Rate = 0.01, lr_schedule: str | None = None,
            batch_size: int | None = None, accumulate: int = 1,
            ema: float | None = None,
            validation: Validation = None,
            metrics: str | Sequence[Metric] | None = None,
            callbacks: Sequence[Callable[[Epoch], object]] = (),
            class_balanced: bool = False, mixup: float = 0, cutmix: float = 0,
            shuffle: bool = True, seed: int = 0,
            checkpoint: str | os.PathLike[str] | None = None,
            resume: bool = False, overwrite: bool = False,
            progress: bool | None = None, **settings: object) -> History:
        """Trains on all samples, epoch by epoch, as `mxc train` does: the same
        samples, settings and seed leave the same bytes.

        samples: arrays of N samples each, data before labels, of any numeric
            type and any N; or one mxc.data(…). Samples that do not fill the last
            batch of an epoch are filled up with the first ones of the next.
        lr: the learning rate; or a schedule as `mxc train --lr-schedule` has it,
            "cosine:base_lr=0.1"; or a function of the step's number, from 1.
        lr_schedule: a schedule that begins with lr: "cosine", which knows the
            run's length, "multifactor:step=300,600:factor=0.1".
        batch_size: None, or the batch that the model was compiled for.
        accumulate: batches whose gradients are added up for one update, as of a
            batch so many times as large; the last of an epoch may have fewer,
            and takes their mean. Steps and schedules count updates. For models
            compiled with entries ["grad", "update", "score"].
        ema: keeps a moving average of the parameters, of which so much stays at
            each update, 0.999, and less at first (runtime/train/ema_step.h).
            Validation scores it, averages() returns it, and PREFIX-0001.ema.params
            has it where there is a checkpoint.
        validation: (X, Y), an mxc.data(…), of which the samples are scored that
            it keeps for validation, if any; or the share of the samples that is
            kept for it, 0.1. Scored after each epoch.
        metrics: "accuracy,top_5" as --metric has them, or a list in which
            functions of (labels, outputs) may stand, too; None: accuracy where
            labels are classes, rmse where they are values.
        callbacks: called with an mxc.Epoch after each, once it is saved;
            mxc.StopTraining ends.
        class_balanced: draws every class equally often; an epoch has as many
            samples as before, those of rare classes several times.
        mixup, cutmix: mixes the samples of a batch, and their labels, two by
            two, in shares from Beta(mixup, mixup), or puts a box of one picture
            into another; 0: not. For models whose labels are probabilities of
            classes: mxc.compile(…, shapes={"softmax_label": (batch, classes),
            …}); the arrays' labels may be classes' numbers.
        shuffle, seed: another order for each epoch, the same for a seed, which
            is the network's own random numbers', too.
        checkpoint: a prefix: PREFIX-0001.params, .states and .mxc after epoch 1,
            as `mxc train --save` has them, and PREFIX-best.params of the best
            epoch, in validation where there is one.
        resume: goes on from the newest checkpoint of the prefix, if any, also
            from one of `mxc train`.
        overwrite: removes what an earlier run has left under the prefix.
        progress: a line for each epoch; None: on a terminal and in a notebook.
        settings: all else that `mxc train` has, by the names of its options:
            early_stop="patience=3", log_dir="runs/a", save_every=500,
            keep_epochs=2, data_threads=4, kvstore="dist_async", trace="t.json".

        A process of a job (mxc launch, torchrun, Slurm, MPI) trains as one of
        its workers, of which number 0 tells epochs; in one that is a server,
        this serves until the workers have finished, and ends the process.

        Returns the values of the epochs of this call. Warns (UserWarning) of
        labels that are no class, samples that are not finite, batches larger
        than the samples, an epoch no better than guessing, and a loss that is
        not finite, which ends training.
        Raises ValueError for lengths, shapes and names that do not fit,
        TypeError for what holds no numbers, FileExistsError for checkpoints of
        an earlier run."""
        epochs, accumulate = (_whole_number("epochs", epochs),
                              _whole_number("accumulate", accumulate))
        for place, callback in enumerate(callbacks):
            if not callable(callback):
                raise TypeError(f"callbacks[{place}] is {callback!r}, expected "
                                "what can be called")
        if batch_size not in (None, self.batch):
            raise ValueError(
                f"batch_size is {batch_size}, but the model was compiled for "
                f"{self.batch}: mxc.compile(…, batch={batch_size})")
        if accumulate < 1:
            raise ValueError(f"accumulate is {accumulate}, expected 1 or more")
        if accumulate > 1 and self._updates is None:
            raise ValueError("accumulate= is for a model with entries "
                             '["grad", "update", "score"]')
        if epochs < 0:
            raise ValueError(f"epochs is {epochs}, expected 0 or more")
        if ema is not None and not 0 < ema < 1:
            raise ValueError(f"ema is {ema}, expected a number above 0 and "
                             "below 1")
        if resume and checkpoint is None:
            raise ValueError("resume goes on from checkpoint=, which is not "
                             "given")
        for name in settings:
            if name in _SAID_OTHERWISE:
                raise TypeError(f"no setting '{name}': {_SAID_OTHERWISE[name]} "
                                "says it")
        train, held = self._split(samples, validation, seed)
        fit = Fit(self, Progress(progress), callbacks)
        fit.take_samples(train, self._variation(class_balanced, mixup, cutmix))
        fit.take_validation(held)
        fit.take_metrics(Measures(metrics, self._model.heads, self._entry))
        fit.take_rate(lr, lr_schedule)
        if isinstance(train, Data):
            shuffle, seed = shuffle or train.shuffles, seed or train.seed
        fit.set(epochs=epochs, accumulate=accumulate, ema=ema,
                no_shuffle=not shuffle, seed=seed, save=checkpoint,
                resume=resume, overwrite=overwrite, **settings)
        self._averages = None
        if epochs > 0:
            training = fit.run()
            if ema is not None:
                self._averages = _fit.averages(training, self)
        return fit.history

    def predict(self, *data: ArrayLike | Data) -> NDArray[Any]:
        """The first output of the entry "score" for N samples, in order: N rows.

        data: arrays of N samples, without labels (labels behind them are
        ignored), or one mxc.data(…).
        Raises TypeError where the model has no entry "score"."""
        found = []
        for batch in self._unlabelled(data).batches(0):
            outputs = self._scored(batch)
            found.append(outputs[0][:self.batch - batch.pad])
        return np.concatenate(found)

    def evaluate(self, *samples: ArrayLike | Data,
                 metrics: str | Sequence[Metric] | None = None
                 ) -> dict[str, float]:
        """{"loss": …, "accuracy": …} of N samples and their labels, each of
        which counts once. Arguments and errors are those of fit."""
        measured = Measures(metrics, self._model.heads, self._entry)
        return self._evaluate(self._samples(samples), measured)

    def accuracy(self, *samples: ArrayLike | Data) -> float:
        """The share of samples whose largest output is their label's."""
        return self.evaluate(*samples, metrics="accuracy")["accuracy"]

    def confusion(self, *samples: ArrayLike | Data) -> NDArray[np.int64]:
        """Which classes are taken for which: [i, j] is how many of N samples
        with label i have their largest output at j. Labels that are no class,
        or are ignored, count nowhere. Arguments and other errors are those of
        evaluate.
        Raises TypeError where the network has other than one label, of
        classes."""
        if len(self._labels) != 1 or len(self._classes) != 1:
            raise TypeError("the network has other than one label, of classes")
        label = self._classes[0]
        axis = int(self._model.heads[0].split()[3])
        counts = np.zeros((label.classes, label.classes), np.int64)

        def count(labels: NDArray[Any], outputs: NDArray[Any]) -> float:
            predicted = outputs.argmax(axis=axis)
            found = labels.reshape(predicted.shape)
            counted = ~label.wrong(found)
            if label.ignored is not None:
                counted &= found != label.ignored
            np.add.at(counts, (found[counted].astype(np.int64),
                               predicted[counted]), 1)
            return 0.0

        self.evaluate(*samples, metrics=[count])
        return counts

    def states(self) -> dict[str, NDArray[Any]]:
        """Copies of all states: parameters, moving statistics, moments."""
        return {state.name: self._train.read_state(state.name)
                for state in self._model.states}

    def parameters(self) -> dict[str, NDArray[Any]]:
        """Copies of what mxc.compile takes as `params`."""
        return {state.name: self._train.read_state(state.name)
                for state in self._model.states
                if state.use in ("parameter", "auxiliary")}

    def averages(self) -> dict[str, NDArray[Any]]:
        """As parameters, the moving averages that the last fit kept. Raises
        ValueError where that had no ema=."""
        if self._averages is None:
            raise ValueError("fit was not told ema=, so there are no averages")
        return {**self.parameters(), **self._averages}

    def load_states(self, states: Mapping[str, Any]) -> None:
        """Takes all states from arrays by name, as states() returns them.
        Raises ValueError for a state that lacks, before any is changed."""
        self._write(states, [state.name for state in self._model.states])

    def load_parameters(self, params: Mapping[str, Any] | str
                        | os.PathLike[str]) -> None:
        """Takes parameters from arrays by name or a .params, .npz or
        .safetensors file; optimizer's states stay. Raises ValueError for one
        that lacks or has another shape, before any is changed."""
        if not isinstance(params, Mapping):
            params = _checkpoints.read_parameters(params)
        self._write(params, [state.name for state in self._model.states
                             if state.use in ("parameter", "auxiliary")])

    def save(self, path: str | os.PathLike[str]) -> None:
        """Parameters as MXNet's .params, where the name ends so; else all
        states as .npz, to go on from. Whole or not at all."""
        if os.fspath(path).endswith(".params"):
            _checkpoints.write_parameters(path, self.parameters(),
                                          self._model.states)
        else:
            _checkpoints.write_states(_with_suffix(path), self.states())

    def restore(self, path: str | os.PathLike[str]) -> None:
        """Takes what save has written. Raises mxc.Error for a damaged file."""
        if os.fspath(path).endswith(".params"):
            self.load_parameters(path)
        else:
            if not os.path.exists(path):
                path = _with_suffix(path)
            self.load_states(_checkpoints.read_states(path))

    def _write(self, arrays: Mapping[str, Any], names: list[str]) -> None:
        tensors = {state.name: state for state in self._model.states}
        values = {}
        for name in names:
            if name not in arrays:
                raise ValueError(f"there is no value for '{name}'")
            found = numbers(arrays[name], name)
            if found.shape != tensors[name].shape:
                raise ValueError(f"'{name}' has shape {tensors[name].shape}, "
                                 f"not {found.shape}")
            values[name] = np.ascontiguousarray(found, tensors[name].dtype)
        for name, array in values.items():
            self._train.write_state(name, array)

    def _samples(self, samples: Sequence[ArrayLike | Data], seed: int = 0
                 ) -> Arrays | Data:
        if len(samples) == 1 and isinstance(samples[0], Data):
            return samples[0].bound(self.batch, self._fed, False, seed,
                                    self._model.label_classes)
        if len(samples) != len(self._fed):
            names = ", ".join(tensor.name for tensor in self._fed)
            raise TypeError(f"the entry is fed {names}")
        return Arrays([a for a in samples if not isinstance(a, Data)],
                      self._fed, self.batch, seed, self._model.label_classes)

    def _split(self, samples: Sequence[ArrayLike | Data],
               validation: Validation, seed: int
               ) -> tuple[Arrays | Data, Arrays | Data | None]:
        train = self._samples(samples, seed)
        if validation is None:
            return train, None
        if self._score is None:
            raise TypeError('compile the model with entries ["train", "score"]')
        if isinstance(validation, Data):
            return train, self._samples([validation])
        if not isinstance(validation, (int, float)):
            return train, self._samples(validation)
        if not 0 < validation < 1:
            raise ValueError(f"validation is {validation}, expected a share "
                             "between 0 and 1")
        return train.split(validation)

    def _variation(self, class_balanced: bool, mixup: float, cutmix: float
                   ) -> dict[str, object]:
        """Options of the source that vary samples."""
        mixes = {"mixup": mixup, "cutmix": cutmix}
        for name, value in mixes.items():
            if not 0 <= value <= 1000:
                raise ValueError(f"{name} is {value}, expected a number from 0 "
                                 "to 1000")
        chosen: dict[str, object] = {name: value for name, value
                                     in mixes.items() if value}
        if not class_balanced and not chosen:
            return {}
        if len(self._labels) != 1:
            raise TypeError("class_balanced, mixup and cutmix are for networks "
                            "with one label, of classes")
        if chosen and not self._model.label_classes:
            raise ValueError(
                f"{next(iter(chosen))} makes labels probabilities of classes, "
                "but the model was compiled for labels that are numbers: "
                f'mxc.compile(…, shapes={{"{self._labels[0].name}": (batch, '
                "classes), …})")
        if class_balanced:
            chosen["class_balanced"] = 1
        return chosen

    def _unlabelled(self, data: Sequence[ArrayLike | Data]) -> Arrays | Data:
        if len(data) == 1 and isinstance(data[0], Data):
            return data[0].bound(self.batch, self._data, False, 0, -1)
        if len(data) == len(self._data):
            return Arrays([a for a in data if not isinstance(a, Data)],
                          self._data, self.batch)
        return self._samples(data)

    def _scored(self, batch: Batch) -> list[NDArray[Any]]:
        if self._score is None:
            raise TypeError('compile the model with entries ["train", "score"]')
        arrays: list[Any] = batch.arrays
        if len(arrays) < len(self._fed):  # no output depends on labels
            arrays = [*arrays, *(np.zeros(t.shape, t.dtype)
                                 for t in self._labels)]
        found = self._score(*arrays)
        return list(found) if isinstance(found, tuple) else [found]

    def _evaluate(self, samples: Arrays | Data, measured: Measures
                  ) -> dict[str, float]:
        names = [tensor.name for tensor in self._fed]
        check = LabelCheck(self._model.label_kinds, names)
        measured.reset()
        total = terms = 0.0
        for batch in samples.batches(0):
            check.look(batch, samples)
            loss, outputs = self._loss_of(batch)
            count = self._terms(batch)
            total, terms = total + loss * count, terms + count
            measured.update(batch, outputs, len(self._data))
        check.tell_count()
        return {"loss": total / terms if terms else 0.0, **measured.values()}

    def _loss_of(self, batch: Batch) -> tuple[float, list[NDArray[Any]]]:
        """The mean loss of the samples of a batch without what fills it up, and
        the outputs. A batch that is filled with the samples over and over says
        so many times what they say, and a batch of the first one alone says
        what is left over."""
        whole = self._scored(batch)
        if not batch.pad:
            return self._loss_in(whole), whole
        count = self.batch - batch.pad
        times, left = divmod(self.batch, count)
        rows = np.concatenate([np.tile(np.arange(count), times),
                               np.zeros(left, int)])
        loss = self._loss_in(self._scored(_rows(batch, rows)))
        if left:
            first = self._loss_in(self._scored(_rows(batch, rows * 0)))
            loss = (loss * self.batch - first * left) / (times * count)
        return loss, whole

    def _loss_in(self, outputs: Sequence[NDArray[Any]]) -> float:
        names = [tensor.name for tensor in _entry(self._model, "score").outputs]
        return float(np.ravel(outputs[names.index("loss")])[0])

    def _terms(self, batch: Batch) -> int:
        """Of how many terms the batch's loss is the mean: labels that are no
        class, or ignored, are none."""
        count = self.batch - batch.pad
        if len(self._classes) != 1:
            return count
        label = self._classes[0]
        place = [tensor.name for tensor in self._fed].index(label.name)
        values = batch.arrays[place][:count]
        counted = ~label.wrong(values)
        if label.ignored is not None:
            counted &= values != label.ignored
        return int(np.count_nonzero(counted))


def _whole_number(name: str, value: object) -> int:
    try:
        return operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} is {value!r}, expected a whole number"
                        ) from None


def _rows(batch: Batch, rows: NDArray[Any]) -> Batch:
    return Batch([np.ascontiguousarray(array[rows]) for array in batch.arrays],
                 0, batch.samples[rows])


def _entry(model: Model, name: str) -> Entry:
    return next(entry for entry in model.entries if entry.name == name)


def _by_name(entry: Entry, found: Any) -> dict[str, NDArray[Any]]:
    arrays = found if isinstance(found, tuple) else (found,)
    return {t.name: array for t, array in zip(entry.outputs, arrays)}


def _with_suffix(path: str | os.PathLike[str]) -> str:
    text = os.fspath(path)
    return text if text.endswith(".npz") else text + ".npz"
