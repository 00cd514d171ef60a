# SPDX-License-Identifier: Apache-2.0
"""What an Estimator does with a batch."""
from .... import autograd
from ...utils import split_and_load

__all__ = ["BatchProcessor"]


class BatchProcessor:
    """Forward, loss and backward of a batch; a subclass may do them otherwise."""

    def _get_data_and_label(self, batch, ctx, batch_axis=0):
        data, label = batch
        return (split_and_load(data, ctx_list=ctx, batch_axis=batch_axis),
                split_and_load(label, ctx_list=ctx, batch_axis=batch_axis))

    def evaluate_batch(self, estimator, val_batch, batch_axis=0):
        """(data, labels, predictions, losses), lists with one for each context."""
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(y_hat, y) for y_hat, y in zip(pred, label)]
        return data, label, pred, loss

    def fit_batch(self, estimator, train_batch, batch_axis=0):
        """`evaluate_batch` with gradients."""
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(y_hat, y) for y_hat, y in zip(pred, label)]
        for each in loss:
            each.backward()
        return data, label, pred, loss
