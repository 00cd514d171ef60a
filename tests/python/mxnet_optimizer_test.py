# SPDX-License-Identifier: Apache-2.0
"""mx.optimizer: weights after four steps as MXNet 1.9.1 has them, of gradients and
weights drawn by numpy's RandomState(1), the rate halved after two steps."""

import threading

import numpy as np
import pytest

import mxc.mxnet as mx
from mxc.mxnet.optimizer import _together

EXPECTED = [
    ("sgd", {},
     [-0.285048, -0.430743, 1.140231, -1.196664]),
    ("sgd", {"momentum": 0.9, "wd": 0.01, "clip_gradient": 0.5, "rescale_grad": 0.5},
     [-0.281083, -0.420595, 1.165242, -1.135976]),
    ("nag", {"momentum": 0.9, "wd": 0.1},
     [-0.210647, -0.507326, 1.196882, -1.395793]),
    ("signum", {"wd_lh": 0.1, "wd": 0.01},
     [-0.291484, -0.392891, 1.140344, -1.106603]),
    ("signum", {"momentum": 0},
     [-0.312417, -0.394054, 1.123769, -1.099891]),
    ("adam", {"wd": 0.01, "clip_gradient": 0.3},
     [-0.320109, -0.385434, 1.134534, -1.098804]),
    ("adagrad", {"wd": 0.1, "learning_rate": 0.1},
     [-0.176197, -0.473039, 1.165463, -1.107895]),
    ("rmsprop", {"wd": 0.1},
     [-0.317776, -0.386889, 1.134622, -1.100189]),
    ("rmsprop", {"centered": True, "clip_weights": 0.5},
     [-0.308943, -0.392279, 0.5, -0.5]),
    ("adadelta", {"wd": 0.01},
     [-0.29462, -0.409657, 1.126261, -1.107925]),
    ("ftrl", {"wd": 0.1},
     [-0.023687, -0.104335, 0.250146, -0.170188]),
    ("ftml", {"wd": 0.1, "clip_gradient": 1},
     [-0.251692, -0.429447, 1.153356, -1.098017]),
    ("adamax", {"wd": 0.1},
     [-0.318776, -0.386541, 1.136216, -1.099253]),
    ("nadam", {"wd": 0.1},
     [-0.321031, -0.384901, 1.133891, -1.100179]),
    ("lamb", {"wd": 0.1},
     [-0.319451, -0.385493, 1.135159, -1.100832]),
    ("lamb", {"wd": 0.1, "lower_bound": 0.5, "upper_bound": 2, "bias_correction": False},
     [-0.319451, -0.385493, 1.135159, -1.100832]),
    ("lars", {"momentum": 0.9, "wd": 0.1, "learning_rate": 1},
     [1.330941, -2.085901, 2.392679, -5.524965]),
    ("dcasgd", {"momentum": 0, "wd": 0.1},
     [-0.285049, -0.43075, 1.140232, -1.196834]),
    ("test", {"rescale_grad": 0.1},
     [-0.450185, -0.186634, 1.157997, -0.883149]),
    ("lbsgd", {"momentum": 0.9, "batch_scale": 2, "updates_per_epoch": 2, "warmup_epochs": 2},
     [-0.280435, -0.428477, 1.150872, -1.232864]),]


@pytest.mark.parametrize("name, options, expected", EXPECTED)
def test_equals_mxnet(name, options, expected):
    rng = np.random.RandomState(1)
    options = dict(options)
    schedule = mx.lr_scheduler.FactorScheduler(
        2, 0.5, base_lr=options.pop("learning_rate", 0.05))
    updater = mx.optimizer.get_updater(mx.optimizer.create(
        name, lr_scheduler=schedule,
        param_idx2name={0: "a_weight", 1: "b_bias"}, **options))
    weights = [mx.nd.array(rng.randn(3, 4)), mx.nd.array(rng.randn(4))]
    for _ in range(4):
        for index, weight in enumerate(weights):
            updater(index, mx.nd.array(rng.randn(*weight.shape)), weight)
    np.testing.assert_allclose(weights[1].asnumpy(), expected, rtol=1e-5,
                               atol=2e-6)


def test_states_are_taken_over():
    def updater():
        return mx.optimizer.get_updater(mx.optimizer.create("adam"))

    weights = [mx.nd.ones((2, 2)), mx.nd.ones((2, 2))]
    grads = [mx.nd.array([[1, 2], [3, 4]]), mx.nd.array([[4, 3], [2, 1]])]
    through, first = updater(), updater()
    for grad in grads:
        through(0, grad, weights[0])
    first(0, grads[0], weights[1])
    second = updater()
    second.set_states(first.get_states(dump_optimizer=True))
    second(0, grads[1], weights[1])
    np.testing.assert_array_equal(weights[0].asnumpy(), weights[1].asnumpy())


def test_half_precision_through_a_float32_copy():
    optimizer = mx.optimizer.SGD(learning_rate=1e-4, multi_precision=True)
    updater = mx.optimizer.get_updater(optimizer)
    weight = mx.nd.ones((2,), dtype="float16")
    for _ in range(10):
        updater(0, mx.nd.ones((2,), dtype="float16"), weight)
    copy = updater.states[0][1]
    np.testing.assert_allclose(copy.asnumpy(), 1 - 1e-3, rtol=1e-6)
    assert weight.dtype == np.float16
    np.testing.assert_array_equal(weight.asnumpy(),
                                  copy.asnumpy().astype("float16"))


RULES = [("sgd", {}), ("sgd", {"momentum": 0.9, "wd": 0.01, "clip_gradient": 0.5}),
         ("adam", {"wd": 0.01}), ("rmsprop", {}), ("rmsprop", {"centered": True}),
         ("ftrl", {}), ("signum", {}), ("nag", {"momentum": 0.9}), ("lamb", {})]
SHAPES = [(3, 4), (7,), (5, 2, 3), (1,)]


def _train(name, options, update):
    """Weights, then states, after four steps; update(updater, gradients, weights)."""
    optimizer = mx.optimizer.create(name, rescale_grad=0.125, **options)
    updater = mx.optimizer.get_updater(optimizer)
    draws = np.random.RandomState(1)
    weights = [mx.nd.array(draws.randn(*shape)) for shape in SHAPES]
    for step in range(4):
        optimizer.set_learning_rate(0.1 / (step + 1))
        update(updater, [mx.nd.array(draws.randn(*shape)) for shape in SHAPES], weights)
    states = [state for of in updater.states.values()
              for state in (of if isinstance(of, tuple) else (of,)) if state is not None]
    return [array.asnumpy() for array in weights + states]


@pytest.mark.parametrize("name, options", RULES)
def test_weights_together_are_those_one_by_one(name, options):
    def one_by_one(updater, grads, weights):
        for i, (grad, weight) in enumerate(zip(grads, weights)):
            updater(i, grad, weight)

    def together(updater, grads, weights):
        updater(list(range(len(weights))), grads, weights)

    for one, other in zip(_train(name, options, one_by_one),
                          _train(name, options, together)):
        np.testing.assert_array_equal(one, other)


def test_a_step_of_many_weights_is_one_program_whatever_the_rate(monkeypatch):
    operators, programs = [], []
    monkeypatch.setattr(_together.nd, "_invoke",
                        lambda op, *rest: operators.append(op))
    call = _together._Program.call
    monkeypatch.setattr(_together._Program, "call",
                        lambda program, *rest: (programs.append(program),
                                                call(program, *rest)))
    _train("sgd", {"momentum": 0.5, "wd": 0.25},
           lambda updater, grads, weights: updater([0, 1, 2, 3], grads, weights))
    assert len(programs) == 4 and len(set(programs)) == 1 and not operators


CHANGES = [None, lambda o, u: o.set_learning_rate(0.5), None,
           lambda o, u: setattr(o, "wd", 0.125), lambda o, u: setattr(o, "momentum", 0.25),
           lambda o, u: setattr(o, "rescale_grad", 3), None, lambda o, u: o.set_lr_mult({1: 2}),
           lambda o, u: o.set_wd_mult({2: 3}), lambda o, u: u.set_states(u.get_states()),
           lambda o, u: u.states.update({0: u.states[0] * 2}), None,
           lambda o, u: setattr(o, "clip_gradient", 0.5), None]


def test_steps_like_the_last_one_end_where_something_is_otherwise():
    def trained(together):
        optimizer = mx.optimizer.SGD(momentum=0.5, learning_rate=0.1)
        updater = mx.optimizer.get_updater(optimizer)
        draws = np.random.RandomState(1)
        weights, grads = ([mx.nd.array(draws.randn(*shape)) for shape in SHAPES]
                          for _ in range(2))
        for change in CHANGES:
            if change:
                change(optimizer, updater)
            for grad in grads:
                grad *= 0.75
            if together:
                updater(list(range(len(weights))), grads, weights)
            else:
                for each in zip(range(len(weights)), grads, weights):
                    updater(*each)
        assert optimizer._index_update_count == dict.fromkeys(range(4), len(CHANGES))
        assert optimizer.num_update == len(CHANGES)
        return [weight.asnumpy() for weight in weights]

    for one, other in zip(trained(False), trained(True)):
        np.testing.assert_array_equal(one, other)


def test_modules_update_each_device_at_once_and_functions_one_by_one():
    class Counted(mx.optimizer.Updater):
        """Counts calls."""
        calls = 0

        def __call__(self, *args):
            self.calls += 1
            super().__call__(*args)

    weights = [[mx.nd.ones((2,)), mx.nd.ones((2,))], [mx.nd.ones((3,)), mx.nd.ones((3,))]]
    grads = [[array * 2 for array in of] for of in weights]
    updater = Counted(mx.optimizer.SGD(learning_rate=0.25))
    mx.model._update_params(weights, grads, updater, num_device=2)
    assert updater.calls == 2 and sorted(updater.states) == [0, 1, 2, 3]
    for array in [*weights[0], *weights[1]]:
        np.testing.assert_array_equal(array.asnumpy(), 0.5)
    seen = []
    mx.model._update_params(weights, [[None, None], grads[1]],
                            lambda index, grad, weight: seen.append(index), 2)
    assert seen == [2, 3]


def test_a_rule_that_reads_what_it_updated_is_called_at_once():
    class Halved(mx.optimizer.SGD):
        """SGD, then half of the weight."""

        def update(self, index, weight, grad, state):
            super().update(index, weight, grad, state)
            weight *= 0.5

    weights = [mx.nd.ones((2,)), mx.nd.ones((3,))]
    updater = mx.optimizer.get_updater(Halved(learning_rate=0.5))
    updater([0, 1], [mx.nd.ones((2,)), mx.nd.ones((3,))], weights)
    for weight in weights:
        np.testing.assert_array_equal(weight.asnumpy(), 0.25)


def test_multipliers():
    x = mx.sym.var("x")
    net = mx.sym.FullyConnected(x, num_hidden=2, name="fc", lr_mult=0)
    optimizer = mx.optimizer.create(
        "sgd", sym=net, param_idx2name={0: "fc_weight", 1: "fc_bias"}, wd=1.0)
    assert optimizer._get_lr(0) == 0
    assert optimizer._get_wd(0) == 1 and optimizer._get_wd(1) == 0
    optimizer.set_lr_mult({"fc_weight": 2})
    assert optimizer._get_lr(0) == pytest.approx(0.02)


def test_unknown_names():
    with pytest.raises(ValueError):
        mx.optimizer.create("no such rule")


def test_a_rule_that_one_optimizer_has_anew_is_called():
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5))
    weights, grads = ([mx.nd.ones((2,)), mx.nd.ones((3,))] for _ in range(2))
    updater([0, 1], grads, weights)
    seen = []
    updater.optimizer.update = lambda index, weight, grad, state: seen.append(index)
    updater([0, 1], grads, weights)
    assert seen == [0, 1]
    np.testing.assert_array_equal(weights[0].asnumpy(), 0.5)


def test_a_weight_that_is_there_twice_is_updated_twice():
    updater = mx.optimizer.get_updater(mx.optimizer.SGD(learning_rate=0.5))
    weight = mx.nd.ones((2,))
    updater([0, 1], [mx.nd.ones((2,)), weight], [weight, weight])
    np.testing.assert_array_equal(weight.asnumpy(), 0.25)


def test_what_one_thread_updates_no_other_thread_calls():
    class Slow(mx.optimizer.SGD):
        """Meets the other thread in its first update."""

        def _begin(self, index):
            if index == 0:
                met.wait()
            return super()._begin(index)

    def train(value):
        updater = mx.optimizer.get_updater(Slow(learning_rate=0.5))
        weights = [mx.nd.full((2,), value), mx.nd.full((3,), value)]
        for _ in range(20):
            met.wait()
            updater([0, 1], [mx.nd.ones((2,)), mx.nd.ones((3,))], weights)
            found.append(weights[1].asnumpy()[0] - value)

    met, found = threading.Barrier(2, timeout=60), []
    threads = [threading.Thread(target=train, args=(value,)) for value in (64, 32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [-0.5 * turn for turn in range(20, 0, -1) for _ in range(2)]
