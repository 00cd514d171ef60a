# SPDX-License-Identifier: Apache-2.0
"""LoggingHandler."""
import time

from ._events import BatchBegin, BatchEnd, EpochBegin, EpochEnd, TrainBegin, TrainEnd
from .utils import check_metrics


class LoggingHandler(TrainBegin, TrainEnd, EpochBegin, EpochEnd, BatchBegin, BatchEnd):
    """Logs time and metrics of each epoch, or every `log_interval` batches, too."""

    def __init__(self, log_interval="epoch", metrics=None, priority=float("inf")):
        if log_interval != "epoch" and not (isinstance(log_interval, int) and log_interval > 0):
            raise ValueError("log_interval is 'epoch' or a number of batches, not "
                             f"{log_interval!r}.")
        self.metrics = check_metrics(metrics)
        self.batch_index = 0
        self.current_epoch = 0
        self.processed_samples = 0
        self.priority = priority
        self.log_interval = log_interval
        self.log_interval_time = 0

    def train_begin(self, estimator, *args, **kwargs):
        self.train_start = time.time()
        self.batch_index = 0
        self.current_epoch = 0
        self.processed_samples = 0
        optimizer = estimator.trainer.optimizer
        length = f"{estimator.max_epoch} epochs" if estimator.max_epoch else \
            f"{estimator.max_batch} batches"
        estimator.logger.info("%s trains for %s; its learning rate is %.4f at first",
                              type(optimizer).__name__, length, estimator.trainer.learning_rate)

    def train_end(self, estimator, *args, **kwargs):
        text = f"Trained {self.current_epoch} epochs in " \
               f"{time.time() - self.train_start:.0f}s. "
        estimator.logger.info(text + self._values().rstrip(", "))

    def epoch_begin(self, estimator, *args, **kwargs):
        training = any(metric in estimator.train_metrics for metric in self.metrics)
        self.epoch_start = time.time()
        if training:
            estimator.logger.info("[Epoch %d] Learning rate %.4f", self.current_epoch,
                                  estimator.trainer.learning_rate)
        else:
            estimator.logger.info("Validation")

    def epoch_end(self, estimator, *args, **kwargs):
        took = time.time() - self.epoch_start
        estimator.logger.info(f"[Epoch {self.current_epoch}] Finished in {took:.3f}s, "
                              + self._values().rstrip(", "))
        self.current_epoch += 1
        self.batch_index = 0

    def batch_begin(self, estimator, *args, **kwargs):
        if self.log_interval != "epoch":
            self.batch_start = time.time()

    def batch_end(self, estimator, *args, **kwargs):
        if self.log_interval == "epoch":
            return
        self.log_interval_time += time.time() - self.batch_start
        self.processed_samples += kwargs["batch"][0].shape[estimator.batch_axis]
        if self.batch_index % self.log_interval == 0:
            rate = self.processed_samples / max(self.log_interval_time, 1e-9)
            estimator.logger.info(
                f"[Epoch {self.current_epoch}][Batch {self.batch_index}][Samples "
                f"{self.processed_samples}] time/interval: {self.log_interval_time:.3f}s "
                f"samples/s: {rate:.3f} " + self._values().rstrip(", "))
            self.log_interval_time = 0
        self.batch_index += 1

    def _values(self):
        return "".join(f"{name}: {value:.4f}, "
                       for name, value in (metric.get() for metric in self.metrics))
