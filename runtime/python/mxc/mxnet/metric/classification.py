# SPDX-License-Identifier: Apache-2.0
"""Metrics of classes and their probabilities."""

import math

import numpy

from .base import EvalMetric, alias, check_label_shapes, register, to_numpy


def _classes(prediction, label, axis):
    """Predicted classes and labels, flat: a prediction of another shape than
    its label holds a score for each class along `axis`."""
    prediction, label = to_numpy(prediction), to_numpy(label)
    if prediction.shape != label.shape:
        prediction = prediction.argmax(axis=axis)
    prediction = prediction.astype("int32").ravel()
    label = label.astype("int32").ravel()
    check_label_shapes(label, prediction)
    return prediction, label


@register
@alias("acc")
class Accuracy(EvalMetric):
    """The part of the labels that is predicted; along `axis` lie the classes."""

    def __init__(self, axis=1, name="accuracy", output_names=None,
                 label_names=None):
        super().__init__(name, output_names, label_names, axis=axis,
                         has_global_stats=True)
        self.axis = axis

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, prediction in zip(labels, preds):
            found, wanted = _classes(prediction, label, self.axis)
            self.add(int((found == wanted).sum()), len(found))


@register
@alias("top_k_accuracy", "top_k_acc")
class TopKAccuracy(EvalMetric):
    """The part of the labels among the top_k classes of the highest scores."""

    def __init__(self, top_k=1, name="top_k_accuracy", output_names=None,
                 label_names=None):
        if top_k <= 1:
            raise AssertionError("top_k must be above 1; for 1 use Accuracy")
        super().__init__(name, output_names, label_names, top_k=top_k,
                         has_global_stats=True)
        self.top_k = top_k
        self.name += f"_{top_k}"

    def get_config(self):
        config = super().get_config()
        config["name"] = self.name.removesuffix(f"_{self.top_k}")
        return config

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, prediction in zip(labels, preds):
            label = to_numpy(label).astype("int32").ravel()
            scores = to_numpy(prediction).astype("float32")
            if scores.ndim > 2:
                raise AssertionError("predictions have at most 2 axes, found "
                                     f"{scores.ndim}")
            check_label_shapes(label, scores)
            if scores.ndim == 1:
                hits = scores.astype("int32") == label
            else:
                k = min(scores.shape[1], self.top_k)
                best = numpy.argpartition(scores, -k, axis=1)[:, -k:]
                hits = best == label[:, None]
            self.add(int(hits.sum()), len(scores))


class _BinaryCounts:
    """How often 0 and 1 were predicted for 0 and 1."""

    def __init__(self):
        self.reset()

    def reset(self):
        self.true_positives = self.false_positives = 0
        self.true_negatives = self.false_negatives = 0

    @property
    def total(self):
        return (self.true_positives + self.false_positives
                + self.true_negatives + self.false_negatives)

    def count(self, label, prediction, metric):
        scores = to_numpy(prediction)
        label = to_numpy(label).astype("int32").ravel()
        found = scores.argmax(axis=1)
        check_label_shapes(label, scores)
        if len(numpy.unique(label)) > 2:
            raise ValueError(f"{metric} is of two classes, found labels of more")
        self.true_positives += int(((found == 1) & (label == 1)).sum())
        self.false_positives += int(((found == 1) & (label == 0)).sum())
        self.false_negatives += int(((found == 0) & (label == 1)).sum())
        self.true_negatives += int(((found == 0) & (label == 0)).sum())

    def f1(self):
        wrong = self.false_positives + self.false_negatives
        if self.true_positives == 0:
            return 0.0
        return 2 * self.true_positives / (2 * self.true_positives + wrong)

    def matthews(self):
        """The correlation; sums that are 0 are left out of its denominator."""
        if not self.total:
            return 0.0
        sums = (self.true_positives + self.false_positives,
                self.true_positives + self.false_negatives,
                self.true_negatives + self.false_positives,
                self.true_negatives + self.false_negatives)
        covariance = (self.true_positives * self.true_negatives
                      - self.false_positives * self.false_negatives)
        return covariance / math.sqrt(math.prod(s for s in sums if s))


class _Binary(EvalMetric):
    """`average`: "macro" averages over batches, "micro" over samples."""

    def __init__(self, name, output_names, label_names, average, **kwargs):
        self.average = average
        self._local, self._global = _BinaryCounts(), _BinaryCounts()
        super().__init__(name, output_names, label_names,
                         has_global_stats=True, **kwargs)

    def score(self, counts):
        raise NotImplementedError

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, prediction in zip(labels, preds):
            for counts in (self._local, self._global):
                counts.count(label, prediction, type(self).__name__)
        if self.average == "macro":
            self.add(self.score(self._local), 1)
            self._local.reset()
            self._global.reset()
            return
        self.num_inst = self._local.total
        self.sum_metric = self.score(self._local) * self.num_inst
        self.global_num_inst = self._global.total
        self.global_sum_metric = self.score(self._global) * self.global_num_inst

    def reset(self):
        self._global.reset()
        super().reset()

    def reset_local(self):
        self._local.reset()
        super().reset_local()


@register
class F1(_Binary):
    """2 · precision · recall / (precision + recall) of class 1 among two."""

    def __init__(self, name="f1", output_names=None, label_names=None,
                 average="macro"):
        super().__init__(name, output_names, label_names, average)

    def score(self, counts):
        return counts.f1()


@register
class MCC(_Binary):
    """Matthews' correlation coefficient of two classes."""

    def __init__(self, name="mcc", output_names=None, label_names=None,
                 average="macro"):
        super().__init__(name, output_names, label_names, average)
        self._average = average

    def score(self, counts):
        return counts.matthews()


@register
class PCC(EvalMetric):
    """The correlation of labels and predicted classes, of any number."""

    def __init__(self, name="pcc", output_names=None, label_names=None,
                 has_global_stats=True):
        super().__init__(name, output_names, label_names,
                         has_global_stats=has_global_stats)

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, prediction in zip(labels, preds):
            found, wanted = _classes(prediction, label, 1)
            self._local = _counted(self._local, found, wanted)
            self._global = _counted(self._global, found, wanted)
            self.add(0.0, 1)

    def reset(self):
        self._global = numpy.zeros((0, 0), "int64")
        super().reset()

    def reset_local(self):
        self._local = numpy.zeros((0, 0), "int64")
        super().reset_local()

    def get(self):
        return self.name, _correlation(self._local)

    def get_global(self):
        return self.name, _correlation(self._global)


def _counted(matrix, found, wanted):
    """The confusion matrix with further samples."""
    classes = int(max(found.max(), wanted.max(), len(matrix) - 1)) + 1
    larger = numpy.zeros((classes, classes), "int64")
    larger[:len(matrix), :len(matrix)] = matrix
    numpy.add.at(larger, (found, wanted), 1)
    return larger


def _correlation(matrix):
    total = int(matrix.sum())
    rows, columns = matrix.sum(axis=1), matrix.sum(axis=0)
    spread = (float((rows * (total - rows)).sum())
              * float((columns * (total - columns)).sum()))
    if spread == 0:
        return float("nan")
    together = float((matrix.diagonal() * total - rows * columns).sum())
    return together / math.sqrt(spread)


@register
class Perplexity(EvalMetric):
    """exp of the mean negative logarithm of the labels' probabilities. Labels
    equal to ignore_label are not counted; None counts all."""

    def __init__(self, ignore_label, axis=-1, name="perplexity",
                 output_names=None, label_names=None):
        super().__init__(name, output_names, label_names,
                         ignore_label=ignore_label, has_global_stats=True)
        self.ignore_label = ignore_label
        self.axis = axis

    def update(self, labels, preds):
        if len(labels) != len(preds):
            raise AssertionError("as many labels as predictions")
        loss, count = 0.0, 0
        for label, prediction in zip(labels, preds):
            scores = to_numpy(prediction)
            label = to_numpy(label).ravel().astype("int64")
            if label.size != scores.size // scores.shape[-1]:
                raise AssertionError(
                    "shape mismatch: as many labels as predictions without "
                    f"their last axis, found {label.size} and {scores.shape}")
            scores = numpy.moveaxis(scores, self.axis, -1)
            scores = scores.reshape(-1, scores.shape[-1])
            held = scores[numpy.arange(label.size),
                          label.clip(0, scores.shape[1] - 1)]
            if self.ignore_label is not None:
                ignored = label == self.ignore_label
                count -= int(ignored.sum())
                held = numpy.where(ignored, held.dtype.type(1), held)
            loss -= float(numpy.log(numpy.maximum(1e-10, held)).sum())
            count += held.size
        self.add(loss, count)

    def value_of(self, total, count):
        return math.exp(total / count)


class _LabelLikelihood(EvalMetric):
    """The mean of −log(p[label] + eps) over the rows of predictions."""

    def __init__(self, eps, name, output_names, label_names):
        super().__init__(name, output_names, label_names, eps=eps,
                         has_global_stats=True)
        self.eps = eps

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, True)
        for label, prediction in zip(labels, preds):
            label, scores = to_numpy(label).ravel(), to_numpy(prediction)
            if label.shape[0] != scores.shape[0]:
                raise AssertionError(f"{label.shape[0]} labels for "
                                     f"{scores.shape[0]} predictions")
            held = scores[numpy.arange(len(label)), label.astype("int64")]
            self.add((-numpy.log(held + self.eps)).sum(), len(label))


@register
@alias("ce")
class CrossEntropy(_LabelLikelihood):
    """The mean cross entropy of labels (classes) and probabilities."""

    def __init__(self, eps=1e-12, name="cross-entropy", output_names=None,
                 label_names=None):
        super().__init__(eps, name, output_names, label_names)


@register
@alias("nll_loss")
class NegativeLogLikelihood(_LabelLikelihood):
    """The mean negative logarithm of the labels' likelihood."""

    def __init__(self, eps=1e-12, name="nll-loss", output_names=None,
                 label_names=None):
        super().__init__(eps, name, output_names, label_names)
