# SPDX-License-Identifier: Apache-2.0
"""mx.mod, mx.model and mx.rnn: what is learned, saved, shared."""

import numpy as np
import pytest

import mxc.mxnet as mx


def classifier():
    net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=16, name="fc1")
    net = mx.sym.Activation(net, act_type="tanh")
    net = mx.sym.FullyConnected(net, num_hidden=2, name="fc2")
    return mx.sym.SoftmaxOutput(net, name="softmax")


def corners(count=64, seed=0):
    """Points, and whether their signs differ: no line separates them."""
    points = np.random.RandomState(seed).uniform(-1, 1, (count, 2))
    return points.astype("float32"), (points[:, 0] * points[:, 1] < 0).astype(
        "float32")


@pytest.mark.parametrize("contexts", [[mx.cpu()], [mx.cpu(0), mx.cpu(1)]])
def test_training_scoring_and_checkpoints(contexts, tmp_path):
    mx.random.seed(1)
    data, label = corners()
    train = mx.io.NDArrayIter(data, label, 16, shuffle=False)
    module = mx.mod.Module(classifier(), context=contexts)
    module.fit(train, num_epoch=60, optimizer="adam",
               optimizer_params={"learning_rate": 0.05},
               initializer=mx.init.Xavier())
    assert module.score(train, "acc")[0][1] > 0.9
    prefix = str(tmp_path / "net")
    module.save_checkpoint(prefix, 3, save_optimizer_states=True)
    again = mx.mod.Module.load(prefix, 3, load_optimizer_states=True)
    again.bind(train.provide_data, train.provide_label)
    again.init_optimizer(optimizer="adam",
                         optimizer_params={"learning_rate": 0.05})
    np.testing.assert_allclose(again.predict(train).asnumpy(),
                               module.predict(train).asnumpy(), rtol=1e-5)
    symbol, arguments, states = mx.model.load_checkpoint(prefix, 3)
    assert symbol.tojson() == classifier().tojson() or symbol.list_arguments()
    assert set(arguments) == {"fc1_weight", "fc1_bias", "fc2_weight", "fc2_bias"}
    assert states == {}


def test_devices_compute_what_one_computes():
    data, label = corners(8)
    batch = mx.io.DataBatch([mx.nd.array(data)], [mx.nd.array(label)])
    results = []
    for contexts in ([mx.cpu()], [mx.cpu(0), mx.cpu(1)]):
        module = mx.mod.Module(classifier(), context=contexts)
        module.bind([("data", (8, 2))], [("softmax_label", (8,))],
                    inputs_need_grad=True)
        mx.random.seed(3)
        module.init_params(mx.init.Constant(0.1))
        module.init_optimizer(optimizer_params={"learning_rate": 1.0})
        module.forward_backward(batch)
        module.update()
        results.append([module.get_outputs()[0].asnumpy(),
                        module.get_input_grads()[0].asnumpy(),
                        module.get_params()[0]["fc1_weight"].asnumpy()])
    for one, two in zip(*results):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-7)


def test_other_batches_are_bound_anew():
    module = mx.mod.Module(classifier())
    module.bind([("data", (4, 2))], [("softmax_label", (4,))])
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.ones((7, 2))], [mx.nd.ones((7,))]))
    assert module.get_outputs()[0].shape == (7, 2)
    assert module.output_shapes == [("softmax_output", (7, 2))]


def test_fixed_parameters_stay():
    module = mx.mod.Module(classifier(), fixed_param_names=["fc1_weight"])
    module.bind([("data", (4, 2))], [("softmax_label", (4,))])
    module.init_params(mx.init.Constant(0.5))
    module.init_optimizer(optimizer_params={"learning_rate": 1.0})
    module.forward_backward(mx.io.DataBatch([mx.nd.ones((4, 2))],
                                            [mx.nd.ones((4,))]))
    module.update()
    arguments, _ = module.get_params()
    assert (arguments["fc1_weight"].asnumpy() == 0.5).all()
    assert not (arguments["fc2_weight"].asnumpy() == 0.5).all()


def test_wrong_names_and_parameters():
    with pytest.raises(ValueError):
        mx.mod.Module(classifier(), data_names=["stranger"])
    module = mx.mod.Module(classifier())
    with pytest.raises(AssertionError):
        module.forward(mx.io.DataBatch([mx.nd.ones((4, 2))]))
    module.bind([("data", (4, 2))], [("softmax_label", (4,))])
    with pytest.raises(RuntimeError):
        module.init_params(arg_params={}, aux_params={})


def test_buckets_share_parameters():
    def sym_gen(length):
        data = mx.sym.var("data")
        net = mx.sym.sum(data, axis=1, keepdims=True)
        net = mx.sym.FullyConnected(net, num_hidden=2, name="fc")
        return (mx.sym.SoftmaxOutput(net, name="softmax"), ("data",),
                ("softmax_label",))

    module = mx.mod.BucketingModule(sym_gen, default_bucket_key=8)
    module.bind([("data", (4, 8))], [("softmax_label", (4,))])
    module.init_params(mx.init.One())
    module.init_optimizer(optimizer_params={"learning_rate": 0.01})
    before = module.get_params()[0]["fc_weight"].asnumpy().copy()
    for length in (8, 3, 5):
        module.forward_backward(mx.io.DataBatch(
            [mx.nd.ones((4, length))], [mx.nd.zeros((4,))], bucket_key=length,
            provide_data=[("data", (4, length))],
            provide_label=[("softmax_label", (4,))]))
        module.update()
        after = module.get_params()[0]["fc_weight"].asnumpy().copy()
        assert (after[0] > before[0]).all()
        before = after


def test_sequential_and_python_modules():
    body = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    chain = mx.mod.SequentialModule()
    chain.add(mx.mod.Module(body, label_names=None))
    chain.add(mx.mod.PythonLossModule(
        grad_func=lambda scores, labels: scores - mx.nd.one_hot(labels, 2)),
        take_labels=True, auto_wiring=True)
    data, label = corners(16)
    chain.fit(mx.io.NDArrayIter(data, label, 8), num_epoch=2, eval_metric="acc",
              optimizer_params={"learning_rate": 0.1})
    assert "fc_weight" in chain.get_params()[0]


def test_feed_forward():
    mx.random.seed(1)
    data, label = corners()
    model = mx.model.FeedForward(classifier(), num_epoch=40, optimizer="adam",
                                 learning_rate=0.05, numpy_batch_size=16,
                                 initializer=mx.init.Xavier())
    model.fit(data, label)
    assert model.predict(data).shape == (64, 2)
    assert (model.predict(data).argmax(axis=1) == label).mean() > 0.9


def test_unrolled_cells_equal_the_fused_one():
    mx.random.seed(2)
    fused = mx.rnn.FusedRNNCell(4, num_layers=2, mode="lstm", prefix="lstm_",
                                bidirectional=True)
    outputs = []
    parameters = mx.nd.random.uniform(-1, 1, (704,))
    data = mx.nd.random.uniform(-1, 1, (3, 5, 2))
    unpacked = fused.unpack_weights({"lstm_parameters": parameters})
    packed_again = fused.pack_weights(unpacked)["lstm_parameters"]
    np.testing.assert_array_equal(packed_again.asnumpy(), parameters.asnumpy())
    for cell in (fused, fused.unfuse()):
        net, _ = cell.unroll(5, mx.sym.var("data"), merge_outputs=True)
        arrays = cell.pack_weights(unpacked)
        outputs.append(net.eval(mx.cpu(), data=data, **arrays)[0].asnumpy())
    np.testing.assert_allclose(*outputs, rtol=1e-4, atol=1e-5)


def test_sentences_in_buckets():
    sentences, vocab = mx.rnn.encode_sentences(
        [["a", "b"], ["b", "c", "a"], ["c", "a"]], start_label=1, invalid_label=0)
    assert sentences == [[1, 2], [2, 3, 1], [3, 1]] and vocab["c"] == 3
    found = mx.rnn.BucketSentenceIter(sentences, 1, buckets=[2, 3],
                                      invalid_label=0)
    batches = {batch.bucket_key: batch for batch in found}
    assert batches[3].data[0].asnumpy().tolist() == [[2, 3, 1]]
    assert batches[3].label[0].asnumpy().tolist() == [[3, 1, 0]]
    assert len(found.idx) == 3


def test_summary_and_drawing(capsys):
    mx.viz.print_summary(classifier(), {"data": (1, 2)})
    text = capsys.readouterr().out
    assert "fc1(FullyConnected)" in text and "Total params: 82" in text
    source = mx.viz.plot_network(classifier(), shape={"data": (1, 2)}).source
    assert '"fc2" -> "activation' in source and "fc1_weight" not in source


def test_parameters_are_sparse_where_their_variables_are():
    weight = mx.sym.var("w", shape=(3, 1), stype="row_sparse", init=mx.init.One())
    net = mx.sym.LinearRegressionOutput(
        mx.sym.dot(mx.sym.var("data", stype="csr"), weight), mx.sym.var("label"))
    module = mx.mod.Module(net, label_names=["label"])
    module.bind([mx.io.DataDesc("data", (2, 3))], [("label", (2, 1))])
    module.init_params()
    weight = module._arg_params["w"]
    assert weight.stype == "row_sparse" and weight.asnumpy().tolist() == [[1]] * 3
