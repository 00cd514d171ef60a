# SPDX-License-Identifier: Apache-2.0
"""BaseModule: training, scoring and predicting in terms of a module's parts."""

import logging
import time

import numpy as np

from .. import io, metric, ndarray as nd
from ..initializer import Uniform
from ..model import BatchEndParam


def as_list(value):
    """[value] of one; lists as they are."""
    return value if isinstance(value, list) else [value]


def require(condition, what):
    """AssertionError, unless the condition holds."""
    if not condition:
        raise AssertionError(what)


def check_input_names(symbol, names, typename, throw):
    """Warns of names that are no arguments, or with `throw` refuses them."""
    arguments = symbol.list_arguments()
    inputs = [each for each in arguments if not each.endswith(
        ("_weight", "_bias", "_gamma", "_beta"))]
    for name in sorted(set(names) - set(arguments)):
        text = (f"{typename}_names: the symbol has no argument {name!r}, expected "
                f"one of {', '.join(inputs)}")
        if throw:
            raise ValueError(text)
        logging.warning(text)


def parse_descriptions(names, shapes):
    """DataDescs of DataDescs or pairs; they have to name all of `names`."""
    found = [shape if isinstance(shape, io.DataDesc) else io.DataDesc(*shape)
             for shape in shapes]
    if sorted(names) != sorted(desc.name for desc in found):
        raise ValueError(f"there are shapes of {[desc.name for desc in found]}, "
                         f"expected those of {list(names)}")
    return found


class BaseModule:
    """What all modules have. A subclass defines bind, init_params,
    init_optimizer, forward, backward, update, get_outputs, get_input_grads,
    get_params, set_params and update_metric."""

    def __init__(self, logger=logging):
        self.logger = logger
        self.binded = False
        self.for_training = False
        self.inputs_need_grad = False
        self.params_initialized = False
        self.optimizer_initialized = False
        self._symbol = None
        self._total_exec_bytes = 0

    @property
    def symbol(self):
        """The symbol."""
        return self._symbol

    def forward_backward(self, data_batch):
        """A forward pass in training, and the gradients."""
        self.forward(data_batch, is_train=True)
        self.backward()

    # ---- Scoring and predicting ----------------------------------------------

    def _ready(self):
        require(self.binded and self.params_initialized,
                "the module has to be bound and to have parameters")

    def score(self, eval_data, eval_metric, num_batch=None,
              batch_end_callback=None, score_end_callback=None, reset=True,
              epoch=0, sparse_row_id_fn=None):
        """[(name, value)] of the metric, on an iterator's batches."""
        self._ready()
        if reset:
            eval_data.reset()
        eval_metric = metric.create(eval_metric)
        eval_metric.reset()
        count = 0
        for nbatch, batch in enumerate(eval_data):
            if num_batch is not None and nbatch == num_batch:
                break
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(batch, is_train=False)
            self._update_metric_of(eval_metric, batch)
            _call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric,
                                                        locals()))
            count += 1
        _call_all(score_end_callback, BatchEndParam(epoch, count, eval_metric,
                                                    locals()))
        return eval_metric.get_name_value()

    def _update_metric_of(self, eval_metric, batch):
        if isinstance(batch, list):
            self.update_metric(eval_metric, [each.label for each in batch],
                               pre_sliced=True)
        else:
            self.update_metric(eval_metric, batch.label)

    def iter_predict(self, eval_data, num_batch=None, reset=True,
                     sparse_row_id_fn=None):
        """(outputs, number of the batch, batch), without what only fills up."""
        self._ready()
        if reset:
            eval_data.reset()
        for nbatch, batch in enumerate(eval_data):
            if num_batch is not None and nbatch == num_batch:
                break
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(batch, is_train=False)
            pad = batch.pad or 0
            yield ([output[0:output.shape[0] - pad]
                    for output in self.get_outputs()], nbatch, batch)

    def predict(self, eval_data, num_batch=None, merge_batches=True, reset=True,
                always_output_list=False, sparse_row_id_fn=None):
        """The outputs for an array, or for all batches of an iterator, joined
        (merge_batches) or a list for each; one output alone, unless
        always_output_list."""
        self._ready()
        if isinstance(eval_data, (nd.NDArray, np.ndarray)):
            if isinstance(eval_data, np.ndarray):
                eval_data = nd.array(eval_data)
            self.forward(io.DataBatch([eval_data]), is_train=False)
            return self.get_outputs()[0]
        if not isinstance(eval_data, io.DataIter) and not hasattr(eval_data,
                                                                  "reset"):
            raise ValueError(f"eval_data is {type(eval_data).__name__}, expected an "
                             "array or an iterator")
        found = [[output.copy() for output in outputs] for outputs, _, _ in
                 self.iter_predict(eval_data, num_batch, reset,
                                   sparse_row_id_fn)]
        if not found or not merge_batches:
            return found
        require(len({len(outputs) for outputs in found}) == 1,
                "batches have different numbers of outputs and cannot be joined; "
                "merge_batches=False gives lists")
        joined = [nd.concat(*parts, dim=0) if len(parts) > 1 else parts[0]
                  for parts in zip(*found)]
        return joined[0] if len(joined) == 1 and not always_output_list else joined

    # ---- Training ------------------------------------------------------------

    def fit(self, train_data, eval_data=None, eval_metric="acc",
            epoch_end_callback=None, batch_end_callback=None, kvstore="local",
            optimizer="sgd", optimizer_params=(("learning_rate", 0.01),),
            eval_end_callback=None, eval_batch_end_callback=None,
            initializer=None, arg_params=None, aux_params=None,
            allow_missing=False, force_rebind=False, force_init=False,
            begin_epoch=0, num_epoch=None, validation_metric=None, monitor=None,
            sparse_row_id_fn=None):
        """Trains from begin_epoch to before num_epoch; after each epoch it is
        scored on eval_data."""
        require(num_epoch is not None, "num_epoch is missing")
        self.bind(data_shapes=train_data.provide_data,
                  label_shapes=train_data.provide_label, for_training=True,
                  force_rebind=force_rebind)
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer=initializer or Uniform(0.01),
                         arg_params=arg_params, aux_params=aux_params,
                         allow_missing=allow_missing, force_init=force_init)
        self.init_optimizer(kvstore=kvstore, optimizer=optimizer,
                            optimizer_params=optimizer_params)
        if validation_metric is None:
            validation_metric = eval_metric
        eval_metric = metric.create(eval_metric)
        for epoch in range(begin_epoch, num_epoch):
            began = time.time()
            values = self._epoch(epoch, train_data, eval_metric, monitor,
                                 batch_end_callback, sparse_row_id_fn)
            for name, value in values:
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch,
                             time.time() - began)
            arguments, states = self.get_params()
            self.set_params(arguments, states)
            for callback in as_list(epoch_end_callback or []):
                callback(epoch, self.symbol, arguments, states)
            if eval_data is not None:
                for name, value in self.score(
                        eval_data, validation_metric, epoch=epoch,
                        score_end_callback=eval_end_callback,
                        batch_end_callback=eval_batch_end_callback):
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name,
                                     value)
            train_data.reset()

    def _epoch(self, epoch, train_data, eval_metric, monitor, batch_end_callback,
               sparse_row_id_fn):
        """One pass over the data; [(name, value)] of the metric."""
        eval_metric.reset()
        values = []
        batches = iter(train_data)
        following = next(batches)
        nbatch = 0
        while following is not None:
            data_batch = following
            if monitor is not None:
                monitor.tic()
            self.forward_backward(data_batch)
            self.update()
            self._update_metric_of(eval_metric, data_batch)
            following = next(batches, None)
            if following is not None:
                self.prepare(following, sparse_row_id_fn=sparse_row_id_fn)
            if monitor is not None:
                monitor.toc_print()
            if following is None:
                values = eval_metric.get_global_name_value()
            _call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric,
                                                        locals()))
            nbatch += 1
        return values

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """What is to be done before a batch is used. sparse_row_id_fn(data_batch):
        by row_sparse parameter the rows that it reads."""

    # ---- Parameters and states -----------------------------------------------

    def set_params(self, arg_params, aux_params, allow_missing=False,
                   force_init=True, allow_extra=False):
        """Copies parameters into the module."""
        self.init_params(initializer=None, arg_params=arg_params,
                         aux_params=aux_params, allow_missing=allow_missing,
                         force_init=force_init, allow_extra=allow_extra)

    def save_params(self, fname):
        """Writes the parameters to a file."""
        arguments, states = self.get_params()
        arrays = {f"arg:{name}": array for name, array in arguments.items()}
        arrays.update({f"aux:{name}": array for name, array in states.items()})
        nd.save(fname, arrays)

    def load_params(self, fname):
        """Reads them again."""
        parts = {"arg": {}, "aux": {}}
        for key, array in nd.load(fname).items():
            kind, name = key.split(":", 1)
            if kind not in parts:
                raise ValueError(f"{fname}: {key!r} is neither arg:… nor aux:…")
            parts[kind][name] = array
        self.set_params(parts["arg"], parts["aux"])

    def get_states(self, merge_multi_context=True):
        """The states that pass from batch to batch: none."""
        self._ready()
        require(not merge_multi_context, "there are no states to merge")
        return []

    def set_states(self, states=None, value=None):
        """Sets them."""
        self._ready()
        require(not states and not value, "the module has no states")

    def install_monitor(self, mon):
        """Shows a Monitor what is computed."""
        raise NotImplementedError(f"{type(self).__name__} has no monitors")


for _name in ("bind", "init_params", "init_optimizer", "forward", "backward",
              "update", "get_outputs", "get_input_grads", "get_params",
              "update_metric"):
    def _missing(self, *args, _name=_name, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no {_name}")
    setattr(BaseModule, _name, _missing)
del _name, _missing


def _call_all(callbacks, param):
    if callbacks is None:
        return
    for callback in as_list(callbacks):
        callback(param)



