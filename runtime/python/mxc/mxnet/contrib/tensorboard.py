# SPDX-License-Identifier: Apache-2.0
"""Metrics for TensorBoard, by the package mxboard where it is installed."""

import logging

__all__ = ["LogMetricsCallback"]


class LogMetricsCallback:
    """A callback of batches or epochs that writes the metric's values to a folder."""

    def __init__(self, logging_dir, prefix=None):
        self.prefix, self.step = prefix, 0
        try:
            from mxboard import SummaryWriter
        except ImportError:
            logging.error("LogMetricsCallback: `pip install mxboard` has what writes "
                          "for TensorBoard")
            return
        self.summary_writer = SummaryWriter(logging_dir)

    def __call__(self, param):
        self.step += 1
        if param.eval_metric is None:
            return
        for name, value in param.eval_metric.get_name_value():
            name = name if self.prefix is None else f"{self.prefix}-{name}"
            self.summary_writer.add_scalar(name, value, global_step=self.step)
