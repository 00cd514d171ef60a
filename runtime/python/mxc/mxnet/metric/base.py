# SPDX-License-Identifier: Apache-2.0
"""What all metrics share."""

from collections import OrderedDict

import numpy

from .. import registry


def to_numpy(array):
    """An NDArray's values, or the array itself."""
    return array.asnumpy() if hasattr(array, "asnumpy") else numpy.asarray(array)


def check_label_shapes(labels, preds, wrap=False, shape=False):
    """Compares lengths, or with `shape` shapes; ValueError where they differ.
    `wrap` makes lists of single arrays. Returns labels and predictions."""
    found = (labels.shape, preds.shape) if shape else (len(labels), len(preds))
    if found[0] != found[1]:
        raise ValueError(f"Shape of labels {found[0]} does not match shape of "
                         f"predictions {found[1]}")
    if wrap:
        labels = as_list(labels)
        preds = as_list(preds)
    return labels, preds


def as_list(arrays):
    """[arrays] of one array; lists and tuples as they are."""
    return arrays if isinstance(arrays, (list, tuple)) else [arrays]


class EvalMetric:
    """A metric is sum_metric / num_inst since the last reset, NaN where nothing
    was counted.

    output_names, label_names: which outputs and labels update_dict passes on;
    None: all. Besides, sums since the start are kept (get_global), which
    reset_local leaves.
    """

    def __init__(self, name, output_names=None, label_names=None, **kwargs):
        self.name = str(name)
        self.output_names = output_names
        self.label_names = label_names
        self._has_global_stats = kwargs.pop("has_global_stats", False)
        self._kwargs = kwargs
        self.reset()

    def __str__(self):
        return f"EvalMetric: {dict(self.get_name_value())}"

    def get_config(self):
        """A dict from which create() makes an equal metric."""
        config = dict(self._kwargs)
        config.update(metric=type(self).__name__, name=self.name,
                      output_names=self.output_names,
                      label_names=self.label_names)
        return config

    def update_dict(self, label, pred):
        """update() with the arrays of two dicts by name."""
        self.update(_chosen(label, self.label_names),
                    _chosen(pred, self.output_names))

    def update(self, labels, preds):
        """labels, preds: lists of arrays, pairwise."""
        raise NotImplementedError(f"{type(self).__name__} has no update")

    def add(self, total, count):
        """Adds to the sum, and to what it is divided by."""
        self.sum_metric += total
        self.global_sum_metric += total
        self.num_inst += count
        self.global_num_inst += count

    def reset(self):
        """Forgets everything."""
        self.global_num_inst = 0
        self.global_sum_metric = 0.0
        self.reset_local()

    def reset_local(self):
        """Forgets all but what get_global tells."""
        self.num_inst = 0
        self.sum_metric = 0.0

    def value_of(self, total, count):
        """The metric, from its sum and what that is divided by."""
        return total / count

    def get(self):
        """(name, value)"""
        if self.num_inst == 0:
            return self.name, float("nan")
        return self.name, self.value_of(self.sum_metric, self.num_inst)

    def get_global(self):
        """(name, value) since the start, whatever reset_local forgot."""
        if not self._has_global_stats:
            return self.get()
        if self.global_num_inst == 0:
            return self.name, float("nan")
        return self.name, self.value_of(self.global_sum_metric,
                                        self.global_num_inst)

    def get_name_value(self):
        """[(name, value), …]"""
        return list(zip(*map(as_list, self.get())))

    def get_global_name_value(self):
        """[(name, value), …] since the start."""
        if not self._has_global_stats:
            return self.get_name_value()
        return list(zip(*map(as_list, self.get_global())))


def _chosen(arrays, names):
    return (list(arrays.values()) if names is None
            else [arrays[name] for name in names])


register = registry.get_register_func(EvalMetric, "metric")
alias = registry.get_alias_func(EvalMetric, "metric")
_create = registry.get_create_func(EvalMetric, "metric")
register(EvalMetric)


def create(metric, *args, **kwargs):
    """A metric by its name, its configuration (dict or JSON), a function of
    (label, prediction), or itself; several of a list are combined."""
    if callable(metric):
        from .custom import CustomMetric
        return CustomMetric(metric, *args, **kwargs)
    if isinstance(metric, list):
        composite = CompositeEvalMetric()
        for child in metric:
            composite.add(create(child, *args, **kwargs))
        return composite
    return _create(metric, *args, **kwargs)


@register
@alias("composite")
class CompositeEvalMetric(EvalMetric):
    """Several metrics of the same batches."""

    def __init__(self, metrics=None, name="composite", output_names=None,
                 label_names=None):
        self.metrics = [create(metric) for metric in metrics or []]
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def add(self, metric):
        """A further metric, by name or itself."""
        self.metrics.append(create(metric))

    def get_metric(self, index):
        """The metric with this index."""
        if not -len(self.metrics) <= index < len(self.metrics):
            return ValueError(f"there is no metric {index} among "
                              f"{len(self.metrics)}")
        return self.metrics[index]

    def update_dict(self, labels, preds):
        if self.label_names is not None:
            labels = OrderedDict((name, array) for name, array in labels.items()
                                 if name in self.label_names)
        if self.output_names is not None:
            preds = OrderedDict((name, array) for name, array in preds.items()
                                if name in self.output_names)
        for metric in self.metrics:
            metric.update_dict(labels, preds)

    def update(self, labels, preds):
        for metric in self.metrics:
            metric.update(labels, preds)

    def reset(self):
        for metric in self.metrics:
            metric.reset()

    def reset_local(self):
        for metric in self.metrics:
            metric.reset_local()

    def get(self):
        return self._collected(metric.get() for metric in self.metrics)

    def get_global(self):
        return self._collected(metric.get_global() for metric in self.metrics)

    @staticmethod
    def _collected(results):
        names, values = [], []
        for name, value in results:
            names.extend(as_list(name))
            values.extend(as_list(value))
        return names, values

    def get_config(self):
        config = super().get_config()
        config["metrics"] = [metric.get_config() for metric in self.metrics]
        return config
