# SPDX-License-Identifier: Apache-2.0
"""Metrics of the user's own, and of outputs that are losses."""

from .base import (EvalMetric, as_list, check_label_shapes, register, to_numpy)


@register
class Loss(EvalMetric):
    """The mean of all elements of the outputs; labels are not asked for."""

    def __init__(self, name="loss", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def update(self, _, preds):
        for prediction in as_list(preds):
            values = to_numpy(prediction)
            self.add(float(values.sum()), values.size)


@register
class Torch(Loss):
    """Loss, by the name "torch"."""

    def __init__(self, name="torch", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class Caffe(Loss):
    """Loss, by the name "caffe"."""

    def __init__(self, name="caffe", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)


@register
class CustomMetric(EvalMetric):
    """The mean of feval(label, prediction) over pairs of numpy arrays; feval may
    return (sum, count), too.

    allow_extra_outputs: there may be more predictions than labels.
    """

    def __init__(self, feval, name=None, output_names=None, label_names=None,
                 allow_extra_outputs=False):
        if name is None:
            name = getattr(feval, "__name__", type(feval).__name__)
            if "<" in name:
                name = f"custom({name})"
        super().__init__(name, output_names, label_names, feval=feval,
                         allow_extra_outputs=allow_extra_outputs,
                         has_global_stats=True)
        self._feval = feval
        self._allow_extra_outputs = allow_extra_outputs

    def update(self, labels, preds):
        if not self._allow_extra_outputs:
            labels, preds = check_label_shapes(labels, preds, True)
        for prediction, label in zip(preds, labels):
            found = self._feval(to_numpy(label), to_numpy(prediction))
            if isinstance(found, tuple):
                self.add(*found)
            else:
                self.add(found, 1)

    def get_config(self):
        raise NotImplementedError("CustomMetric cannot be serialized")


def np(numpy_feval, name=None, allow_extra_outputs=False):
    """The CustomMetric of a function of (label, prediction), numpy arrays."""

    def feval(label, pred):
        return numpy_feval(label, pred)

    feval.__name__ = getattr(numpy_feval, "__name__", "custom")
    return CustomMetric(feval, name,
                        allow_extra_outputs=allow_extra_outputs)
