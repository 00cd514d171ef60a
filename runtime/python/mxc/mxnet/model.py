# SPDX-License-Identifier: Apache-2.0
"""Checkpoints: prefix-symbol.json and prefix-0001.params; and FeedForward."""

import logging
import os
from collections import namedtuple

import numpy as np

from . import io, kvstore as kvs, metric, ndarray as nd, symbol as sym
from .context import cpu
from .initializer import Uniform
from .optimizer import Updater

BatchEndParam = namedtuple("BatchEndParams",
                           ["epoch", "nbatch", "eval_metric", "locals"])

# Weights of more elements are updated where they lie.
_LARGEST_ON_KVSTORE = 1024 * 1024 * 16


def save_checkpoint(prefix, epoch, symbol, arg_params, aux_params,
                    remove_amp_cast=True):
    """Writes the symbol (None: not) and the parameters of an epoch."""
    if symbol is not None:
        symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
    arrays = {f"arg:{name}": array.as_in_context(cpu())
              for name, array in arg_params.items()}
    arrays.update({f"aux:{name}": array.as_in_context(cpu())
                   for name, array in aux_params.items()})
    file = f"{prefix}-{epoch:04d}.params"
    nd.save(file, arrays)
    logging.info('Saved checkpoint to "%s"', file)


def load_params(prefix, epoch):
    """(arguments, auxiliary states) of a checkpoint, by name."""
    arguments, states = {}, {}
    saved = nd.load(f"{prefix}-{epoch:04d}.params")
    if not saved:
        logging.warning("%s-%04d.params holds no arrays", prefix, epoch)
        return arguments, states
    for key, array in saved.items():
        kind, name = key.split(":", 1)
        if kind == "arg":
            arguments[name] = array
        if kind == "aux":
            states[name] = array
    return arguments, states


def load_checkpoint(prefix, epoch):
    """(symbol, arguments, auxiliary states) of a checkpoint."""
    symbol = sym.load(f"{prefix}-symbol.json")
    return (symbol, *load_params(prefix, epoch))


def _create_kvstore(kvstore, num_device, arg_params):
    """(store or None, whether it updates the weights)."""
    update_on_kvstore = bool(int(os.getenv("MXNET_UPDATE_ON_KVSTORE", "1")))
    if kvstore is None:
        return None, False
    if isinstance(kvstore, kvs.KVStoreBase):
        return kvstore, update_on_kvstore and kvstore.is_capable("optimizer")
    if not isinstance(kvstore, str):
        raise TypeError("kvstore must be KVStore, str or None")
    if num_device == 1 and "dist" not in kvstore:
        return None, False
    store = kvs.create(kvstore)
    if kvstore == "local":
        largest = max((np.prod(array.shape) for array in arg_params.values()),
                      default=0)
        update_on_kvstore = (update_on_kvstore
                             and largest <= _LARGEST_ON_KVSTORE)
    return store, update_on_kvstore and store.is_capable("optimizer")


def _initialize_kvstore(kvstore, param_arrays, arg_params, param_names,
                        update_on_kvstore):
    for name, arrays in zip(param_names, param_arrays):
        if arg_params[name].stype == "default":
            kvstore.broadcast(name, arg_params[name], arrays)
        else:
            kvstore.init(name, arg_params[name])


def _update_params_on_kvstore(param_arrays, grad_arrays, kvstore, param_names):
    for name, weights, grads in zip(param_names, param_arrays, grad_arrays):
        if grads[0] is not None:
            kvstore.pushpull(name, grads, weights)


def _update_params(param_arrays, grad_arrays, updater, num_device, kvstore=None,
                   param_names=None):
    updates = [[] for _ in range(num_device)]
    for i, (weights, grads) in enumerate(zip(param_arrays, grad_arrays)):
        if grads[0] is None:
            continue
        if kvstore is not None:
            kvstore.pushpull(param_names[i] if param_names else i, grads)
        for k, (weight, grad) in enumerate(zip(weights, grads)):
            updates[k].append((i * num_device + k, grad, weight))
    for update in updates:
        if isinstance(updater, Updater) and update:
            updater(*(list(each) for each in zip(*update)))  # one program
        else:
            for each in update:
                updater(*each)


class FeedForward:
    """Trains, scores and predicts with a symbol; see Module for more.

    kwargs: of the optimizer. numpy_batch_size: of arrays that are no iterators.
    """

    def __init__(self, symbol, ctx=None, num_epoch=None, epoch_size=None,
                 optimizer="sgd", initializer=None, numpy_batch_size=128,
                 arg_params=None, aux_params=None, allow_extra_params=False,
                 begin_epoch=0, **kwargs):
        self.symbol = symbol
        self.ctx = ctx if isinstance(ctx, list) else [ctx or cpu()]
        self.num_epoch = num_epoch
        self.epoch_size = epoch_size
        self.kwargs = kwargs
        self.optimizer = optimizer
        self.initializer = initializer or Uniform(0.01)
        self.numpy_batch_size = numpy_batch_size
        self.arg_params = arg_params
        self.aux_params = aux_params
        self.allow_extra_params = allow_extra_params
        self.begin_epoch = begin_epoch

    def _iterator(self, X, y, is_train):
        if isinstance(X, io.DataIter) or hasattr(X, "provide_data"):
            return X
        if not isinstance(X, (np.ndarray, nd.NDArray)):
            raise TypeError(f"X is {type(X).__name__}, expected an iterator "
                            "or an array")
        if y is None:
            if is_train:
                raise ValueError("an array X is learned from with its labels y")
            y = np.zeros(X.shape[0])
        size = min(X.shape[0], self.numpy_batch_size)
        return io.NDArrayIter(X, y, size, shuffle=is_train, last_batch_handle=
                              "roll_over" if is_train else "pad")

    def _eval_iterator(self, eval_data):
        if isinstance(eval_data, (tuple, list)) and len(eval_data) == 2:
            return self._iterator(np.array(eval_data[0]), np.array(eval_data[1]),
                                  False)
        return eval_data

    def _module(self, data):
        from .module import Module
        names = [desc[0] for desc in data.provide_data]
        labels = [desc[0] for desc in data.provide_label or []]
        return Module(self.symbol, names, labels, context=self.ctx)

    def fit(self, X, y=None, eval_data=None, eval_metric="acc",
            epoch_end_callback=None, batch_end_callback=None, kvstore="local",
            logger=None, work_load_list=None, monitor=None,
            eval_end_callback=None, eval_batch_end_callback=None):
        """Trains on X (an iterator, or arrays X and y) until num_epoch."""
        data = self._iterator(X, y, True)
        if self.epoch_size is not None:
            data = io.ResizeIter(data, self.epoch_size)
        module = self._module(data)
        if logger is not None:
            module.logger = logger
        module.fit(data, eval_data=self._eval_iterator(eval_data),
                   eval_metric=eval_metric, epoch_end_callback=epoch_end_callback,
                   batch_end_callback=batch_end_callback, kvstore=kvstore,
                   optimizer=self.optimizer, optimizer_params=self.kwargs,
                   eval_end_callback=eval_end_callback,
                   eval_batch_end_callback=eval_batch_end_callback,
                   initializer=self.initializer, arg_params=self.arg_params,
                   aux_params=self.aux_params, allow_missing=True,
                   begin_epoch=self.begin_epoch, num_epoch=self.num_epoch,
                   monitor=monitor)
        self.arg_params, self.aux_params = module.get_params()

    def _bound(self, data):
        module = self._module(data)
        labels = [desc for desc in data.provide_label or []
                  if desc[0] in self.symbol.list_arguments()]
        module.bind(data.provide_data, labels or None, for_training=False)
        module.set_params(self.arg_params, self.aux_params or {},
                          allow_extra=self.allow_extra_params)
        return module

    def predict(self, X, num_batch=None, return_data=False, reset=True):
        """Outputs for X as NumPy's arrays, one or a list; with return_data also
        data and labels."""
        data = self._iterator(X, None, False)
        if reset:
            data.reset()
        module = self._bound(data)
        outputs, inputs, labels = [], [], []
        for number, batch in enumerate(data):
            if num_batch is not None and number == num_batch:
                break
            module.forward(batch, is_train=False)
            keep = data.batch_size - (batch.pad or 0)
            for kept, arrays in ((outputs, module.get_outputs()),
                                 (inputs, batch.data), (labels, batch.label)):
                kept.append([array.asnumpy()[:keep] for array in arrays])
        joined = [[np.concatenate(parts) for parts in zip(*kept)]
                  for kept in (outputs, inputs, labels)]
        found = [part[0] if len(part) == 1 else part for part in joined]
        return tuple(found) if return_data else found[0]

    def score(self, X, eval_metric="acc", num_batch=None, batch_end_callback=None,
              reset=True):
        """The metric's value on X."""
        data = self._iterator(X, None, False)
        eval_metric = metric.create(eval_metric)
        self._bound(data).score(data, eval_metric, num_batch=num_batch,
                                batch_end_callback=batch_end_callback,
                                reset=reset)
        return eval_metric.get()[1]

    def save(self, prefix, epoch=None, remove_amp_cast=True):
        """Writes a checkpoint."""
        epoch = self.num_epoch if epoch is None else epoch
        if epoch is None:
            raise AssertionError("save needs an epoch")
        save_checkpoint(prefix, epoch, self.symbol, self.arg_params,
                        self.aux_params, remove_amp_cast)

    @staticmethod
    def load(prefix, epoch, ctx=None, **kwargs):
        """The model of a checkpoint."""
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        return FeedForward(symbol, ctx=ctx, arg_params=arg_params,
                           aux_params=aux_params, begin_epoch=epoch, **kwargs)

    @staticmethod
    def create(symbol, X, y=None, ctx=None, num_epoch=None, epoch_size=None,
               optimizer="sgd", initializer=None, eval_data=None,
               eval_metric="acc", epoch_end_callback=None,
               batch_end_callback=None, kvstore="local", logger=None,
               work_load_list=None, eval_end_callback=None,
               eval_batch_end_callback=None, **kwargs):
        """A model that is trained at once."""
        model = FeedForward(symbol, ctx=ctx, num_epoch=num_epoch,
                            epoch_size=epoch_size, optimizer=optimizer,
                            initializer=initializer, **kwargs)
        model.fit(X, y, eval_data=eval_data, eval_metric=eval_metric,
                  epoch_end_callback=epoch_end_callback,
                  batch_end_callback=batch_end_callback, kvstore=kvstore,
                  logger=logger, work_load_list=work_load_list,
                  eval_end_callback=eval_end_callback,
                  eval_batch_end_callback=eval_batch_end_callback)
        return model
