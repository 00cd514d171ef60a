# SPDX-License-Identifier: Apache-2.0
"""mx.metric: values of definitions, and configurations."""

import json
import math

import numpy as np
import pytest

from mxc.mxnet import lr_scheduler, metric

SCORES = np.array([[0.3, 0.7], [0.0, 1.0], [0.4, 0.6]], "float32")
LABELS = np.array([0, 1, 1], "float32")


@pytest.mark.parametrize("name, value", [
    ("acc", 2 / 3), ("f1", 0.8),
    ("ce", -(math.log(0.3) + math.log(1.0) + math.log(0.6)) / 3),
    ("nll_loss", -(math.log(0.3) + math.log(1.0) + math.log(0.6)) / 3),
    ("loss", 0.5)])
def test_of_classes(name, value):
    found = metric.create(name)
    found.update([LABELS], [SCORES])
    assert found.get()[1] == pytest.approx(value, rel=1e-6)


@pytest.mark.parametrize("name, value", [("mae", 1.5), ("mse", 2.5),
                                         ("rmse", math.sqrt(2.5))])
def test_of_numbers(name, value):
    found = metric.create(name)
    found.update([np.array([1.0, 2.0])], [np.array([2.0, 4.0])])
    assert found.get()[1] == pytest.approx(value)


def test_perplexity_leaves_out_what_is_ignored():
    found = metric.Perplexity(ignore_label=0)
    found.update([LABELS], [SCORES])
    assert found.get()[1] == pytest.approx(math.exp(-math.log(0.6) / 2))


def test_top_k():
    found = metric.create("top_k_acc", top_k=2)
    found.update([np.array([2, 0])], [np.array([[.1, .5, .4], [.1, .5, .4]])])
    assert found.get() == ("top_k_accuracy_2", 0.5)


def test_pearson_of_all_samples_equals_numpys():
    rng = np.random.RandomState(1)
    x, y = rng.rand(2, 30)
    found = metric.PearsonCorrelation(average="micro")
    for i in range(0, 30, 10):
        found.update([y[i:i + 10]], [x[i:i + 10]])
    assert found.get()[1] == pytest.approx(np.corrcoef(x, y)[0, 1])


def test_local_and_global():
    found = metric.create("acc")
    found.update([LABELS], [SCORES])
    found.reset_local()
    assert math.isnan(found.get()[1])
    assert found.get_global()[1] == pytest.approx(2 / 3)
    found.reset()
    assert math.isnan(found.get_global()[1])


def test_several_and_functions():
    found = metric.create(["acc", lambda label, scores: label.sum()])
    found.update([LABELS], [SCORES])
    assert found.get() == (["accuracy", "custom(<lambda>)"], [2 / 3, 2.0])


@pytest.mark.parametrize("name, arguments", [
    ("acc", {"axis": 0}), ("top_k_acc", {"top_k": 3}), ("mcc", {}),
    ("perplexity", {"ignore_label": 1}), (["acc", "ce"], {})])
def test_configurations_make_equal_metrics(name, arguments):
    config = metric.create(name, **arguments).get_config()
    assert metric.create(json.dumps(config)).get_config() == config


def test_shapes_that_do_not_fit():
    with pytest.raises(ValueError):
        metric.create("acc").update([LABELS], [SCORES, SCORES])
    with pytest.raises(ValueError):
        metric.create("acc").update([LABELS[:2]], [SCORES])


def test_schedules():
    factor = lr_scheduler.FactorScheduler(2, 0.5, base_lr=1.0)
    assert [factor(n) for n in range(1, 6)] == [1, 1, .5, .5, .25]
    steps = lr_scheduler.MultiFactorScheduler([2, 4], 0.1, base_lr=1.0)
    assert [steps(n) for n in range(1, 6)] == pytest.approx(
        [1, 1, .1, .1, .01])
    poly = lr_scheduler.PolyScheduler(4, base_lr=1.0, pwr=1, warmup_steps=2,
                                      warmup_begin_lr=0.5)
    assert [poly(n) for n in range(6)] == pytest.approx(
        [.5, .75, 1, .5, 0, 0])
    cosine = lr_scheduler.CosineScheduler(2, base_lr=1.0)
    assert [cosine(n) for n in range(4)] == pytest.approx([1, .5, 0, 0])
