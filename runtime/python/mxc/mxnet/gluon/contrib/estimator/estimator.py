# SPDX-License-Identifier: Apache-2.0
"""Estimator: a training loop whose events others handle."""
import copy
import logging
import sys
import warnings

from .... import initializer as _initializer
from .... import metric as _metric
from ....context import Context, cpu, gpu, num_gpus
from ...data import DataLoader
from ...loss import Loss, SoftmaxCrossEntropyLoss
from ...trainer import Trainer
from .batch_processor import BatchProcessor
from .event_handler import (BatchBegin, BatchEnd, EpochBegin, EpochEnd, GradientUpdateHandler,
                            LoggingHandler, MetricHandler, StoppingHandler, TrainBegin, TrainEnd,
                            ValidationHandler)
from .utils import check_handler_metric_ref, check_metrics

__all__ = ["Estimator"]

_EVENTS = ((TrainBegin, "train_begin"), (EpochBegin, "epoch_begin"), (BatchBegin, "batch_begin"),
           (BatchEnd, "batch_end"), (EpochEnd, "epoch_end"), (TrainEnd, "train_end"))


class Estimator:
    """Trains `net` by `loss` with `fit`, and measures it with `evaluate`.

    What is not given: Accuracy for a softmax's loss, Xavier, Adam at 0.001 and the
    current context; `val_net` and `val_loss` are those of training.
    """

    logger = None

    def __init__(self, net, loss, train_metrics=None, val_metrics=None, initializer=None,
                 trainer=None, context=None, val_net=None, val_loss=None, batch_processor=None):
        self.net = net
        self.loss = self._check_loss(loss)
        self._train_metrics = check_metrics(train_metrics)
        self._val_metrics = check_metrics(val_metrics)
        self._add_default_training_metrics()
        self._add_validation_metrics()
        self.val_loss = self.loss if val_loss is None else self._check_loss(val_loss)
        self.val_net = net if val_net is None else val_net
        self.logger = logging.Logger(name="Estimator", level=logging.INFO)
        self.logger.addHandler(logging.StreamHandler(sys.stdout))
        self.context = self._check_context(context)
        self._initialize(initializer)
        self.trainer = self._check_trainer(trainer)
        self.batch_processor = self._check_batch_processor(batch_processor)
        self.max_epoch = self.max_batch = None
        self.batch_axis = 0

    # What it was given.

    @staticmethod
    def _check_loss(loss):
        if not isinstance(loss, Loss):
            raise ValueError(f"loss is a mx.gluon.loss.Loss, not {loss!r}.")
        return loss

    @staticmethod
    def _check_context(context):
        if context is None:
            count = num_gpus()
            return [gpu(i) for i in range(count)] if count else [cpu()]
        contexts = [context] if isinstance(context, Context) else context
        if not isinstance(contexts, list) or \
                not all(isinstance(each, Context) for each in contexts):
            raise ValueError(f"context wants a Context, or several in a list, not {context!r}.")
        for each in contexts:
            assert each.device_type != "gpu" or each.device_id < num_gpus(), (
                f"{each} is not there: this machine has {num_gpus()} GPUs for mxc.")
        return contexts

    @staticmethod
    def _check_batch_processor(processor):
        if processor is None:
            return BatchProcessor()
        for method in ("fit_batch", "evaluate_batch"):
            if not callable(getattr(processor, method, None)):
                raise ValueError(f"batch_processor has a method {method}; {processor!r} has "
                                 "none.")
        return processor

    def _is_initialized(self):
        return all(param._data is not None or param._deferred_init
                   for param in self.net.collect_params().values())

    def _initialize(self, initializer):
        if not self._is_initialized():
            if initializer is None:
                self.net.initialize(init=_initializer.Xavier(), ctx=self.context)
            else:
                self.net.initialize(init=initializer, ctx=self.context)
        elif initializer:
            warnings.warn("Network already fully initialized: the initializer is not used.",
                          stacklevel=3)

    def _check_trainer(self, trainer):
        if trainer is None:
            warnings.warn("No trainer specified: it is Adam with learning rate 0.001.",
                          stacklevel=3)
            return Trainer(self.net.collect_params(), "adam", {"learning_rate": 0.001})
        if not isinstance(trainer, Trainer):
            raise ValueError(f"trainer is a mx.gluon.Trainer, not {trainer!r}.")
        return trainer

    # Metrics.

    @property
    def train_metrics(self):
        """Those of training: metrics of predictions, then the loss."""
        return self._train_metrics

    @property
    def val_metrics(self):
        """Those of validation, of their own."""
        return self._val_metrics

    def _add_default_training_metrics(self):
        if not self._train_metrics:
            if isinstance(self.loss, SoftmaxCrossEntropyLoss):
                self._train_metrics = [_metric.Accuracy()]
            self._train_metrics.append(_metric.Loss(self.loss.name.rstrip("1234567890")))
        for metric in self._train_metrics:
            if "training" not in metric.name:
                metric.name = "training " + metric.name

    def _add_validation_metrics(self):
        if not self._val_metrics:
            self._val_metrics = [copy.deepcopy(metric) for metric in self._train_metrics]
        for metric in self._val_metrics:
            if "validation" not in metric.name:
                metric.name = "validation " + metric.name.replace("training ", "")

    # Loops.

    def _get_data_and_label(self, batch, ctx, batch_axis=0):
        return self.batch_processor._get_data_and_label(batch, ctx, batch_axis)

    def evaluate(self, val_data, batch_axis=0, event_handlers=None):
        """Measures `val_net` on a DataLoader; `val_metrics` have the values."""
        self._check_data(val_data)
        handlers = self._prepare_default_validation_handlers(event_handlers)
        _, epoch_begin, batch_begin, batch_end, epoch_end, _ = \
            self._categorize_handlers(handlers)
        kept, self.batch_axis = self.batch_axis, batch_axis
        estimator = self
        for handler in epoch_begin:
            handler.epoch_begin(estimator)
        for batch in val_data:
            for handler in batch_begin:
                handler.batch_begin(estimator, batch=batch)
            _, label, pred, loss = self.batch_processor.evaluate_batch(estimator, batch,
                                                                       batch_axis)
            for handler in batch_end:
                handler.batch_end(estimator, batch=batch, pred=pred, label=label, loss=loss)
        for handler in epoch_end:
            handler.epoch_end(estimator)
        self.batch_axis = kept

    def fit(self, train_data, val_data=None, epochs=None, event_handlers=None, batches=None,
            batch_axis=0):
        """Trains on a DataLoader for `epochs`, or for `batches`; measures on `val_data`."""
        self._check_data(train_data)
        if (epochs is None) == (batches is None):
            raise ValueError("fit wants either epochs or batches.")
        self.max_epoch, self.max_batch = epochs, batches
        self.batch_axis = batch_axis
        handlers = self._prepare_default_handlers(val_data, event_handlers)
        train_begin, epoch_begin, batch_begin, batch_end, epoch_end, train_end = \
            self._categorize_handlers(handlers)
        for handler in train_begin:
            handler.train_begin(self)
        stop = False
        while not stop:
            for handler in epoch_begin:
                handler.epoch_begin(self)
            for batch in train_data:
                for handler in batch_begin:
                    handler.batch_begin(self, batch=batch)
                _, label, pred, loss = self.batch_processor.fit_batch(self, batch, batch_axis)
                stop = any([handler.batch_end(self, batch=batch, pred=pred, label=label,
                                              loss=loss) for handler in batch_end])
                if stop:
                    break
            # Handlers of the epoch's end are called whoever stopped it.
            ended = [handler.epoch_end(self) for handler in epoch_end]
            stop = stop or any(ended)
        for handler in train_end:
            handler.train_end(self)

    @staticmethod
    def _check_data(data):
        if not isinstance(data, DataLoader):
            raise ValueError(f"Data come as a mx.gluon.data.DataLoader, not as a "
                             f"{type(data).__name__}: contrib.io.DataLoaderIter is the way back.")

    # Handlers.

    def _prepare_default_handlers(self, val_data, event_handlers):
        given = list(event_handlers) if isinstance(event_handlers, (list, tuple)) else \
            [] if event_handlers is None else [event_handlers]
        for handler in given:
            self._check_handler(handler)
        added = []

        def add(kind, make):
            if not any(isinstance(handler, kind) for handler in given):
                added.append(make())

        added.append(StoppingHandler(self.max_epoch, self.max_batch))
        add(GradientUpdateHandler, GradientUpdateHandler)
        add(MetricHandler, lambda: MetricHandler(metrics=self._train_metrics))
        if val_data is not None:
            add(ValidationHandler, lambda: ValidationHandler(val_data=val_data,
                                                             eval_fn=self.evaluate))
        add(LoggingHandler, lambda: LoggingHandler(
            metrics=self._train_metrics + (self._val_metrics if val_data is not None else [])))
        return self._ordered(given, added)

    def _prepare_default_validation_handlers(self, event_handlers):
        given = list(event_handlers) if isinstance(event_handlers, (list, tuple)) else \
            [] if event_handlers is None else [event_handlers]
        for handler in given:
            self._check_handler(handler)
        added = []
        if not any(isinstance(handler, MetricHandler) for handler in given):
            added.append(MetricHandler(metrics=self._val_metrics))
        if not any(isinstance(handler, LoggingHandler) for handler in given):
            added.append(LoggingHandler(metrics=self._val_metrics))
        return self._ordered(given, added)

    def _ordered(self, given, added):
        if given and added:
            known = set()
            for handler in given + added:
                if isinstance(handler, MetricHandler):
                    known.update(handler.metrics)
            known.update(self._train_metrics + self._val_metrics)
            for handler in given:
                check_handler_metric_ref(handler, known)
        handlers = given + added
        return sorted(handlers, key=lambda handler: getattr(handler, "priority", 0))

    @staticmethod
    def _check_handler(handler):
        if not isinstance(handler, tuple(kind for kind, _ in _EVENTS)):
            raise ValueError(f"{handler!r} handles no event: a handler is a TrainBegin, "
                             "EpochBegin, BatchBegin, BatchEnd, EpochEnd or TrainEnd.")

    def _categorize_handlers(self, event_handlers):
        return tuple([handler for handler in event_handlers if isinstance(handler, kind)]
                     for kind, _ in _EVENTS)
