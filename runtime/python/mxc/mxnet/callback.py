# SPDX-License-Identifier: Apache-2.0
"""What fit calls after batches and epochs.

A batch's callback gets a BatchEndParam (epoch, nbatch, eval_metric, locals), an
epoch's (epoch, symbol, arg_params, aux_params).
"""

import logging
import math
import sys
import time


def every(period, save):
    """The epoch's callback that calls save(epoch's number from 1, symbol,
    arg_params, aux_params) after every `period` epochs."""
    def after_epoch(epoch, symbol=None, arg_params=None, aux_params=None):
        number = epoch + 1
        if number % max(1, int(period)) == 0:
            save(number, symbol, arg_params, aux_params)
    return after_epoch


def module_checkpoint(mod, prefix, period=1, save_optimizer_states=False):
    """Saves the module after every `period` epochs: prefix-0001.params, …"""
    return every(period, lambda number, *_: mod.save_checkpoint(
        prefix, number, save_optimizer_states))


def do_checkpoint(prefix, period=1):
    """Saves symbol and parameters after every `period` epochs."""
    from .model import save_checkpoint
    return every(period, lambda number, *what: save_checkpoint(prefix, number,
                                                               *what))


def log_train_metric(period, auto_reset=False):
    """Logs the training metric after every `period` batches."""

    def _callback(param):
        if param.nbatch % period == 0 and param.eval_metric is not None:
            for name, value in param.eval_metric.get_name_value():
                logging.info("Iter[%d] Batch[%d] Train-%s=%f", param.epoch,
                             param.nbatch, name, value)
            if auto_reset:
                param.eval_metric.reset_local()

    return _callback


class Speedometer:
    """Logs samples a second, and the metric, after every `frequent` batches.

    auto_reset: the metric is that of the batches since the last line.
    """

    def __init__(self, batch_size, frequent=50, auto_reset=True):
        self.batch_size = batch_size
        self.frequent = frequent
        self.auto_reset = auto_reset
        self.init = False
        self.tic = 0
        self.last_count = 0

    def __call__(self, param):
        count = param.nbatch
        if self.last_count > count:
            self.init = False
        self.last_count = count
        if not self.init:
            self.init = True
            self.tic = time.time()
        elif count % self.frequent == 0:
            self._log(param, count)
            self.tic = time.time()

    def _log(self, param, count):
        seconds = time.time() - self.tic
        speed = (self.frequent * self.batch_size / seconds if seconds
                 else float("inf"))
        if param.eval_metric is None:
            logging.info("Iter[%d] Batch [%d]\tSpeed: %.2f samples/sec",
                         param.epoch, count, speed)
            return
        values = param.eval_metric.get_name_value()
        first = 0
        if self.auto_reset:
            param.eval_metric.reset_local()
            first = count - self.frequent
        logging.info("Epoch[%d] Batch [%d-%d]\tSpeed: %.2f samples/sec"
                     + "\t%s=%f" * len(values), param.epoch, first, count, speed,
                     *sum(values, ()))


class ProgressBar:
    """A bar of `length` signs for `total` batches, on standard output."""

    def __init__(self, total, length=80):
        self.bar_len = length
        self.total = total

    def __call__(self, param):
        done = param.nbatch / float(self.total)
        filled = int(round(self.bar_len * done))
        bar = "=" * filled + "-" * (self.bar_len - filled)
        sys.stdout.write(f"[{bar}] {math.ceil(100 * done)}%\r")


class LogValidationMetricsCallback:
    """Logs the metrics of a validation when it is over."""

    def __call__(self, param):
        if not param.eval_metric:
            return
        for name, value in param.eval_metric.get_name_value():
            logging.info("Epoch[%d] Validation-%s=%f", param.epoch, name, value)
