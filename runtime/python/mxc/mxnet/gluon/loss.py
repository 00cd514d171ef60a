# SPDX-License-Identifier: Apache-2.0
"""Losses: one number for each sample of a batch."""
import numpy as np

from .. import ndarray
from .block import HybridBlock

__all__ = ["Loss", "L2Loss", "L1Loss", "SigmoidBinaryCrossEntropyLoss", "SigmoidBCELoss",
           "SoftmaxCrossEntropyLoss", "SoftmaxCELoss", "KLDivLoss", "CTCLoss", "HuberLoss",
           "HingeLoss", "SquaredHingeLoss", "LogisticLoss", "TripletLoss", "PoissonNLLLoss",
           "CosineEmbeddingLoss", "SDMLLoss"]


def _weighted(F, loss, weight, sample_weight):
    """`loss` times the weights of samples (which broadcast) and the loss's own."""
    if sample_weight is not None:
        loss = F.broadcast_mul(loss, sample_weight)
    if weight is not None:
        assert isinstance(weight, (int, float, np.number)), f"weight is a number, not {weight!r}."
        loss = loss * weight
    return loss


def _like(F, x, y):
    """`x` in the shape of `y`."""
    return x.reshape(y.shape) if F is ndarray else F.reshape_like(x, y)


class Loss(HybridBlock):
    """A loss: `weight` times the mean over all axes but `batch_axis`, shape (N,)."""

    def __init__(self, weight, batch_axis, **kwargs):
        super().__init__(**kwargs)
        self._weight = weight
        self._batch_axis = batch_axis

    def __repr__(self):
        return f"{type(self).__name__}(batch_axis={self._batch_axis}, w={self._weight})"

    def _mean(self, F, loss):
        return F.mean(loss, axis=self._batch_axis, exclude=True)

    def _finish(self, F, loss, sample_weight):
        return self._mean(F, _weighted(F, loss, self._weight, sample_weight))

    def hybrid_forward(self, F, x, *args, **kwargs):
        raise NotImplementedError(f"{type(self).__name__} has no hybrid_forward.")


class L2Loss(Loss):
    """Half the mean of (pred - label)²."""

    def __init__(self, weight=1.0, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.square(_like(F, label, pred) - pred)
        return self._mean(F, _weighted(F, loss, self._weight / 2, sample_weight))


class L1Loss(Loss):
    """The mean of |pred - label|."""

    def __init__(self, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        return self._finish(F, F.abs(_like(F, label, pred) - pred), sample_weight)


class SigmoidBinaryCrossEntropyLoss(Loss):
    """Cross entropy of independent labels from 0 to 1.

    `pred` is before the sigmoid, or with `from_sigmoid` after it. `pos_weight` weighs the
    part of labels 1."""

    def __init__(self, from_sigmoid=False, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_sigmoid = from_sigmoid

    def hybrid_forward(self, F, pred, label, sample_weight=None, pos_weight=None):
        label = _like(F, label, pred)
        if self._from_sigmoid:
            loss = self._of_probabilities(F, pred, label, pos_weight)
        else:
            loss = self._of_logits(F, pred, label, pos_weight)
        return self._finish(F, loss, sample_weight)

    @staticmethod
    def _of_logits(F, pred, label, pos_weight):
        # log(1 + exp(-|x|)) never overflows.
        softplus = F.Activation(-F.abs(pred), act_type="softrelu")
        if pos_weight is None:
            return F.relu(pred) - pred * label + softplus
        log_weight = 1 + F.broadcast_mul(pos_weight - 1, label)
        return pred - pred * label + log_weight * (softplus + F.relu(-pred))

    @staticmethod
    def _of_probabilities(F, pred, label, pos_weight):
        eps = 1e-12
        positive = F.log(pred + eps) * label
        if pos_weight is not None:
            positive = F.broadcast_mul(positive, pos_weight)
        return -(positive + F.log(1.0 - pred + eps) * (1.0 - label))


SigmoidBCELoss = SigmoidBinaryCrossEntropyLoss


class SoftmaxCrossEntropyLoss(Loss):
    """Cross entropy of one class of each sample along `axis`.

    `label` is the class's number (`sparse_label`), or a distribution like `pred`; `pred`
    is before the softmax, or with `from_logits` its logarithm after it."""

    def __init__(self, axis=-1, sparse_label=True, from_logits=False, weight=None, batch_axis=0,
                 **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._axis = axis
        self._sparse_label = sparse_label
        self._from_logits = from_logits

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        if self._sparse_label:
            loss = -F.pick(pred, label, axis=self._axis, keepdims=True)
        else:
            loss = -F.sum(pred * _like(F, label, pred), axis=self._axis, keepdims=True)
        return self._finish(F, loss, sample_weight)


SoftmaxCELoss = SoftmaxCrossEntropyLoss


class KLDivLoss(Loss):
    """The mean of label (log label - log pred); `pred` is a logarithm if `from_logits`."""

    def __init__(self, from_logits=True, axis=-1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._axis = axis

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        if not self._from_logits:
            pred = F.log_softmax(pred, axis=self._axis)
        return self._finish(F, label * (F.log(label + 1e-12) - pred), sample_weight)


class CTCLoss(Loss):
    """Connectionist temporal classification; the last class is the blank.

    `pred`: (N, T, classes + 1) before the softmax, `label`: (N, L), padded with -1; or by
    `layout` "TNC" and `label_layout` "TN"."""

    def __init__(self, layout="NTC", label_layout="NT", weight=None, **kwargs):
        assert layout in ("NTC", "TNC"), f"layout is 'NTC' or 'TNC', not '{layout}'."
        assert label_layout in ("NT", "TN"), (
            f"label_layout is 'NT' or 'TN', not '{label_layout}'.")
        self._layout = layout
        self._label_layout = label_layout
        super().__init__(weight, label_layout.find("N"), **kwargs)

    def hybrid_forward(self, F, pred, label, pred_lengths=None, label_lengths=None,
                       sample_weight=None):
        if self._layout == "NTC":
            pred = F.swapaxes(pred, 0, 1)
        if self._batch_axis == 1:
            label = F.swapaxes(label, 0, 1)
        lengths = [each for each in (pred_lengths, label_lengths) if each is not None]
        loss = F.CTCLoss(pred, label, *lengths, use_data_lengths=pred_lengths is not None,
                         use_label_lengths=label_lengths is not None, blank_label="last")
        return _weighted(F, loss, self._weight, sample_weight)


class HuberLoss(Loss):
    """Square within `rho` of the label, absolute beyond."""

    def __init__(self, rho=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.abs(_like(F, label, pred) - pred)
        loss = F.where(loss > self._rho, loss - 0.5 * self._rho,
                       (0.5 / self._rho) * F.square(loss))
        return self._finish(F, loss, sample_weight)


class HingeLoss(Loss):
    """max(0, margin - pred label), labels -1 and 1."""

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.relu(self._margin - pred * _like(F, label, pred))
        return self._finish(F, loss, sample_weight)


class SquaredHingeLoss(Loss):
    """max(0, margin - pred label)², labels -1 and 1."""

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.square(F.relu(self._margin - pred * _like(F, label, pred)))
        return self._finish(F, loss, sample_weight)


class LogisticLoss(Loss):
    """log(1 + exp(-pred label)); labels -1 and 1 ("signed"), or 0 and 1 ("binary")."""

    def __init__(self, weight=None, batch_axis=0, label_format="signed", **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._label_format = label_format
        if label_format not in ("signed", "binary"):
            raise ValueError(f"label_format is 'signed' or 'binary', not '{label_format}'.")

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        label = _like(F, label, pred)
        if self._label_format == "signed":
            label = (label + 1.0) / 2.0
        loss = F.relu(pred) - pred * label + F.Activation(-F.abs(pred), act_type="softrelu")
        return self._finish(F, loss, sample_weight)


class TripletLoss(Loss):
    """max(0, |pred - positive|² - |pred - negative|² + margin)."""

    def __init__(self, margin=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, pred, positive, negative, sample_weight=None):
        positive, negative = _like(F, positive, pred), _like(F, negative, pred)
        loss = F.sum(F.square(positive - pred) - F.square(negative - pred),
                     axis=self._batch_axis, exclude=True)
        return _weighted(F, F.relu(loss + self._margin), self._weight, sample_weight)


class PoissonNLLLoss(Loss):
    """Minus the Poisson's log likelihood, one number: the mean over all.

    `pred` is the rate's logarithm if `from_logits`, else the rate; `compute_full` adds
    Stirling's approximation of log(target!)."""

    def __init__(self, weight=None, from_logits=True, batch_axis=0, compute_full=False,
                 **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._from_logits = from_logits
        self._compute_full = compute_full

    def hybrid_forward(self, F, pred, target, sample_weight=None, epsilon=1e-08):
        target = _like(F, target, pred)
        loss = F.exp(pred) - target * pred if self._from_logits else \
            pred - target * F.log(pred + epsilon)
        if self._compute_full:
            stirling = target * F.log(target) - target + 0.5 * F.log(2 * target * np.pi)
            loss = loss + stirling * (target > 1)
        return F.mean(_weighted(F, loss, self._weight, sample_weight))


class CosineEmbeddingLoss(Loss):
    """1 - cos of pairs with label 1, max(0, cos - margin) of pairs with label -1."""

    def __init__(self, weight=None, batch_axis=0, margin=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._margin = margin

    def hybrid_forward(self, F, input1, input2, label, sample_weight=None):
        input1 = _like(F, input1, input2)
        cosine = self._cosine(F, input1, input2)
        label = F.reshape(label, shape=(-1, 1))
        loss = F.where(label == 1, 1 - cosine,
                       F.relu(cosine - self._margin))
        return _weighted(F, loss, self._weight, sample_weight)

    @staticmethod
    def _cosine(F, x, y, axis=-1):
        product = F.sum(x * y, axis=axis, keepdims=True)
        norms = F.norm(x, axis=axis, keepdims=True) * F.norm(y, axis=axis, keepdims=True)
        return product / F.broadcast_maximum(norms, F.ones_like(norms) * 1e-12)


class SDMLLoss(Loss):
    """Smoothed deep metric learning: rows of `x1` and `x2` pair, all others do not.

    Cross entropy of minus the distances, with labels smoothed by `smoothing_parameter`."""

    def __init__(self, smoothing_parameter=0.3, weight=1.0, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self.kl_loss = KLDivLoss(from_logits=True)
        self.smoothing_parameter = smoothing_parameter

    @staticmethod
    def _distances(F, x, y):
        n, width = x.shape
        x = F.broadcast_to(F.expand_dims(x, 1), (n, n, width))
        y = F.broadcast_to(F.expand_dims(y, 0), (n, n, width))
        return F.sum(F.square(x - y), axis=2)

    def _labels(self, F, n):
        gold = F.one_hot(F.arange(n), n)
        return gold * (1 - self.smoothing_parameter) + \
            (1 - gold) * self.smoothing_parameter / (n - 1)


    def hybrid_forward(self, F, x1, x2):
        assert F is ndarray, "SDMLLoss needs the batch's size: it is not for symbols."
        n = x1.shape[0]
        labels = self._labels(F, n).as_in_context(x1.context)
        log_probabilities = F.log_softmax(-self._distances(F, x1, x2), axis=1)
        # KLDivLoss takes the mean over n pairs, their sum is meant.
        return self.kl_loss(log_probabilities, labels) * n
