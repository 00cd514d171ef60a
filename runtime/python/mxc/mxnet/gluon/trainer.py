# SPDX-License-Identifier: Apache-2.0
"""Trainer: an optimizer over the parameters of a block."""
from ..._whole_file import write_whole
from .. import autograd, model, optimizer as _optimizer
from ._kvstores import choose
from .parameter import Parameter
from .parameter_dict import ParameterDict

__all__ = ["Trainer"]


class Trainer:
    """Updates `params` by `optimizer` (a name with `optimizer_params`, or an Optimizer).

    Gradients of several contexts are summed through `kvstore` ("local", "device", a
    distributed one, a KVStore, or None). `update_on_kvstore` says where the optimizer
    runs: True in the store, False on each context, None where it is best.
    """

    def __init__(self, params, optimizer, optimizer_params=None, kvstore="device",
                 compression_params=None, update_on_kvstore=None):
        if isinstance(params, (dict, ParameterDict)):
            params = [params[name] for name in sorted(params.keys())]
        if not isinstance(params, (list, tuple)):
            raise ValueError("Trainer wants a list, a dict or a ParameterDict of parameters, "
                             f"not a {type(params).__name__}.")
        for param in params:
            if not isinstance(param, Parameter):
                raise ValueError(f"Trainer wants parameters; {param!r} is none.")
        self._params = list(params)
        self._param2idx = {param.name: i for i, param in enumerate(self._params)}
        for param in self._params:
            param._set_trainer(self)
        self._sparse = any(param._stype != "default" for param in self._params)
        self._compression_params = compression_params
        self._contexts = self._check_contexts()
        self._init_optimizer(optimizer, optimizer_params)
        self._scale = self._optimizer.rescale_grad
        self._kvstore_params = {"kvstore": kvstore, "update_on_kvstore": update_on_kvstore}
        self._kvstore = None
        self._reset_kvstore()

    def _check_contexts(self):
        contexts = None
        for param in self._params:
            found = param.list_ctx()
            assert contexts is None or contexts == found, (
                f"All parameters of a Trainer lie on the same contexts: '{param.name}' is on "
                f"{found}, others on {contexts}.")
            contexts = found
        return contexts

    def _init_optimizer(self, optimizer, optimizer_params):
        by_index = dict(enumerate(self._params))
        if isinstance(optimizer, _optimizer.Optimizer):
            assert not optimizer_params, (
                "An Optimizer has its settings already: optimizer_params go with a name.")
            self._optimizer = optimizer
            self._optimizer.param_dict = by_index
        else:
            self._optimizer = _optimizer.create(optimizer, param_dict=by_index,
                                                **(optimizer_params or {}))
        self._updaters = [_optimizer.get_updater(self._optimizer)
                          for _ in self._contexts or ()]

    # The store.

    def _reset_kvstore(self):
        if self._kvstore and "dist" in self._kvstore.type:
            raise RuntimeError("A distributed KVStore cannot be given up: other workers use it.")
        self._kv_initialized = False
        self._kvstore = None
        self._distributed = None
        self._update_on_kvstore = None
        self._params_to_init = list(self._params)

    def _init_kvstore(self):
        first = self._contexts[0] if self._contexts else None
        values = {} if self._sparse else {
            param.name: param.data(first) for param in self._params if not param._deferred_init}
        wanted = self._kvstore_params
        self._kvstore, self._update_on_kvstore = choose(
            wanted["kvstore"], wanted["update_on_kvstore"], len(self._contexts or ()), values,
            self._sparse, model._create_kvstore)
        self._distributed = bool(self._kvstore) and "dist" in self._kvstore.type
        if self._kvstore:
            if self._compression_params:
                self._kvstore.set_gradient_compression(self._compression_params)
            if self._update_on_kvstore:
                self._kvstore.set_optimizer(self._optimizer)
        self._kv_initialized = True

    def _init_params(self):
        assert self._kv_initialized, "The KVStore is not made yet."
        waiting = []
        for param in self._params_to_init:
            if param._deferred_init:
                waiting.append(param)
            elif self._kvstore:
                key = self._param2idx[param.name]
                arrays = param._check_and_get(param._data, list)
                if param._stype != "default" or self._is_local():
                    self._kvstore.init(key, arrays[0])
                else:
                    self._kvstore.broadcast(key, arrays[0], arrays, priority=-key)
        self._params_to_init = waiting

    def _is_local(self):
        """Whether the store has one worker, whose contexts have the same values already."""
        return not self._distributed and hasattr(self._kvstore, "init")

    def _prepare(self):
        if self._kv_initialized and not self._params_to_init:
            return
        # A forward that is recorded may be the first to ask for rows.
        with autograd.pause():
            if not self._kv_initialized:
                self._init_kvstore()
            if self._params_to_init:
                self._init_params()

    def _row_sparse_pull(self, parameter, out, row_id, full_idx=False):
        self._prepare()
        key = self._param2idx[parameter.name]
        if full_idx and "dist" not in self._kvstore.type:
            assert row_id.size == out.shape[0], "All rows were asked for."
            self._kvstore.pull(key, out=out, priority=-key, ignore_sparse=False)
        else:
            self._kvstore.row_sparse_pull(key, out=out, row_ids=row_id, priority=-key)

    # What users read and set.

    @property
    def learning_rate(self):
        """The rate of the next update; a schedule's, where there is one."""
        return self._optimizer.learning_rate

    @property
    def optimizer(self):
        """The Optimizer."""
        return self._optimizer

    def set_learning_rate(self, lr):
        """Sets the rate; with a schedule that is a UserWarning, raised."""
        self._optimizer.set_learning_rate(lr)

    # Steps.

    def step(self, batch_size, ignore_stale_grad=False):
        """One update by gradients over `batch_size`: after backward, outside of record().

        A parameter whose gradient is older than the last step is a UserWarning, raised; or
        with `ignore_stale_grad` it stays as it is."""
        self._check_and_rescale_grad(self._scale / batch_size)
        self._prepare()
        self._allreduce_grads()
        self._update(ignore_stale_grad)

    def _check_and_rescale_grad(self, scale):
        if self._update_on_kvstore and self._distributed and self._kv_initialized:
            if self._optimizer.rescale_grad != scale:
                raise UserWarning(
                    "The batch size differs from that of the first step, but servers of a "
                    "distributed KVStore divide by the first: update_on_kvstore=False allows "
                    "other sizes.")
        self._optimizer.rescale_grad = scale

    def allreduce_grads(self):
        """Sums gradients over contexts and workers; `update` comes after it.

        Not where the store updates: `step` does both."""
        self._prepare()
        self._must_update_itself("allreduce_grads")
        self._allreduce_grads()

    def _must_update_itself(self, name):
        assert not (self._kvstore and self._update_on_kvstore), (
            f"{name}() has no meaning where the KVStore updates: make the Trainer with "
            "update_on_kvstore=False.")

    def _allreduce_grads(self):
        if self._kvstore is None:
            return
        for i, param in enumerate(self._params):
            if param.grad_req == "null":
                continue
            grads = param.list_grad()
            if self._update_on_kvstore:
                self._kvstore.push(i, grads, priority=-i)
            else:
                self._kvstore.pushpull(i, grads, priority=-i)

    def update(self, batch_size, ignore_stale_grad=False):
        """The update alone, after `allreduce_grads`."""
        self._prepare()
        self._must_update_itself("update")
        self._check_and_rescale_grad(self._scale / batch_size)
        self._update(ignore_stale_grad)

    def _update(self, ignore_stale_grad=False):
        in_store = self._kvstore and self._update_on_kvstore
        updates = [([], [], []) for _ in self._updaters]
        for i, param in enumerate(self._params):
            if param.grad_req == "null":
                continue
            arrays = param._check_and_get(param._data, list)
            if not ignore_stale_grad:
                self._refuse_stale(param, arrays)
            if in_store:
                if param._stype == "default":
                    self._kvstore.pull(i, arrays, priority=-i)
                continue
            for (indices, grads, weights), array, grad in zip(updates, arrays,
                                                              param.list_grad()):
                if not ignore_stale_grad or array._fresh_grad:
                    indices.append(i)
                    grads.append(grad)
                    weights.append(array)
        for updater, (indices, grads, weights) in zip(self._updaters, updates):
            if not indices:
                continue
            for weight in weights:
                weight._fresh_grad = False
            updater(indices, grads, weights)

    @staticmethod
    def _refuse_stale(param, arrays):
        for array in arrays:
            if not array._fresh_grad:
                raise UserWarning(
                    f"The gradient of parameter '{param.name}' on {array.context} is older than "
                    "the last step: backward did not reach it, so the network may not use it. "
                    "If that is meant, step(…, ignore_stale_grad=True) leaves such parameters "
                    "as they are.")

    # Files.

    def save_states(self, fname):
        """Writes the optimizer and its states (momenta and the like) to a file."""
        self._prepare()
        if self._update_on_kvstore:
            assert not self._params_to_init, (
                "States cannot be saved while a parameter waits for its shape.")
            self._kvstore.save_optimizer_states(fname, dump_optimizer=True)
            return
        with write_whole(fname) as file:
            file.write(self._updaters[0].get_states(dump_optimizer=True))

    def load_states(self, fname):
        """Reads what `save_states` wrote."""
        self._prepare()
        if self._update_on_kvstore:
            self._kvstore.load_optimizer_states(fname)
            self._optimizer = self._kvstore._updater.optimizer
        else:
            with open(fname, "rb") as file:
                states = file.read()
            for updater in self._updaters:
                updater.set_states(states)
                updater.optimizer = self._updaters[0].optimizer
            self._optimizer = self._updaters[0].optimizer
        self._optimizer.param_dict = dict(enumerate(self._params))
