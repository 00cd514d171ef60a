# SPDX-License-Identifier: Apache-2.0
"""A Module that trains by SVRG."""
import logging

from ... import context as _context
from ... import ndarray
from ... import optimizer as _optimizer
from ...module import Module
from .svrg_optimizer import _SVRGOptimizer

__all__ = ["SVRGModule"]


class SVRGModule(Module):
    """Every `update_freq` epochs the gradient over all data is computed; a step's gradient
    is that of the batch, minus that of the batch at the weights of then, plus the full one.
    """

    def __init__(self, symbol, data_names=("data",), label_names=("softmax_label",),
                 logger=logging, context=_context.cpu(), work_load_list=None,
                 fixed_param_names=None, state_names=None, group2ctxs=None,
                 compression_params=None, update_freq=None):
        args = (symbol, data_names, label_names, logger, context, work_load_list,
                fixed_param_names, state_names, group2ctxs, compression_params)
        super().__init__(*args)
        if not isinstance(update_freq, int) or update_freq < 1:
            raise ValueError("update_freq is a number of epochs, at least 1, not "
                             f"{update_freq!r}.")
        self.update_freq = update_freq
        self._mod_aux = Module(*args)
        self._full = None  # by parameter, one for each context

    def bind(self, data_shapes, label_shapes=None, for_training=True, inputs_need_grad=False,
             force_rebind=False, shared_module=None, grad_req="write"):
        """Makes the executors, those at the weights of then, too."""
        super().bind(data_shapes, label_shapes, for_training, inputs_need_grad, force_rebind,
                     shared_module, grad_req)
        if for_training:
            self._mod_aux.bind(data_shapes, label_shapes, for_training, inputs_need_grad,
                               force_rebind, shared_module, grad_req)

    def reshape(self, data_shapes, label_shapes=None):
        """Other shapes of inputs."""
        super().reshape(data_shapes, label_shapes)
        self._mod_aux.reshape(data_shapes, label_shapes)

    def init_optimizer(self, kvstore="local", optimizer="sgd",
                       optimizer_params=(("learning_rate", 0.01),), force_init=False):
        """As Module's; distributed stores are not for SVRG here."""
        kind = kvstore if isinstance(kvstore, str) else getattr(kvstore, "type", "") or ""
        if "dist" in kind:
            raise NotImplementedError("SVRGModule over a distributed KVStore is not there.")
        if isinstance(optimizer, str):
            params = dict(optimizer_params)
            params.setdefault("rescale_grad", 1.0 / (self._exec_group.batch_size or 1))
            optimizer = _optimizer.create(optimizer, sym=self._symbol,
                                          param_idx2name=self._names(), **params)
        wrapped = _SVRGOptimizer(default_optimizer=optimizer, param_idx2name=self._names())
        super().init_optimizer(kvstore=kvstore, optimizer=wrapped, force_init=force_init)

    def _names(self):
        count = len(self._context)
        return {i * count + k: name for i, name in enumerate(self._exec_group.param_names)
                for k in range(count)}

    def forward(self, data_batch, is_train=None):
        """Runs on a batch; in training at the weights of then, too."""
        super().forward(data_batch, is_train)
        if self._full is not None and (self.for_training if is_train is None else is_train):
            self._mod_aux.forward(data_batch, is_train)

    def backward(self, out_grads=None):
        """Computes the gradients, and corrects them by the full ones."""
        super().backward(out_grads)
        if self._full is None:
            return
        self._mod_aux.backward(out_grads)
        for grads, thens, fulls in zip(self._exec_group.grad_arrays,
                                       self._mod_aux._exec_group.grad_arrays, self._full):
            for grad, then, full in zip(grads, thens, fulls):
                if grad is not None:
                    grad[:] = grad - then + full

    def update_full_grads(self, train_data):
        """Computes the mean of the batches' gradients over `train_data` at the weights of now."""
        args, states = self.get_params()
        self._mod_aux.init_params(arg_params=args, aux_params=states, force_init=True)
        train_data.reset()
        sums, batches = None, 0
        for batch in train_data:
            self._mod_aux.forward(batch, is_train=True)
            self._mod_aux.backward()
            grads = self._mod_aux._exec_group.grad_arrays
            if sums is None:
                sums = [[None if each is None else ndarray.zeros_like(each) for each in part]
                        for part in grads]
            for totals, part in zip(sums, grads):
                for total, each in zip(totals, part):
                    if total is not None:
                        total += each
            batches += 1
        for totals in sums or ():
            mean = [each / batches for each in totals if each is not None]
            for total in totals:
                if total is not None:
                    total[:] = ndarray.add_n(*mean) / len(mean) if len(mean) > 1 else mean[0]
        self._full = sums
        train_data.reset()

    def _epoch(self, epoch, train_data, *args):
        if epoch % self.update_freq == 0:
            self.update_full_grads(train_data)
        return super()._epoch(epoch, train_data, *args)
