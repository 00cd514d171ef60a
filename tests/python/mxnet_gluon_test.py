# SPDX-License-Identifier: Apache-2.0
"""mxc.mxnet.gluon: blocks, parameters, layers, losses and training."""

import json
import warnings

import numpy as np
import pytest

import mxc.mxnet as mx
from mxc.mxnet import autograd, gluon
from mxc.mxnet.gluon import nn


def drawn(*shape, seed=3):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def network(prefix="net_"):
    net = nn.HybridSequential(prefix=prefix)
    with net.name_scope():
        net.add(nn.Conv2D(4, 3, activation="relu"), nn.BatchNorm(), nn.MaxPool2D(),
                nn.Dense(5))
    return net


# ---- Parameters ------------------------------------------------------------------


def test_parameters_have_the_names_of_their_scopes():
    net = network()
    assert list(net.collect_params()) == [
        "net_conv0_weight", "net_conv0_bias", "net_batchnorm0_gamma",
        "net_batchnorm0_beta", "net_batchnorm0_running_mean",
        "net_batchnorm0_running_var", "net_dense0_weight", "net_dense0_bias"]
    assert list(net.collect_params(".*dense.*weight")) == ["net_dense0_weight"]


def test_deferred_shapes_come_from_the_first_input():
    net = network()
    net.initialize()
    assert net[3].weight.shape == (5, 0)
    with pytest.raises(gluon.DeferredInitializationError, match="waits for the"):
        net[3].weight.data()
    assert net(mx.nd.array(drawn(2, 3, 8, 8))).shape == (2, 5)
    assert net[0].weight.shape == (4, 3, 3, 3)
    assert net[3].weight.shape == (5, 4 * 3 * 3)


def test_a_parameter_without_a_value_says_so():
    with pytest.raises(RuntimeError, match="'w' has not been initialized"):
        gluon.Parameter("w", shape=(2,)).data()
    with pytest.raises(ValueError, match="unknown extents"):
        gluon.Parameter("w", shape=(2, 0)).initialize()


def test_grad_req_add_sums_over_backwards():
    weight = gluon.Parameter("w", shape=(3,), init="ones", grad_req="add")
    weight.initialize()
    for _ in range(2):
        with autograd.record():
            y = (weight.data() * 2).sum()
        y.backward()
    np.testing.assert_array_equal(weight.grad().asnumpy(), [4, 4, 4])
    weight.zero_grad()
    np.testing.assert_array_equal(weight.grad().asnumpy(), [0, 0, 0])
    weight.grad_req = "null"
    with pytest.raises(RuntimeError, match="no gradient"):
        weight.grad()


def test_shared_parameters_are_one():
    first = nn.Dense(3, in_units=3, prefix="a_")
    second = nn.Dense(3, in_units=3, params=first.params)
    first.initialize()
    assert second.weight is first.weight


def test_constants_are_not_trained():
    value = np.array([[1, 2], [3, 4]], np.float32)

    class Shift(gluon.HybridBlock):
        def __init__(self):
            super().__init__()
            self.shift = self.params.get_constant("shift", value)

        def hybrid_forward(self, F, x, shift):
            return x + shift

    block = Shift()
    block.initialize()
    np.testing.assert_array_equal(block(mx.nd.ones((2, 2))).asnumpy(), value + 1)
    assert block.shift.grad_req == "null"


# ---- Blocks ------------------------------------------------------------------------


def test_hybridized_blocks_compute_the_same():
    net, x = network(), mx.nd.array(drawn(2, 3, 8, 8))
    net.initialize(mx.init.Xavier())
    results = []
    for _ in range(2):
        x.attach_grad()
        with autograd.record():
            y = net(x)
        y.backward()
        results.append((y.asnumpy(), x.grad.asnumpy(), net[0].weight.grad().asnumpy()))
        net.hybridize()
    for one, other in zip(*results):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-5)


def test_running_means_move_in_training_alone():
    layer = nn.BatchNorm(in_channels=2, momentum=0.5)
    layer.initialize()
    x = drawn(8, 2, 3)
    layer(mx.nd.array(x))
    np.testing.assert_array_equal(layer.running_mean.data().asnumpy(), [0, 0])
    for hybrid in (False, True):
        layer.hybridize(hybrid)
        before = layer.running_mean.data().asnumpy()
        with autograd.record():
            layer(mx.nd.array(x))
        np.testing.assert_allclose(layer.running_mean.data().asnumpy(),
                                   0.5 * before + 0.5 * x.mean(axis=(0, 2)), rtol=1e-5)


def test_nested_inputs_and_none():
    class Sum(gluon.HybridBlock):
        def hybrid_forward(self, F, pair, extra):
            y = pair[0] + pair[1]
            return y if extra is None else (y + extra, [y, extra])

    a, b = mx.nd.ones((2,)), mx.nd.ones((2,)) * 2
    for hybrid in (False, True):
        block = Sum()
        block.hybridize(hybrid)
        assert block([a, b], None).asnumpy().tolist() == [3, 3]
        block = Sum()
        block.hybridize(hybrid)
        total, (inner, extra) = block([a, b], b)
        assert (total.asnumpy() == 5).all() and (inner.asnumpy() == 3).all()
        assert (extra.asnumpy() == 2).all()
    with pytest.raises(ValueError, match="compiled for inputs"):
        block([a, b], None)


def test_hybrid_children_must_be_hybrid():
    with pytest.raises(ValueError, match="HybridSequential"):
        nn.HybridSequential().add(nn.Sequential())


def test_attributes_keep_their_kind():
    block = gluon.Block()
    block.child = nn.Dense(1)
    with pytest.raises(TypeError, match="cannot become"):
        block.child = 3


def test_hooks_are_called_until_they_are_detached():
    net, calls = nn.Dense(2, in_units=2), []
    net.initialize()
    handle = net.register_forward_hook(lambda block, inputs, out: calls.append(out.shape))
    net(mx.nd.ones((1, 2)))
    handle.detach()
    net(mx.nd.ones((1, 2)))
    assert calls == [(1, 2)]


def test_op_hooks_see_each_node():
    net, seen = nn.HybridSequential(prefix="s_"), []
    with net.name_scope():
        net.add(nn.Dense(2, activation="relu", in_units=3))
    net.initialize()
    net.hybridize()
    net.register_op_hook(lambda name, op, array: seen.append((name.decode(), array.shape)))
    net(mx.nd.ones((1, 3)))
    assert seen == [("s_dense0_fwd_output", (1, 2)), ("s_dense0_relu_fwd_output", (1, 2))]


def test_summary_counts_parameters(capsys):
    net = network()
    net.initialize()
    net.summary(mx.nd.ones((1, 3, 8, 8)))
    out = capsys.readouterr().out
    conv, norm, dense = 4 * 3 * 9 + 4, 4 * 4, 5 * 36 + 5
    assert f"Total params: {conv + norm + dense}" in out
    assert f"Non-trainable params: {2 * 4}" in out


# ---- Files -------------------------------------------------------------------------


def test_save_parameters_by_attribute(tmp_path):
    net, x = network("one_"), mx.nd.array(drawn(2, 3, 8, 8))
    net.initialize()
    y = net(x).asnumpy()
    file = str(tmp_path / "net.params")
    net.save_parameters(file)
    assert set(mx.nd.load(file)) == {
        "0.weight", "0.bias", "1.gamma", "1.beta", "1.running_mean", "1.running_var",
        "3.weight", "3.bias"}
    other = network("two_")
    other.load_parameters(file)
    np.testing.assert_array_equal(other(x).asnumpy(), y)


def test_load_says_what_is_missing(tmp_path):
    file = str(tmp_path / "net.params")
    small, large = nn.HybridSequential(), nn.HybridSequential()
    small.add(nn.Dense(2, in_units=2))
    large.add(nn.Dense(2, in_units=2), nn.Dense(2, in_units=2))
    small.initialize()
    large.initialize()
    small.save_parameters(file)
    with pytest.raises(AssertionError, match="'1.weight' is missing"):
        large.load_parameters(file)
    large.load_parameters(file, allow_missing=True)
    large.save_parameters(file)
    with pytest.raises(ValueError, match="ignore_extra"):
        small.load_parameters(file)
    small.load_parameters(file, ignore_extra=True)


def test_export_and_import(tmp_path):
    net, x = network(), mx.nd.array(drawn(2, 3, 8, 8))
    net.initialize()
    with pytest.raises(RuntimeError, match="hybridize"):
        net.export(str(tmp_path / "net"))
    net.hybridize()
    y = net(x).asnumpy()
    symbol_file, params_file = net.export(str(tmp_path / "net"), epoch=7)
    assert params_file.endswith("net-0007.params")
    nodes = json.loads((tmp_path / "net-symbol.json").read_text())["nodes"]
    assert [node["op"] for node in nodes if node["op"] != "null"] == [
        "Convolution", "Activation", "BatchNorm", "Pooling", "FullyConnected"]
    block = gluon.SymbolBlock.imports(symbol_file, ["data"], params_file)
    np.testing.assert_array_equal(block(x).asnumpy(), y)
    assert "aux:net_batchnorm0_running_mean" in mx.nd.load(params_file)


# ---- Layers ------------------------------------------------------------------------


def test_dense():
    x = drawn(2, 3, 4)
    for flatten, rows in ((True, 12), (False, 4)):
        layer = nn.Dense(5, flatten=flatten)
        layer.initialize(mx.init.Normal(1))
        y = layer(mx.nd.array(x)).asnumpy()
        w, b = layer.weight.data().asnumpy(), layer.bias.data().asnumpy()
        assert w.shape == (5, rows)
        want = (x.reshape(2, 12) if flatten else x) @ w.T + b
        np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)


def test_layer_norm():
    x = drawn(4, 6)
    layer = nn.LayerNorm()
    layer.initialize()
    want = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(layer(mx.nd.array(x)).asnumpy(), want, rtol=1e-4, atol=1e-5)


def test_embedding_gradient_counts_rows():
    layer = nn.Embedding(5, 2)
    layer.initialize()
    with autograd.record():
        y = layer(mx.nd.array([1, 1, 3]))
    y.backward()
    np.testing.assert_array_equal(layer.weight.grad().asnumpy()[:, 0], [0, 2, 0, 1, 0])


@pytest.mark.parametrize("layer, shape, want", [
    (lambda: nn.Conv2D(8, 3, strides=2, padding=1), (1, 3, 9, 9), (1, 8, 5, 5)),
    (lambda: nn.Conv2DTranspose(8, 4, strides=2, padding=1), (1, 3, 5, 5), (1, 8, 10, 10)),
    (lambda: nn.Conv1D(8, 3, dilation=2), (1, 3, 9), (1, 8, 5)),
    (lambda: nn.AvgPool2D(3, 2, ceil_mode=True), (1, 3, 10, 10), (1, 3, 5, 5)),
    (lambda: nn.GlobalAvgPool2D(), (1, 3, 10, 10), (1, 3, 1, 1)),
    (lambda: nn.ReflectionPad2D(2), (1, 3, 5, 5), (1, 3, 9, 9)),
    (lambda: gluon.contrib.nn.PixelShuffle2D(2), (1, 12, 4, 4), (1, 3, 8, 8)),
])
def test_shapes(layer, shape, want):
    layer = layer()
    layer.initialize()
    x = mx.nd.array(drawn(*shape))
    assert layer(x).shape == want
    layer.hybridize()
    assert layer(x).shape == want


def test_pixel_shuffle_interleaves_channels():
    x = np.arange(4 * 2 * 3, dtype=np.float32).reshape(1, 4, 2, 3)
    want = x.reshape(1, 1, 2, 2, 2, 3).transpose(0, 1, 4, 2, 5, 3).reshape(1, 1, 4, 6)
    got = gluon.contrib.nn.PixelShuffle2D(2)(mx.nd.array(x))
    np.testing.assert_array_equal(got.asnumpy(), want)


# ---- Losses ------------------------------------------------------------------------


def test_losses_are_their_formulas():
    pred, label = drawn(3, 4), drawn(3, 4, seed=8)
    a, b = mx.nd.array(pred), mx.nd.array(label)
    sign = mx.nd.array(np.sign(label))
    loss = gluon.loss
    log_softmax = pred - np.log(np.exp(pred).sum(1, keepdims=True))
    classes = np.array([0, 3, 1])
    binary = (label > 0).astype(np.float32)
    cases = [
        (loss.L2Loss()(a, b), ((pred - label) ** 2).mean(1) / 2),
        (loss.L1Loss()(a, b), abs(pred - label).mean(1)),
        (loss.HuberLoss(rho=0.5)(a, b), np.where(
            abs(pred - label) > 0.5, abs(pred - label) - 0.25,
            (pred - label) ** 2).mean(1)),
        (loss.HingeLoss()(a, sign), np.maximum(0, 1 - pred * np.sign(label)).mean(1)),
        (loss.SoftmaxCELoss()(a, mx.nd.array(classes)), -log_softmax[range(3), classes]),
        (loss.SigmoidBCELoss()(a, mx.nd.array(binary)),
         -(binary * np.log(1 / (1 + np.exp(-pred)))
           + (1 - binary) * np.log(1 / (1 + np.exp(pred)))).mean(1)),
        (loss.LogisticLoss()(a, sign), np.log1p(np.exp(-pred * np.sign(label))).mean(1)),
        (loss.KLDivLoss()(a, mx.nd.array(binary + 0.5)),
         ((binary + 0.5) * (np.log(binary + 0.5) - pred)).mean(1)),
        (loss.TripletLoss()(a, b, sign), np.maximum(
            0, ((label - pred) ** 2 - (np.sign(label) - pred) ** 2).sum(1) + 1)),
    ]
    for got, want in cases:
        np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-4, atol=1e-5)


def test_sample_weights_weigh():
    a, b = mx.nd.array(drawn(3, 4)), mx.nd.array(drawn(3, 4, seed=8))
    plain = gluon.loss.L2Loss()(a, b).asnumpy()
    weighed = gluon.loss.L2Loss()(a, b, mx.nd.array([[0], [1], [2]])).asnumpy()
    np.testing.assert_allclose(weighed, plain * [0, 1, 2], rtol=1e-5)


# ---- Trainer -----------------------------------------------------------------------


def test_sgd_with_momentum_is_its_formula():
    w = gluon.Parameter("w", shape=(2,), init="ones")
    w.initialize()
    trainer = gluon.Trainer([w], "sgd", {"learning_rate": 0.1, "momentum": 0.9, "wd": 0.01})
    value, momentum = np.ones(2), np.zeros(2)
    for step in range(3):
        with autograd.record():
            y = (w.data() * mx.nd.array([2.0, 4.0])).sum()
        y.backward()
        trainer.step(2)
        gradient = np.array([2.0, 4.0]) / 2 + 0.01 * value
        momentum = 0.9 * momentum - 0.1 * gradient
        value = value + momentum
        np.testing.assert_allclose(w.data().asnumpy(), value, rtol=1e-5)


def test_stale_gradients_are_refused():
    used, unused = (gluon.Parameter(name, shape=(2,), init="ones") for name in "ab")
    for param in (used, unused):
        param.initialize()
    trainer = gluon.Trainer([used, unused], "sgd", {"learning_rate": 1})
    with autograd.record():
        y = used.data().sum()
    y.backward()
    with pytest.raises(UserWarning, match="'b'"):
        trainer.step(1)
    with autograd.record():
        y = used.data().sum()
    y.backward()
    trainer.step(1, ignore_stale_grad=True)
    np.testing.assert_array_equal(unused.data().asnumpy(), [1, 1])


def test_states_of_the_optimizer_are_saved(tmp_path):
    file = str(tmp_path / "states")

    def trained(steps, load=False):
        w = gluon.Parameter("w", shape=(1,), init="ones")
        w.initialize()
        trainer = gluon.Trainer([w], "adam", {"learning_rate": 0.1})
        if load:
            trainer.load_states(file)
        for _ in range(steps):
            with autograd.record():
                y = w.data() * 3
            y.backward()
            trainer.step(1)
        return trainer, w.data().asnumpy()

    trainer, _ = trained(3)
    trainer.save_states(file)
    trainer.load_states(file)
    assert trainer.learning_rate == 0.1


def test_contexts_sum_their_gradients():
    w = gluon.Parameter("w", shape=(2,), init="zeros")
    places = [mx.cpu(0), mx.cpu(1)]
    w.initialize(ctx=places)
    trainer = gluon.Trainer([w], "sgd", {"learning_rate": 1.0})
    data = gluon.utils.split_and_load(mx.nd.array([[1, 1], [2, 2]]), places)
    with autograd.record():
        ys = [(x * w.data(x.context)).sum() for x in data]
    autograd.backward(ys)
    trainer.step(1)
    for place in places:
        np.testing.assert_array_equal(w.data(place).asnumpy(), [-3, -3])


def test_a_network_learns():
    x = drawn(64, 2)
    y = (x[:, 0] * x[:, 1] > 0).astype(np.float32)
    net = nn.HybridSequential()
    net.add(nn.Dense(16, activation="tanh"), nn.Dense(2))
    net.initialize(mx.init.Xavier())
    net.hybridize()
    loss = gluon.loss.SoftmaxCELoss()
    trainer = gluon.Trainer(net.collect_params(), "adam", {"learning_rate": 0.05})
    for _ in range(100):
        with autograd.record():
            value = loss(net(mx.nd.array(x)), mx.nd.array(y))
        value.backward()
        trainer.step(64)
    accuracy = (net(mx.nd.array(x)).asnumpy().argmax(1) == y).mean()
    assert accuracy > 0.95


def test_clip_global_norm():
    arrays = [mx.nd.array([3.0]), mx.nd.array([4.0])]
    assert gluon.utils.clip_global_norm(arrays, 1.0) == pytest.approx(5)
    np.testing.assert_allclose([a.asscalar() for a in arrays], [0.6, 0.8], rtol=1e-5)


def test_split_data():
    x = mx.nd.array(np.arange(10).reshape(5, 2))
    parts = gluon.utils.split_data(x, 2, even_split=False)
    assert [len(part) for part in parts] == [3, 2]
    with pytest.raises(ValueError, match="2 must divide 5"):
        gluon.utils.split_data(x, 2)


# ---- Estimator, the zoo ------------------------------------------------------------


def test_estimator_trains_and_stops(tmp_path):
    from mxc.mxnet.gluon.contrib import estimator
    data = gluon.data.ArrayDataset(drawn(12, 3), np.zeros(12, np.float32))
    loader = gluon.data.DataLoader(data, 4)
    net = nn.Dense(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        est = estimator.Estimator(net, gluon.loss.SoftmaxCELoss(), context=mx.cpu())
    keeps = estimator.CheckpointHandler(str(tmp_path), "m")
    est.fit(loader, val_data=loader, epochs=2, event_handlers=[keeps])
    assert (tmp_path / "m-epoch1batch6.params").exists()
    assert est.train_metrics[0].get()[1] >= 0


@pytest.mark.parametrize("name, params, size", [
    ("squeezenet1.1", 1_235_496, 224), ("mobilenetv2_0.25", 1_526_856, 224)])
def test_zoo(name, params, size):
    net = gluon.model_zoo.vision.get_model(name)
    out = net(mx.sym.var("data"))
    shapes, outputs, states = out.infer_shape(data=(1, 3, size, size))
    assert outputs == [(1, 1000)]
    shapes = [shape for name, shape in zip(out.list_arguments(), shapes) if name != "data"]
    assert sum(int(np.prod(shape)) for shape in shapes + states) == params


def test_a_mask_says_how_many_rows_a_hybridized_block_gives():
    class Masked(gluon.HybridBlock):
        def hybrid_forward(self, F, data, mask):
            return F.contrib.boolean_mask(data, mask) * 2

    block = Masked()
    block.hybridize()
    data = mx.nd.array([[1, 2], [3, 4], [5, 6]])
    data.attach_grad()
    with autograd.record():
        rows = block(data, mx.nd.array([0, 1, 1]))
    rows.backward()
    assert rows.asnumpy().tolist() == [[6, 8], [10, 12]]
    assert data.grad.asnumpy().tolist() == [[0, 0], [2, 2], [2, 2]]
    assert block(data, mx.nd.array([1, 0, 0])).shape == (1, 2)
