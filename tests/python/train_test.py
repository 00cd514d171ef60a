# SPDX-License-Identifier: Apache-2.0
"""Training from Python: step by step and whole."""
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

import mxc

ROOT = pathlib.Path(__file__).parents[2]
LINE = {"mxc": 1, "name": "line", "inputs": {"data": [4, 3]},
        "nodes": [{"op": "FullyConnected", "name": "fc", "num_hidden": 1},
                  {"op": "LinearRegressionOutput", "name": "out"}]}


def line():
    start = {"fc_weight": np.zeros((1, 3), np.float32),
             "fc_bias": np.zeros(1, np.float32)}
    return mxc.compile(LINE, params=start, entries=["train", "score"])


def test_a_step_is_gradient_descent():
    x = np.random.default_rng(1).random((4, 3), np.float32)
    y = np.array([1, 2, 3, 4], np.float32)
    trainer = line().trainer()
    trainer.step(x, y, lr=0.5)
    # MXNet's: (prediction − label), divided by the batch; it began at zero.
    assert np.allclose(trainer.states()["fc_weight"], 0.5 * y @ x / 4,
                       atol=1e-6)
    assert np.allclose(trainer.states()["fc_bias"], 0.5 * y.mean(), atol=1e-6)


def test_labels_are_smoothed_in_training_alone():
    classes = {"mxc": 1, "name": "classes", "inputs": {"data": [4, 3]},
               "nodes": [{"op": "FullyConnected", "name": "fc",
                          "num_hidden": 5},
                         {"op": "SoftmaxOutput", "name": "softmax"}]}
    trainer = mxc.compile(classes, init="xavier", seed=3, label_smoothing=0.2,
                          entries=["train", "score"]).trainer()
    x = np.random.default_rng(1).random((4, 3), np.float32)
    labels = np.array([0, 4, 2, 2])
    before = trainer.states()
    logs = np.log(trainer.predict(x))
    hot = np.eye(5)[labels]
    smooth = hot * (1 - 0.2) + (1 - hot) * (0.2 / (5 - 1))
    scored = trainer.evaluate(x, labels)["loss"]
    assert np.isclose(scored, -(hot * logs).sum(1).mean(), atol=1e-6)
    found = trainer.step(x, labels.astype(np.float32), lr=0.5)
    assert np.isclose(found["loss"], -(smooth * logs).sum(1).mean(), atol=1e-6)
    gradient = (np.exp(logs) - smooth).T @ x / 4
    assert np.allclose(before["fc_weight"] - 0.5 * gradient,
                       trainer.states()["fc_weight"], atol=1e-6)
    with pytest.raises(mxc.CompileError, match="label smoothing 1, expected"):
        mxc.compile(classes, init="xavier", label_smoothing=1,
                    entries=["train"])


def test_the_whole_learns_a_line():
    x = np.random.default_rng(1).random((400, 3)).astype(np.float32)
    y = x @ np.array([1, -2, 3], np.float32) + 0.5
    trainer = line().trainer()
    losses = trainer.fit(x, y, epochs=60, lr=0.3)["loss"]
    assert losses[-1] < 1e-3 < losses[0]
    parameters = trainer.parameters()
    assert np.allclose(parameters["fc_weight"], [[1, -2, 3]], atol=0.05)
    assert np.allclose(trainer.predict(x[:5])[:, 0], y[:5], atol=0.1)
    assert np.array_equal(trainer.predict(x[:5], y[:5]), trainer.predict(x[:5]))
    learned = mxc.compile(LINE, params=parameters)
    assert np.allclose(learned(x[:4])[:, 0], y[:4], atol=0.1)


def test_states_are_saved_and_restored(tmp_path):
    x, y = np.ones((4, 3), np.float32), np.ones(4, np.float32)
    model = line()
    trainer, other = model.trainer(), model.trainer()
    trainer.step(x, y, lr=0.1)
    trainer.save(tmp_path / "states.npz")
    other.restore(tmp_path / "states.npz")
    for name, array in trainer.states().items():
        assert np.array_equal(other.states()[name], array)
    # Each has states of its own.
    trainer.step(x, y, lr=0.1)
    assert not np.array_equal(trainer.states()["fc_weight"],
                              other.states()["fc_weight"])


@pytest.mark.parametrize("name, says", [
    ("run.py", r"\(1, 10\) 1.0"), ("train.py", r"accuracy 1\.0|accuracy 0\.9")])
def test_examples(name, says, models):
    done = subprocess.run(
        [sys.executable, ROOT / "runtime/python/examples" / name,
         models / "lenet.json"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert re.search(says, done.stdout), done.stdout
