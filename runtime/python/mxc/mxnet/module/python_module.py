# SPDX-License-Identifier: Apache-2.0
"""Modules that Python computes."""

import logging

from .. import ndarray as nd
from .base_module import BaseModule, require


class PythonModule(BaseModule):
    """A module without parameters; a subclass defines forward, backward,
    get_outputs, get_input_grads and _compute_output_shapes."""

    def __init__(self, data_names, label_names, output_names, logger=logging):
        super().__init__(logger)
        self._data_names = list(data_names)
        self._label_names = None if label_names is None else list(label_names)
        self._output_names = output_names
        self._data_shapes = self._label_shapes = self._output_shapes = None

    data_names = property(lambda self: self._data_names, doc="Of the data.")
    output_names = property(lambda self: self._output_names, doc="Of the outputs.")
    data_shapes = property(lambda self: self._data_shapes, doc="Of the data.")
    label_shapes = property(lambda self: self._label_shapes, doc="Of the labels.")
    output_shapes = property(lambda self: self._output_shapes,
                             doc="[(name, shape)] of the outputs.")

    def get_params(self):
        """There are none."""
        return {}, {}

    def init_params(self, initializer=None, arg_params=None, aux_params=None,
                    allow_missing=False, force_init=False, allow_extra=False):
        self.params_initialized = True

    def update(self):
        """Nothing to change."""

    def update_metric(self, eval_metric, labels, pre_sliced=False):
        """Shows a metric the outputs, where the module has labels."""
        if self._label_shapes is None:
            return
        if pre_sliced:
            raise RuntimeError("labels cannot be given for each device here")
        eval_metric.update(labels, self.get_outputs())

    def bind(self, data_shapes, label_shapes=None, for_training=True,
             inputs_need_grad=False, force_rebind=False, shared_module=None,
             grad_req="write"):
        if self.binded and not force_rebind:
            self.logger.warning("bind: the module is bound, and stays as it is")
            return
        require(grad_req == "write", "gradients are written: grad_req is write")
        self.for_training, self.inputs_need_grad = for_training, inputs_need_grad
        require([desc[0] for desc in data_shapes] == self._data_names,
                f"the data are {self._data_names}")
        self._data_shapes, self._label_shapes = data_shapes, label_shapes
        if label_shapes is not None:
            require(self._label_names is not None
                    and [desc[0] for desc in label_shapes] == self._label_names,
                    f"the labels are {self._label_names}")
        self.binded = True
        self._output_shapes = self._compute_output_shapes()

    def _compute_output_shapes(self):
        raise NotImplementedError(f"{type(self).__name__} has no "
                                  "_compute_output_shapes")

    def init_optimizer(self, kvstore="local", optimizer="sgd",
                       optimizer_params=(("learning_rate", 0.01),),
                       force_init=False):
        """There is nothing to optimize."""
        self.optimizer_initialized = True


class PythonLossModule(PythonModule):
    """A loss: its output is its input; grad_func(scores, labels) is the gradient
    (an NDArray, or NumPy's)."""

    def __init__(self, name="pyloss", data_names=("data",),
                 label_names=("softmax_label",), logger=logging, grad_func=None):
        super().__init__(data_names, label_names, [name + "_output"], logger)
        require(len(self._data_names) == 1, "a loss has one input")
        require(len(self._label_names) == 1, "a loss has one label")
        require(grad_func is None or callable(grad_func),
                "grad_func is a function")
        self._name = name
        self._scores = self._labels = self._scores_grad = None
        self._grad_func = grad_func

    def _compute_output_shapes(self):
        return [(self._name + "_output", self._data_shapes[0][1])]

    def forward(self, data_batch, is_train=None):
        """Keeps scores and labels."""
        self._scores = data_batch.data[0]
        if self.for_training if is_train is None else is_train:
            self._labels = data_batch.label[0]

    def get_outputs(self, merge_multi_context=True):
        """The scores."""
        require(merge_multi_context, "there is one device")
        return [self._scores]

    def backward(self, out_grads=None):
        """Computes the gradient of the scores."""
        require(out_grads is None, "a loss takes no out_grads")
        require(self.for_training, "bound without for_training")
        self._backward_impl()

    def _backward_impl(self):
        if self._grad_func is None:
            raise NotImplementedError("a PythonLossModule needs grad_func")
        grad = self._grad_func(self._scores, self._labels)
        self._scores_grad = (grad if isinstance(grad, nd.NDArray)
                             else nd.array(grad))

    def get_input_grads(self, merge_multi_context=True):
        """[the gradient of the scores]"""
        require(merge_multi_context, "there is one device")
        return [self._scores_grad]

    def install_monitor(self, mon):
        raise NotImplementedError("PythonLossModule has no monitors")
