# SPDX-License-Identifier: Apache-2.0
"""What an Estimator checks of metrics and handlers."""
from ....metric import CompositeEvalMetric, EvalMetric
from ....metric import Loss as LossMetric


def check_metrics(metrics):
    """A list of metrics; a ValueError where one is none."""
    if isinstance(metrics, CompositeEvalMetric):
        return [each for metric in metrics.metrics for each in check_metrics(metric)]
    metrics = list(metrics) if isinstance(metrics, (list, tuple)) else \
        [] if metrics is None else [metrics]
    for each in metrics:
        if not isinstance(each, EvalMetric):
            raise ValueError(f"A metric is a mx.metric.EvalMetric, or a list of them; {each!r} is "
                             "none.")
    return metrics


def check_handler_metric_ref(handler, known):
    """A ValueError where a handler watches a metric that nothing updates."""
    watched = getattr(handler, "monitor", None)
    watched = ([watched] if watched is not None else []) + list(getattr(handler, "metrics", None)
                                                                or [])
    for metric in watched:
        if not isinstance(metric, EvalMetric):
            raise ValueError(f"{type(handler).__name__} watches {metric!r}, which is no metric.")
        if metric not in known:
            raise ValueError(
                f"{type(handler).__name__} watches the metric {metric.name}, which the Estimator "
                "does not update: pass those of est.train_metrics and est.val_metrics, or add a "
                "MetricHandler for it.")


def is_loss(metric):
    """Whether `metric` is the mean of losses, not of predictions."""
    return isinstance(metric, LossMetric)
