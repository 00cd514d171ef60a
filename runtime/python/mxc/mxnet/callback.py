# SPDX-License-Identifier: Apache-2.0
"""What fit calls after batches and epochs.

A batch's callback gets a BatchEndParam (epoch, nbatch, eval_metric, locals), an
epoch's (epoch, symbol, arg_params, aux_params).
"""

import logging
import math
import sys
import time


def module_checkpoint(mod, prefix, period=1, save_optimizer_states=False):
    """Saves the module after every `period` epochs: prefix-0001.params, …"""
    period = int(max(1, period))

    def _callback(iter_no, sym=None, arg=None, aux=None):
        if (iter_no + 1) % period == 0:
            mod.save_checkpoint(prefix, iter_no + 1, save_optimizer_states)

    return _callback


def do_checkpoint(prefix, period=1):
    """Saves symbol and parameters after every `period` epochs."""
    from .model import save_checkpoint
    period = int(max(1, period))

    def _callback(iter_no, sym, arg, aux):
        if (iter_no + 1) % period == 0:
            save_checkpoint(prefix, iter_no + 1, sym, arg, aux)

    return _callback


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
