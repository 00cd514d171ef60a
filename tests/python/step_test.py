# SPDX-License-Identifier: Apache-2.0
"""What a step of training may be told: several batches to an update, a moving
average, a schedule that knows the run's length."""
import math

import numpy as np
import pytest

import mxc

NET = {"mxc": 1, "name": "net", "inputs": {"data": ["N", 3]},
       "nodes": [{"op": "FullyConnected", "name": "fc1", "num_hidden": 7},
                 {"op": "Activation", "act_type": "tanh"},
                 {"op": "FullyConnected", "name": "fc2", "num_hidden": 4},
                 {"op": "SoftmaxOutput", "name": "softmax"}]}


def points(count):
    random = np.random.default_rng(5)
    return random.random((count, 3), np.float32), random.integers(0, 4, count)


def trainer(batch, entries, **options):
    return mxc.compile(NET, init="xavier", seed=3, batch=batch, entries=entries,
                       **options).trainer()


@pytest.mark.parametrize("options", [
    {"attributes": {"momentum": 0.9, "wd": 0.01}}, {"optimizer": "adam"},
    {"attributes": {"rescale_grad": 0.02}}])
def test_batches_that_make_one_update_are_one_batch(options):
    x, y = points(24 * 5)
    one = trainer(24, ["train"], **options)
    several = trainer(8, ["grad", "update"], **options)
    for each, accumulate in ((one, 1), (several, 3)):
        each.fit(x, y, epochs=2, lr=0.1, shuffle=False, accumulate=accumulate)
    for name, value in one.states().items():
        assert np.allclose(several.states()[name], value, atol=1e-6), name


def test_the_last_update_of_an_epoch_has_what_is_left():
    x, y = points(16)
    one = trainer(16, ["train"])
    left = trainer(8, ["grad", "update"])
    history = left.fit(x, y, lr_schedule="poly", lr=0.1, epochs=4,
                       accumulate=3, shuffle=False)
    for update in range(1, 5):  # rate · (1 - t / 4)², MXNet's poly
        one.fit(x, y, lr=0.1 * (1 - update / 4) ** 2, shuffle=False)
        assert math.isclose(history["lr"][update - 1],
                            0.1 * (1 - update / 4) ** 2, abs_tol=1e-12)
    for name, value in one.parameters().items():
        assert np.allclose(left.parameters()[name], value, atol=1e-6), name


def test_a_step_in_two_parts_is_a_step():
    x, y = points(8)
    whole, parts = trainer(8, ["train"]), trainer(8, ["grad", "update"])
    found = [t.step(x, y.astype(np.float32), lr=0.3) for t in (whole, parts)]
    assert found[0].keys() == found[1].keys()
    for name, value in whole.states().items():
        assert np.allclose(parts.states()[name], value, atol=1e-7), name


def test_accumulation_is_refused_where_it_cannot_be():
    x, y = points(16)
    with pytest.raises(ValueError, match="accumulate= is for a model with"):
        trainer(8, ["train"]).fit(x, y, accumulate=2)
    with pytest.raises(ValueError, match="accumulate is 0, expected 1 or more"):
        trainer(8, ["train"]).fit(x, y, accumulate=0)


def test_a_schedule_knows_how_long_the_run_is():
    x, y = points(32)

    def rates(**told):
        seen = []
        trainer(8, ["train"]).fit(x, y, epochs=5, shuffle=False,
                                  callbacks=[lambda e: seen.append(e.lr)],
                                  **told)
        return seen
    # MXNet's: base · (1 + cos(π t / T)) / 2 at update t of T = 5 · 4.
    cosine = [0.2 * (1 + math.cos(math.pi * 4 * epoch / 20)) / 2
              for epoch in range(1, 6)]
    for found in (rates(lr="cosine:base_lr=0.2"),
                  rates(lr=0.2, lr_schedule="cosine")):
        assert np.allclose(found, cosine, atol=1e-12)
    assert rates(lr=0.2, lr_schedule="constant:warmup_epochs=2")[:3] == [
        0.2 * 4 / 8, 0.2, 0.2]
    with pytest.raises(ValueError, match="lr_schedule changes the number"):
        rates(lr="cosine", lr_schedule="poly")


def test_an_average_follows_the_parameters():
    x, y = points(24)
    held = points(8)
    seen = []
    averaging = trainer(8, ["train", "score"])
    expected = {n: v.astype(np.float64)
                for n, v in averaging.parameters().items()}
    plain = trainer(8, ["train", "score"])
    batches = [(x[i:i + 8], y[i:i + 8].astype(np.float32))
               for i in range(0, 24, 8)]
    for t in range(1, 7):
        plain.step(*batches[(t - 1) % 3], lr=0.5)
        d = min(0.7, (1 + t) / (10 + t))
        for name, value in plain.parameters().items():
            expected[name] = d * expected[name] + (1 - d) * value
    averaging.fit(x, y, epochs=2, lr=0.5, ema=0.7, shuffle=False,
                  validation=held, callbacks=[seen.append])
    for name, value in averaging.averages().items():
        assert np.allclose(value, expected[name], atol=1e-6), name
        assert np.array_equal(averaging.parameters()[name],
                              plain.parameters()[name])
    found = mxc.compile(NET, params=averaging.averages(), batch=8,
                        entries=["train", "score"]).trainer().evaluate(*held)
    assert math.isclose(seen[-1].validation["loss"], found["loss"],
                        abs_tol=1e-6)


def test_an_average_goes_on_from_a_checkpoint(tmp_path):
    x, y = points(24)
    whole, half = trainer(8, ["train"]), trainer(8, ["train"])
    whole.fit(x, y, epochs=3, lr=0.5, ema=0.9, checkpoint=tmp_path / "whole")
    half.fit(x, y, epochs=1, lr=0.5, ema=0.9, checkpoint=tmp_path / "half")
    rest = trainer(8, ["train"])
    rest.fit(x, y, epochs=3, lr=0.5, ema=0.9, checkpoint=tmp_path / "half",
             resume=True)
    for suffix in ("params", "ema.params"):
        assert ((tmp_path / f"half-0003.{suffix}").read_bytes()
                == (tmp_path / f"whole-0003.{suffix}").read_bytes())
    other = trainer(8, ["train"])
    other.load_parameters(tmp_path / "half-0003.ema.params")
    for name, value in rest.averages().items():
        assert np.array_equal(other.parameters()[name], value)
    with pytest.raises(FileExistsError):
        other.fit(x, y, lr=0.5, checkpoint=tmp_path / "half")
    with pytest.raises(ValueError, match="not told ema="):
        other.averages()
    with pytest.raises(ValueError, match="ema is 1, expected a number above 0"):
        other.fit(x, y, ema=1)
