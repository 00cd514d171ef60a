# SPDX-License-Identifier: Apache-2.0
"""Metrics of numbers beside predicted numbers."""

import numpy

from .base import EvalMetric, alias, check_label_shapes, register, to_numpy


class _Error(EvalMetric):
    """The mean over pairs of arrays of an error of each pair."""

    def __init__(self, name, output_names, label_names):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def error(self, difference):
        raise NotImplementedError

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, prediction in zip(labels, preds):
            label, prediction = to_numpy(label), to_numpy(prediction)
            if label.ndim == 1:
                label = label.reshape(-1, 1)
            if prediction.ndim == 1:
                prediction = prediction.reshape(-1, 1)
            self.add(self.error(label - prediction), 1)


@register
class MAE(_Error):
    """The mean of absolute differences."""

    def __init__(self, name="mae", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def error(self, difference):
        return numpy.abs(difference).mean()


@register
class MSE(_Error):
    """The mean of squared differences."""

    def __init__(self, name="mse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def error(self, difference):
        return (difference ** 2.0).mean()


@register
class RMSE(_Error):
    """The root of the mean of squared differences."""

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names)

    def error(self, difference):
        return numpy.sqrt((difference ** 2.0).mean())


class _Moments:
    """Sums of which a correlation is made, centred at running means."""

    def __init__(self):
        self.count = 0
        self.means = numpy.zeros(2)
        self.spread = numpy.zeros((2, 2))

    def add(self, x, y):
        both = numpy.stack([x.ravel(), y.ravel()]).astype("float64")
        means = both.mean(axis=1)
        centred = both - means[:, None]
        count = both.shape[1]
        shift = means - self.means
        total = self.count + count
        self.spread += centred @ centred.T
        self.spread += numpy.outer(shift, shift) * self.count * count / total
        self.means = self.means + shift * count / total
        self.count = total

    def correlation(self):
        return self.spread[0, 1] / numpy.sqrt(self.spread[0, 0]
                                              * self.spread[1, 1])


@register
@alias("pearsonr")
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation: "macro" averages those of the batches, "micro" is
    that of all samples."""

    def __init__(self, name="pearsonr", output_names=None, label_names=None,
                 average="macro"):
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def reset(self):
        self._global = _Moments()
        super().reset()

    def reset_local(self):
        self._local = _Moments()
        super().reset_local()

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, prediction in zip(labels, preds):
            check_label_shapes(label, prediction, False, True)
            label, prediction = to_numpy(label), to_numpy(prediction)
            if self.average == "macro":
                self.add(numpy.corrcoef(prediction.ravel(),
                                        label.ravel())[0, 1], 1)
                continue
            self._local.add(label, prediction)
            self._global.add(label, prediction)
            self.add(0.0, 1)

    def get(self):
        if self.average == "macro" or not self.num_inst:
            return super().get()
        return self.name, self._local.correlation()

    def get_global(self):
        if self.average == "macro" or not self.global_num_inst:
            return super().get_global()
        return self.name, self._global.correlation()
