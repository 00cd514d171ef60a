# SPDX-License-Identifier: Apache-2.0
"""Module: a symbol on one or more devices."""

import logging
import warnings

from ..._whole_file import write_whole
from .. import context as ctx, ndarray as nd, optimizer as opt
from ..initializer import InitDesc, Uniform
from ..io import DataDesc
from ..model import (_create_kvstore, _initialize_kvstore, _update_params,
                     _update_params_on_kvstore, load_checkpoint)
from .base_module import (BaseModule, check_input_names, parse_descriptions,
                          require)
from .executor_group import DataParallelExecutorGroup


class Module(BaseModule):
    """See BaseModule.

    data_names, label_names: which arguments are inputs; state_names: inputs that
    set_states() sets; fixed_param_names: parameters that are not trained;
    group2ctxs: where the groups of AttrScope(ctx_group=…) lie.
    """

    def __init__(self, symbol, data_names=("data",),
                 label_names=("softmax_label",), logger=logging, context=None,
                 work_load_list=None, fixed_param_names=None, state_names=None,
                 group2ctxs=None, compression_params=None):
        super().__init__(logger)
        context = ctx.cpu() if context is None else context
        self._context = context if isinstance(context, list) else [context]
        self._work_load_list = work_load_list or [1] * len(self._context)
        require(len(self._work_load_list) == len(self._context),
                "as many work loads as contexts")
        self._group2ctxs = group2ctxs
        self._symbol = symbol
        self._data_names = list(data_names or [])
        self._label_names = list(label_names or [])
        self._state_names = list(state_names or [])
        self._fixed_param_names = list(fixed_param_names or [])
        for names, typename, throw in (
                (self._data_names, "data", True),
                (self._label_names, "label", False),
                (self._state_names, "state", True),
                (self._fixed_param_names, "fixed_param", True)):
            check_input_names(symbol, names, typename, throw)
        inputs = {*self._data_names, *self._label_names, *self._state_names}
        self._param_names = [name for name in symbol.list_arguments()
                             if name not in inputs]
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._arg_params = self._aux_params = None
        self._params_dirty = False
        self._compression_params = compression_params
        self._optimizer = self._kvstore = self._updater = None
        self._update_on_kvstore = None
        self._preload_opt_states = None
        self._grad_req = None
        self._exec_group = None
        self._data_shapes = self._label_shapes = None

    @staticmethod
    def load(prefix, epoch, load_optimizer_states=False, **kwargs):
        """The module of a checkpoint; kwargs: Module's own."""
        symbol, arguments, states = load_checkpoint(prefix, epoch)
        module = Module(symbol=symbol, **kwargs)
        module._arg_params, module._aux_params = arguments, states
        module.params_initialized = True
        if load_optimizer_states:
            module._preload_opt_states = f"{prefix}-{epoch:04d}.states"
        return module

    def save_checkpoint(self, prefix, epoch, save_optimizer_states=False,
                        remove_amp_cast=True):
        """Writes symbol and parameters, and the optimizer's states."""
        self._symbol.save(f"{prefix}-symbol.json", remove_amp_cast=remove_amp_cast)
        self.save_params(f"{prefix}-{epoch:04d}.params")
        logging.info('Saved checkpoint to "%s-%04d.params"', prefix, epoch)
        if save_optimizer_states:
            self.save_optimizer_states(f"{prefix}-{epoch:04d}.states")

    # ---- What it is ----------------------------------------------------------

    data_names = property(lambda self: self._data_names,
                          doc="The names of the data.")
    label_names = property(lambda self: self._label_names,
                           doc="The names of the labels.")
    output_names = property(lambda self: self._output_names,
                            doc="The names of the outputs.")

    @property
    def data_shapes(self):
        """Descriptions of the data."""
        require(self.binded, "the module is not bound")
        return self._data_shapes

    @property
    def label_shapes(self):
        """Descriptions of the labels."""
        require(self.binded, "the module is not bound")
        return self._label_shapes

    @property
    def output_shapes(self):
        """[(name, shape)] of the outputs."""
        require(self.binded, "the module is not bound")
        return self._exec_group.get_output_shapes()

    # ---- Parameters ----------------------------------------------------------

    def get_params(self):
        """(arguments, auxiliary states) by name."""
        self._ready()
        if self._params_dirty:
            self._sync_params_from_devices()
        return self._arg_params, self._aux_params

    def _sync_params_from_devices(self):
        self._exec_group.get_params(self._arg_params, self._aux_params)
        if self._kvstore is not None and self._update_on_kvstore:
            # Of these a device has the rows that it was last prepared for.
            for name, array in self._arg_params.items():
                if array.stype == "row_sparse":
                    rows = nd.arange(array.shape[0], dtype="int64")
                    self._kvstore.row_sparse_pull(name, array, row_ids=rows)
        self._params_dirty = False

    def _new_params(self):
        group = self._exec_group
        if self._arg_params is None:
            self._arg_params = {
                name: nd.zeros(arrays[0].shape, dtype=arrays[0].dtype,
                               stype=arrays[0].stype)
                for name, arrays in zip(group.param_names, group.param_arrays)}
        if self._aux_params is None:
            self._aux_params = {
                name: nd.zeros(arrays[0].shape, dtype=arrays[0].dtype)
                for name, arrays in zip(self._aux_names, group.aux_arrays)}

    def init_params(self, initializer=None, arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        """Parameters from dicts by name, and where these lack them
        (allow_missing) or are None from the initializer."""
        if self.params_initialized and not force_init:
            warnings.warn("the module keeps the parameters that it has; "
                          "force_init=True replaces them", stacklevel=2)
            return
        require(self.binded, "the module is not bound")
        if initializer is None and arg_params is None and aux_params is None:
            initializer = Uniform(0.01)
        self._new_params()
        attrs = self._symbol.attr_dict()
        for params, given in ((self._arg_params, arg_params),
                              (self._aux_params, aux_params)):
            for name, array in sorted(params.items()):
                self._init_one(InitDesc(name, attrs.get(name)), array, given,
                               initializer, allow_missing)
        self.params_initialized = True
        self._params_dirty = False
        self._copy_params(arg_params, aux_params, allow_extra)

    @staticmethod
    def _init_one(desc, array, given, initializer, allow_missing):
        if given is not None and desc in given:
            if given[desc] is not array:
                given[desc].copyto(array)
            return
        if given is not None and not allow_missing:
            raise RuntimeError(f"no value is given for {desc}; allow_missing=True "
                               "initializes it")
        if initializer is not None:
            initializer(desc, array)

    def _copy_params(self, arg_params, aux_params, allow_extra):
        for params, given in ((self._arg_params, arg_params),
                              (self._aux_params, aux_params)):
            extra = [name for name in given or () if name not in params]
            if extra and not allow_extra:
                raise ValueError(f"the module has no parameter {extra[0]!r}; "
                                 "allow_extra=True leaves it out")
        self._exec_group.set_params(self._arg_params, self._aux_params,
                                    allow_extra=True)

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
        self._exec_group.set_params(arg_params, aux_params,
                                    allow_extra=allow_extra)
        self._params_dirty = True
        self.params_initialized = True

    # ---- Executors -----------------------------------------------------------

    def bind(self, data_shapes, label_shapes=None, for_training=True,
             inputs_need_grad=False, force_rebind=False, shared_module=None,
             grad_req="write"):
        """Makes the executors. shared_module: one whose parameters these are."""
        if force_rebind:
            self._exec_group = None
            self.binded = False
        if self.binded:
            self.logger.warning("bind: the module is bound, and stays as it is")
            return
        require(for_training or not inputs_need_grad,
                "inputs_need_grad is of training")
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self._grad_req = grad_req
        self._data_shapes, self._label_shapes = self._parsed(data_shapes,
                                                             label_shapes)
        shared_group = None
        if shared_module is not None:
            require(shared_module.binded and shared_module.params_initialized
                    or shared_module.binded, "shared_module is not bound")
            shared_group = shared_module._exec_group
        self._exec_group = DataParallelExecutorGroup(
            self._symbol, self._context, self._work_load_list, self._data_shapes,
            self._label_shapes, self._param_names, for_training, inputs_need_grad,
            shared_group, logger=self.logger,
            fixed_param_names=self._fixed_param_names, grad_req=grad_req,
            state_names=self._state_names, group2ctxs=self._group2ctxs)
        self.binded = True
        if shared_module is not None:
            self.params_initialized = shared_module.params_initialized
            self._arg_params = shared_module._arg_params
            self._aux_params = shared_module._aux_params
            if shared_module.optimizer_initialized:
                self.borrow_optimizer(shared_module)
        elif self.params_initialized:
            self._exec_group.set_params(self._arg_params, self._aux_params,
                                        allow_extra=True)

    def _parsed(self, data_shapes, label_shapes):
        data = parse_descriptions(self._data_names, data_shapes)
        if label_shapes is None or not label_shapes and not self._label_names:
            return data, None
        return data, parse_descriptions(self._label_names, label_shapes)

    def reshape(self, data_shapes, label_shapes=None):
        """Other shapes of inputs; parameters stay."""
        require(self.binded, "the module is not bound")
        self._data_shapes, self._label_shapes = self._parsed(data_shapes,
                                                             label_shapes)
        self._exec_group.reshape(self._data_shapes, self._label_shapes)

    def forward(self, data_batch, is_train=None):
        """Runs on a batch; executors are made anew for other shapes."""
        self._ready()
        shapes = [array.shape for array in data_batch.data]
        if shapes != [desc.shape for desc in self._data_shapes]:
            self.reshape(*self._shapes_of(data_batch, shapes))
        self._exec_group.forward(data_batch, is_train)

    def _shapes_of(self, batch, shapes):
        data = getattr(batch, "provide_data", None) or [
            DataDesc(desc.name, shape, desc.dtype, desc.layout)
            for desc, shape in zip(self._data_shapes, shapes)]
        if getattr(batch, "provide_label", None):
            return data, batch.provide_label
        if batch.label:
            return data, [DataDesc(desc.name, array.shape, desc.dtype, desc.layout)
                          for desc, array in zip(self._label_shapes or [],
                                                 batch.label)]
        if not self._label_shapes:
            return data, None
        size = shapes[0][0]
        return data, [DataDesc(desc.name, (size, *desc.shape[1:]), desc.dtype,
                               desc.layout) for desc in self._label_shapes]

    def backward(self, out_grads=None):
        """Computes the gradients."""
        self._ready()
        self._exec_group.backward(out_grads=out_grads)

    def get_outputs(self, merge_multi_context=True):
        """The outputs of the last forward()."""
        self._ready()
        return self._exec_group.get_outputs(merge_multi_context)

    def get_input_grads(self, merge_multi_context=True):
        """The gradients of the data."""
        self._ready()
        require(self.inputs_need_grad, "bind with inputs_need_grad=True")
        return self._exec_group.get_input_grads(merge_multi_context)

    def get_states(self, merge_multi_context=True):
        self._ready()
        return self._exec_group.get_states(merge_multi_context)

    def set_states(self, states=None, value=None):
        self._ready()
        self._exec_group.set_states(states, value)

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Shows a metric labels and outputs."""
        self._exec_group.update_metric(eval_metric, labels, pre_sliced)

    def install_monitor(self, mon):
        require(self.binded, "the module is not bound")
        self._exec_group.install_monitor(mon)

    # ---- The optimizer -------------------------------------------------------

    def init_optimizer(self, kvstore="local", optimizer="sgd",
                       optimizer_params=(("learning_rate", 0.01),),
                       force_init=False):
        """optimizer: a name with its parameters, or an Optimizer."""
        self._ready()
        if self.optimizer_initialized and not force_init:
            self.logger.warning("init_optimizer: the module keeps the optimizer "
                                "that it has")
            return
        if self._params_dirty:
            self._sync_params_from_devices()
        store, on_store = _create_kvstore(kvstore, len(self._context),
                                          self._arg_params)
        names = self._exec_group.param_names
        scale = 1.0 / (self._exec_group.batch_size or 1)
        if store is not None and "dist" in store.type and "_sync" in store.type:
            scale /= store.num_workers
        count = len(self._context)
        idx2name = (dict(enumerate(names)) if on_store else
                    {i * count + k: name for i, name in enumerate(names)
                     for k in range(count)})
        if isinstance(optimizer, str):
            params = {"rescale_grad": scale, **dict(optimizer_params)}
            optimizer = opt.create(optimizer, sym=self._symbol,
                                   param_idx2name=idx2name, **params)
        else:
            if not isinstance(optimizer, opt.Optimizer):
                raise AssertionError("optimizer is a name or an Optimizer")
            if optimizer.rescale_grad != scale:
                warnings.warn(
                    f"the optimizer's rescale_grad is {optimizer.rescale_grad}; "
                    f"for the mean over this batch it would be {scale}",
                    stacklevel=2)
            if not optimizer.idx2name:
                optimizer.idx2name = dict(idx2name)
        self._optimizer = optimizer
        self._kvstore = store
        self._update_on_kvstore = on_store
        self._updater = None if on_store else opt.get_updater(optimizer)
        if store is not None:
            if self._compression_params:
                store.set_gradient_compression(self._compression_params)
            if on_store:
                store.set_optimizer(optimizer)
            _initialize_kvstore(store, self._exec_group.param_arrays,
                                self._arg_params, names, on_store)
        self.optimizer_initialized = True
        if self._preload_opt_states is not None:
            self.load_optimizer_states(self._preload_opt_states)
            self._preload_opt_states = None

    def borrow_optimizer(self, shared_module):
        """Updates with another module's optimizer."""
        require(shared_module.optimizer_initialized,
                "shared_module has no optimizer")
        for name in ("_optimizer", "_kvstore", "_update_on_kvstore", "_updater"):
            setattr(self, name, getattr(shared_module, name))
        self.optimizer_initialized = True

    def update(self):
        """Changes the parameters by the gradients of the last batch."""
        self._ready()
        require(self.optimizer_initialized, "the module has no optimizer")
        self._params_dirty = True
        group = self._exec_group
        if self._update_on_kvstore:
            _update_params_on_kvstore(group.param_arrays, group.grad_arrays,
                                      self._kvstore, group.param_names)
        else:
            _update_params(group.param_arrays, group.grad_arrays, self._updater,
                           len(self._context), self._kvstore, group.param_names)

    def prepare(self, data_batch, sparse_row_id_fn=None):
        """Pulls the rows of row_sparse parameters that the batch reads."""
        self._ready()
        if sparse_row_id_fn is None:
            return
        if not self._update_on_kvstore:
            warnings.warn("sparse_row_id_fn: no KVStore updates the parameters, so "
                          "their rows are here", stacklevel=2)
            return
        arrays = dict(zip(self._exec_group.param_names, self._exec_group.param_arrays))
        for name, rows in sparse_row_id_fn(data_batch).items():
            self._kvstore.row_sparse_pull(name, arrays[name], row_ids=rows)

    def save_optimizer_states(self, fname):
        """Writes the optimizer's states."""
        require(self.optimizer_initialized, "the module has no optimizer")
        if self._update_on_kvstore:
            self._kvstore.save_optimizer_states(fname)
            return
        with write_whole(fname) as file:
            file.write(self._updater.get_states())

    def load_optimizer_states(self, fname):
        """Reads them again."""
        require(self.optimizer_initialized, "the module has no optimizer")
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            return
        with open(fname, "rb") as file:
            self._updater.set_states(file.read())
