# SPDX-License-Identifier: Apache-2.0
"""BucketingModule: a module for each length of sequences, with one set of
parameters."""

import logging
import warnings

from ..initializer import Uniform
from ..model import load_params
from .base_module import BaseModule, check_input_names, require
from .module import Module


class BucketingModule(BaseModule):
    """sym_gen(bucket_key) -> (symbol, data names, label names); the module of
    default_bucket_key, the largest, owns parameters and memory. A batch's
    bucket_key chooses."""

    def __init__(self, sym_gen, default_bucket_key=None, logger=logging,
                 context=None, work_load_list=None, fixed_param_names=None,
                 state_names=None, group2ctxs=None, compression_params=None):
        super().__init__(logger)
        require(default_bucket_key is not None, "default_bucket_key is missing")
        self._default_bucket_key = default_bucket_key
        self._sym_gen = sym_gen
        symbol, data_names, label_names = sym_gen(default_bucket_key)
        check_input_names(symbol, list(data_names or []), "data", True)
        check_input_names(symbol, list(label_names or []), "label", False)
        self._options = {
            "logger": logger, "context": context,
            "work_load_list": work_load_list,
            "fixed_param_names": fixed_param_names, "state_names": state_names,
            "group2ctxs": group2ctxs, "compression_params": compression_params}
        self._buckets = {}
        self._curr_module = self._curr_bucket_key = None
        self._monitor = self._grad_req = self._loaded = None
        self._params_dirty = False

    def _made(self, bucket_key):
        symbol, data_names, label_names = self._sym_gen(bucket_key)
        return Module(symbol, data_names, label_names, **self._options)

    # ---- What it is ----------------------------------------------------------

    @property
    def symbol(self):
        """Of the present bucket."""
        require(self.binded, "the module is not bound")
        return self._curr_module.symbol

    @property
    def data_names(self):
        """The names of the data."""
        if self.binded:
            return self._curr_module.data_names
        return self._sym_gen(self._default_bucket_key)[1]

    @property
    def output_names(self):
        """The names of the outputs."""
        if self.binded:
            return self._curr_module.output_names
        return self._sym_gen(self._default_bucket_key)[0].list_outputs()

    data_shapes = property(lambda self: self._curr_module.data_shapes,
                           doc="Of the present bucket.")
    label_shapes = property(lambda self: self._curr_module.label_shapes,
                            doc="Of the present bucket.")
    output_shapes = property(lambda self: self._curr_module.output_shapes,
                             doc="Of the present bucket.")

    # ---- Parameters ----------------------------------------------------------

    def get_params(self):
        self._ready()
        self._curr_module._params_dirty = self._params_dirty
        params = self._curr_module.get_params()
        self._params_dirty = False
        return params

    def set_params(self, arg_params, aux_params, allow_missing=False,
                   force_init=True, allow_extra=False):
        if not allow_missing:
            self.init_params(initializer=None, arg_params=arg_params,
                             aux_params=aux_params, allow_missing=allow_missing,
                             force_init=force_init, allow_extra=allow_extra)
            return
        if self.params_initialized and not force_init:
            warnings.warn("the module keeps the parameters that it has; "
                          "force_init=True replaces them", stacklevel=2)
            return
        self._curr_module.set_params(arg_params, aux_params,
                                     allow_missing=allow_missing,
                                     force_init=force_init,
                                     allow_extra=allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    def init_params(self, initializer=None, arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        if self.params_initialized and not force_init:
            return
        require(self.binded, "the module is not bound")
        if initializer is None and arg_params is None and aux_params is None:
            initializer = Uniform(0.01)
        self._curr_module.init_params(
            initializer=initializer, arg_params=arg_params,
            aux_params=aux_params, allow_missing=allow_missing,
            force_init=force_init, allow_extra=allow_extra)
        self._params_dirty = False
        self.params_initialized = True

    def get_states(self, merge_multi_context=True):
        self._ready()
        return self._curr_module.get_states(merge_multi_context)

    def set_states(self, states=None, value=None):
        self._ready()
        self._curr_module.set_states(states, value)

    # ---- Buckets -------------------------------------------------------------

    def bind(self, data_shapes, label_shapes=None, for_training=True,
             inputs_need_grad=False, force_rebind=False, shared_module=None,
             grad_req="write"):
        """Binds the module of the default bucket; others when they come."""
        require(shared_module is None,
                "buckets share parameters among themselves alone")
        params = self.get_params() if self.params_initialized and self.binded \
            else self._loaded
        if force_rebind:
            self.binded = False
            self._buckets = {}
            self._curr_module = None
        if self.binded:
            self.logger.warning("bind: the module is bound, and stays as it is")
            return
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        module = self._made(self._default_bucket_key)
        module.bind(data_shapes, label_shapes, for_training, inputs_need_grad,
                    force_rebind=False, grad_req=grad_req)
        self.binded = True
        self._curr_module = module
        self._curr_bucket_key = self._default_bucket_key
        self._buckets[self._default_bucket_key] = module
        if params is not None:
            self.set_params(*params)
            self._loaded = None

    def switch_bucket(self, bucket_key, data_shapes, label_shapes=None):
        """Makes the module of a bucket the present one."""
        require(self.binded, "the module is not bound")
        if bucket_key not in self._buckets:
            module = self._made(bucket_key)
            module.bind(data_shapes, label_shapes, self._curr_module.for_training,
                        self._curr_module.inputs_need_grad, force_rebind=False,
                        shared_module=self._buckets[self._default_bucket_key],
                        grad_req=self._grad_req)
            if self._monitor is not None:
                module.install_monitor(self._monitor)
            self._buckets[bucket_key] = module
        self._curr_module = self._buckets[bucket_key]
        self._curr_bucket_key = bucket_key

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Binds the module of the batch's bucket."""
        self._ready()
        before = self._curr_bucket_key
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data,
                           data_batch.provide_label)
        self._curr_module.prepare(data_batch, sparse_row_id_fn=sparse_row_id_fn)
        self.switch_bucket(before, None, None)

    # ---- Runs ----------------------------------------------------------------

    def init_optimizer(self, kvstore="local", optimizer="sgd",
                       optimizer_params=(("learning_rate", 0.01),),
                       force_init=False):
        self._ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("init_optimizer: the module keeps its optimizer")
            return
        owner = self._buckets[self._default_bucket_key]
        self._curr_module._params_dirty = self._params_dirty
        owner.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        for module in self._buckets.values():
            if module is not owner:
                module.borrow_optimizer(owner)
        self.optimizer_initialized = True

    def forward(self, data_batch, is_train=None):
        self._ready()
        self.switch_bucket(data_batch.bucket_key, data_batch.provide_data,
                           data_batch.provide_label)
        self._curr_module.forward(data_batch, is_train=is_train)

    def backward(self, out_grads=None):
        self._ready()
        self._curr_module.backward(out_grads=out_grads)

    def update(self):
        self._ready()
        require(self.optimizer_initialized, "the module has no optimizer")
        self._params_dirty = True
        self._curr_module.update()

    def get_outputs(self, merge_multi_context=True):
        self._ready()
        return self._curr_module.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        self._ready()
        return self._curr_module.get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        self._ready()
        self._curr_module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        require(self.binded, "the module is not bound")
        self._monitor = mon
        for module in self._buckets.values():
            module.install_monitor(mon)

    # ---- Checkpoints ---------------------------------------------------------

    def save_checkpoint(self, prefix, epoch, remove_amp_cast=False):
        """Writes parameters, and the symbol of each bucket that there is."""
        self._ready()
        for key, module in self._buckets.items():
            module.symbol.save(f"{prefix}-{key}-symbol.json",
                               remove_amp_cast=remove_amp_cast)
        self._curr_module.symbol.save(f"{prefix}-symbol.json",
                                      remove_amp_cast=remove_amp_cast)
        self.save_params(f"{prefix}-{epoch:04d}.params")

    @staticmethod
    def load(prefix, epoch, sym_gen=None, default_bucket_key=None, **kwargs):
        """The module of a checkpoint's parameters."""
        require(sym_gen is not None, "sym_gen is missing")
        require(default_bucket_key is not None, "default_bucket_key is missing")
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._loaded = load_params(prefix, epoch)
        module.params_initialized = True
        return module

    @staticmethod
    def load_dict(sym_dict=None, sym_gen=None, default_bucket_key=None,
                  arg_params=None, aux_params=None, **kwargs):
        """The module of symbols by key, or of sym_gen, and of parameters."""
        if sym_dict is not None:
            def sym_gen(key):
                symbol = sym_dict[key]
                return symbol, ("data",), ("softmax_label",)
        module = BucketingModule(sym_gen, default_bucket_key, **kwargs)
        module._loaded = (arg_params, aux_params)
        module.params_initialized = True
        return module
