# SPDX-License-Identifier: Apache-2.0
"""CheckpointHandler."""
import os
import re

from ._events import BatchEnd, EpochEnd, TrainBegin, improvement
from .utils import check_metrics


class CheckpointHandler(TrainBegin, BatchEnd, EpochEnd):
    """Saves parameters and the trainer's states every `epoch_period` epochs or
    `batch_period` batches, as `model_dir/model_prefix-epoch0batch99.params`.

    Of them the last `max_checkpoints` are kept, and with `save_best` the one whose
    `monitor` is best (`mode`: "min", "max" or "auto"). `resume_from_checkpoint` begins
    where the last one stopped.
    """

    def __init__(self, model_dir, model_prefix="model", monitor=None, verbose=0,
                 save_best=False, mode="auto", epoch_period=1, batch_period=None,
                 max_checkpoints=5, resume_from_checkpoint=False):
        self.monitor = None if monitor is None else check_metrics(monitor)[0]
        self.verbose = verbose
        os.makedirs(model_dir, exist_ok=True)
        self.model_dir = model_dir
        self.model_prefix = model_prefix
        self.save_best = save_best
        if save_best and self.monitor is None:
            raise ValueError("save_best wants a metric to compare: monitor=.")
        self.epoch_period = epoch_period
        self.batch_period = batch_period
        self.max_checkpoints = max_checkpoints
        self.resume_from_checkpoint = resume_from_checkpoint
        self.saved_checkpoints = []
        self.current_batch = 0
        self.current_epoch = 0
        if save_best:
            self.is_better, self.best = improvement(mode, self.monitor)

    def train_begin(self, estimator, *args, **kwargs):
        self.current_epoch = 0
        self.current_batch = 0
        if self.save_best:
            self.best = -float("inf") if self.is_better(1, 0) else float("inf")
        if self.resume_from_checkpoint:
            self._resume_from_checkpoint(estimator)

    def batch_end(self, estimator, *args, **kwargs):
        if self.current_batch == 0:
            self._save_symbol(estimator)
        self.current_batch += 1
        if self.batch_period and self.current_batch % self.batch_period == 0:
            self._save_checkpoint(estimator)

    def epoch_end(self, estimator, *args, **kwargs):
        self.current_epoch += 1
        if self.epoch_period and self.current_epoch % self.epoch_period == 0:
            self._save_checkpoint(estimator)

    def _path(self, name):
        return os.path.join(self.model_dir, f"{self.model_prefix}-{name}")

    def _save_checkpoint(self, estimator):
        # An epoch's checkpoint comes after its end is counted, a batch's before.
        ended = self.epoch_period and not self.batch_period
        name = f"epoch{self.current_epoch - 1 if ended else self.current_epoch}" \
               f"batch{self.current_batch if ended else self.current_batch - 1}"
        self._save_params_and_trainer(estimator, name)
        self.saved_checkpoints.append(name)
        while len(self.saved_checkpoints) > self.max_checkpoints:
            self._remove(self.saved_checkpoints.pop(0))
        if self.save_best:
            self._save_if_best(estimator)

    def _save_if_best(self, estimator):
        name, value = self.monitor.get()
        if value != value:
            estimator.logger.warning("%s has no value: the best model is not known", name)
        elif self.is_better(value, self.best):
            self._save_params_and_trainer(estimator, "best")
            self.best = value

    def _save_symbol(self, estimator):
        graph = getattr(estimator.net, "_cached_graph", ())
        if graph:
            graph[1].save(self._path("symbol.json"))

    def _save_params_and_trainer(self, estimator, name):
        estimator.net.save_parameters(self._path(name + ".params"))
        estimator.trainer.save_states(self._path(name + ".states"))
        if self.verbose > 0:
            estimator.logger.info("Saved %s", self._path(name + ".params"))

    def _remove(self, name):
        for ending in (".params", ".states"):
            if os.path.exists(self._path(name + ending)):
                os.remove(self._path(name + ending))

    def _resume_from_checkpoint(self, estimator):
        found = []
        pattern = re.compile(re.escape(self.model_prefix) + r"-(epoch(\d+)batch(\d+))\.params$")
        for file in os.listdir(self.model_dir):
            match = pattern.match(file)
            if match:
                found.append((int(match.group(2)), int(match.group(3)), match.group(1)))
        if not found:
            estimator.logger.info("No checkpoint in %s: training begins anew", self.model_dir)
            return
        epoch, batch, name = max(found)
        estimator.net.load_parameters(self._path(name + ".params"), ctx=estimator.context)
        estimator.trainer.load_states(self._path(name + ".states"))
        self.saved_checkpoints = [each[2] for each in sorted(found)]
        self.current_batch = batch + 1
        self.current_epoch = epoch + 1 if self.epoch_period else epoch
        if estimator.max_epoch:
            estimator.max_epoch -= self.current_epoch
        if estimator.max_batch:
            estimator.max_batch -= self.current_batch
