# SPDX-License-Identifier: Apache-2.0
"""SequentialModule: modules of which each reads what the one before gives."""

import copy
import logging

from ..initializer import Uniform
from ..io import DataDesc
from .base_module import BaseModule, require


class SequentialModule(BaseModule):
    """add(module, take_labels=…, auto_wiring=…): take_labels: it gets the labels;
    auto_wiring: what it reads is renamed to what it wants."""

    META_TAKE_LABELS = "take_labels"
    META_AUTO_WIRING = "auto_wiring"

    def __init__(self, logger=logging):
        super().__init__(logger)
        self._modules = []
        self._metas = []
        self._label_shapes = self._data_shapes = None

    def add(self, module, **kwargs):
        """Appends a module; returns this one."""
        known = {self.META_TAKE_LABELS, self.META_AUTO_WIRING}
        for key in kwargs:
            require(key in known, f"add takes {sorted(known)}, found {key!r}")
        self._modules.append(module)
        self._metas.append(kwargs)
        self.binded = self.params_initialized = False
        self.optimizer_initialized = False
        return self

    @property
    def data_names(self):
        """Of the first module."""
        return self._modules[0].data_names if self._modules else []

    @property
    def output_names(self):
        """Of the last module."""
        return self._modules[-1].output_names if self._modules else []

    @property
    def data_shapes(self):
        """Of the first module."""
        require(self.binded, "the module is not bound")
        return self._modules[0].data_shapes

    @property
    def label_shapes(self):
        """Of the modules that take labels."""
        require(self.binded, "the module is not bound")
        return self._label_shapes

    @property
    def output_shapes(self):
        """Of the last module."""
        require(self.binded, "the module is not bound")
        return self._modules[-1].output_shapes

    def get_params(self):
        """The parameters of all modules."""
        self._ready()
        arguments, states = {}, {}
        for module in self._modules:
            own, own_states = module.get_params()
            arguments.update(own)
            states.update(own_states)
        return arguments, states

    def init_params(self, initializer=None, arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        if self.params_initialized and not force_init:
            return
        require(self.binded, "the module is not bound")
        if initializer is None and arg_params is None and aux_params is None:
            initializer = Uniform(0.01)
        owners = {}
        for i, module in enumerate(self._modules):
            module.init_params(
                initializer=initializer, arg_params=arg_params,
                aux_params=aux_params, allow_missing=allow_missing,
                force_init=force_init, allow_extra=True)
            for names in module.get_params():
                for name in names:
                    require(name not in owners,
                            f"modules {owners.get(name)} and {i} both have a parameter "
                            f"{name!r}")
                    owners[name] = i
        self.params_initialized = True

    def bind(self, data_shapes, label_shapes=None, for_training=True,
             inputs_need_grad=False, force_rebind=False, shared_module=None,
             grad_req="write"):
        """Binds each module with the outputs of the one before as data."""
        if self.binded and not force_rebind:
            self.logger.warning("bind: the module is bound, and stays as it is")
            return
        if inputs_need_grad:
            require(for_training, "inputs_need_grad is of training")
        require(shared_module is None, "a chain has its own parameters")
        require(self._modules, "there is no module in the chain")
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        self.binded = True
        self._label_shapes = None
        shapes = data_shapes
        for i, (module, meta) in enumerate(zip(self._modules, self._metas)):
            labels = None
            if meta.get(self.META_TAKE_LABELS):
                labels = self._label_shapes = label_shapes
            if meta.get(self.META_AUTO_WIRING):
                names = module.data_names
                require(len(names) == len(shapes),
                        "as many outputs as the next module reads")
                shapes = [DataDesc(name, desc[1])
                          for name, desc in zip(names, shapes)]
            module.bind(data_shapes=shapes, label_shapes=labels,
                        for_training=for_training,
                        inputs_need_grad=bool(for_training and
                                              (inputs_need_grad or i > 0)),
                        force_rebind=force_rebind, grad_req=grad_req)
            shapes = module.output_shapes

    def init_optimizer(self, kvstore="local", optimizer="sgd",
                       optimizer_params=(("learning_rate", 0.01),),
                       force_init=False):
        self._ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("init_optimizer: the modules keep their optimizers")
            return
        for module in self._modules:
            module.init_optimizer(kvstore, optimizer, optimizer_params, force_init)
        self.optimizer_initialized = True

    def forward(self, data_batch, is_train=None):
        """Through all modules, one after the other."""
        self._ready()
        batch = copy.copy(data_batch)
        for i, module in enumerate(self._modules):
            module.forward(batch, is_train=is_train)
            if i + 1 == len(self._modules):
                return
            batch.data = module.get_outputs()
            if hasattr(batch, "provide_data"):
                names = [desc[0] for desc in module.output_shapes]
                if self._metas[i + 1].get(self.META_AUTO_WIRING):
                    names = self._modules[i + 1].data_names
                batch.provide_data = [DataDesc(name, array.shape) for name, array
                                      in zip(names, batch.data)]

    def backward(self, out_grads=None):
        """Back through all modules."""
        self._ready()
        for i, module in reversed(list(enumerate(self._modules))):
            module.backward(out_grads=out_grads)
            if i > 0:
                out_grads = module.get_input_grads()

    def update(self):
        """Changes the parameters of all modules."""
        self._ready()
        require(self.optimizer_initialized, "the module has no optimizer")
        for module in self._modules:
            module.update()

    def get_outputs(self, merge_multi_context=True):
        """Of the last module."""
        self._ready()
        return self._modules[-1].get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """Of the first module."""
        self._ready()
        return self._modules[0].get_input_grads(merge_multi_context)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Shows a metric the outputs of modules that take labels."""
        self._ready()
        for module, meta in zip(self._modules, self._metas):
            if meta.get(self.META_TAKE_LABELS):
                module.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        require(self.binded, "the module is not bound")
        for module in self._modules:
            module.install_monitor(mon)
