# SPDX-License-Identifier: Apache-2.0
"""mx.sym: graphs, names, attributes and JSON, as MXNet 1.9.1 makes them."""

import copy
import json
import pickle

import numpy as np
import pytest

import mxc.mxnet as mx
from mxc.mxnet import MXNetError, symbol as sym
from mxc.mxnet.attribute import AttrScope
from mxc.mxnet.name import NameManager, Prefix


@pytest.fixture(autouse=True)
def fresh_names():
    with NameManager():
        yield


def perceptron():
    net = sym.FullyConnected(sym.Variable("data"), name="fc1", num_hidden=10)
    net = sym.Activation(net, name="relu1", act_type="relu")
    net = sym.FullyConnected(net, name="fc2", num_hidden=4)
    return sym.SoftmaxOutput(net, name="softmax")


def test_missing_inputs_become_variables():
    net = sym.BatchNorm(sym.Convolution(sym.var("x"), kernel=(1, 1),
                                        num_filter=2, name="conv"), name="bn")
    assert net.list_arguments() == ["x", "conv_weight", "conv_bias", "bn_gamma",
                                    "bn_beta"]
    assert net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert net.list_outputs() == ["bn_output"]
    assert net.attr_dict()["bn_moving_var"]["__init__"] == '["one", {}]'


def test_inputs_follow_attributes():
    x = sym.var("x")
    bare = sym.FullyConnected(x, num_hidden=2, no_bias=True, name="fc")
    assert bare.list_arguments() == ["x", "fc_weight"]
    prelu = sym.LeakyReLU(x, act_type="prelu", name="act")
    assert prelu.list_arguments() == ["x", "act_gamma"]
    lstm = sym.RNN(x, state_size=2, num_layers=1, mode="lstm", name="rnn",
                   state_outputs=True)
    assert lstm.list_outputs() == ["rnn_output", "rnn_state_output",
                                   "rnn_statecell_output"]


@pytest.mark.parametrize("make, name", [
    (lambda a, b: a + b, "_plus0"), (lambda a, b: a - 1, "_minusscalar0"),
    (lambda a, b: 2 / a, "_rdivscalar0"), (lambda a, b: a ** b, "_power0"),
    (lambda a, b: -a, "_mulscalar0"), (lambda a, b: a > b, "_greater0"),
    (lambda a, b: a == 1, "_equal_scalar0"), (lambda a, b: a.sum(), "sum0"),
    (lambda a, b: sym.maximum(2, a), "_maximumscalar0"),
    (lambda a, b: a.reshape((1, 2)), "reshape0")])
def test_names_of_arithmetic(make, name):
    assert make(sym.var("a"), sym.var("b")).name == name


def test_scopes():
    with AttrScope(ctx_group="dev1"), Prefix("net_"):
        net = sym.relu(sym.var("x"))
    assert net.name == "net_relu0"
    assert net.attr("ctx_group") == net.attr("__ctx_group__") == "dev1"


def test_outputs_by_number_name_and_slice():
    parts = sym.SliceChannel(sym.var("x"), num_outputs=3, name="cut")
    assert [part.list_outputs() for part in parts] == [
        ["cut_output0"], ["cut_output1"], ["cut_output2"]]
    assert parts["cut_output1"].list_outputs() == ["cut_output1"]
    assert len(parts[1:]) == 2
    with pytest.raises(IndexError):
        parts[3]
    with pytest.raises(ValueError):
        parts["cut_output7"]


def test_internals_and_children():
    net = perceptron()
    hidden = net.get_internals()["fc1_output"]
    assert hidden.list_arguments() == ["data", "fc1_weight", "fc1_bias"]
    assert net.get_children().list_outputs() == ["fc2_output", "softmax_label"]
    assert sym.var("x").get_children() is None


def test_composition_replaces_variables():
    inner = sym.FullyConnected(name="fc", num_hidden=2)
    net = inner(fc_data=sym.relu(sym.var("x"), name="act"))
    assert net.list_arguments() == ["x", "fc_weight", "fc_bias"]
    assert inner.list_arguments()[0] == "fc_data"
    with pytest.raises(MXNetError):
        inner(stranger=sym.var("x"))


def test_json_is_that_of_mxnet():
    net = sym.FullyConnected(sym.var("x", lr_mult=2), num_hidden=3, no_bias=True,
                             name="fc")
    assert net.tojson() == """{
  "nodes": [
    {
      "op": "null", 
      "name": "x", 
      "attrs": {"__lr_mult__": "2"}, 
      "inputs": []
    }, 
    {
      "op": "null", 
      "name": "fc_weight", 
      "attrs": {
        "no_bias": "True", 
        "num_hidden": "3"
      }, 
      "inputs": []
    }, 
    {
      "op": "FullyConnected", 
      "name": "fc", 
      "attrs": {
        "no_bias": "True", 
        "num_hidden": "3"
      }, 
      "inputs": [[0, 0, 0], [1, 0, 0]]
    }
  ], 
  "arg_nodes": [0, 1], 
  "node_row_ptr": [0, 1, 2, 3], 
  "heads": [[2, 0, 0]], 
  "attrs": {"mxnet_version": ["int", 10901]}
}"""


def test_copies_are_equal(tmp_path):
    net = perceptron()
    net.save(str(tmp_path / "net.json"))
    for same in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net),
                 sym.load(str(tmp_path / "net.json")),
                 sym.load_json(net.tojson())):
        assert same.tojson() == net.tojson()


def test_old_files_are_upgraded():
    old = {"nodes": [
        {"op": "null", "param": {}, "name": "x", "inputs": [],
         "backward_source_id": -1},
        {"op": "null", "param": {}, "name": "bn_gamma", "inputs": [],
         "backward_source_id": -1},
        {"op": "null", "param": {}, "name": "bn_beta", "inputs": [],
         "backward_source_id": -1},
        {"op": "BatchNorm", "param": {"eps": "0.001", "momentum": "0.9",
                                      "fix_gamma": "True"},
         "attr": {"gamma_lr_mult": "3"}, "name": "bn",
         "inputs": [[0, 0], [1, 0], [2, 0]], "backward_source_id": -1}],
        "arg_nodes": [0, 1, 2], "heads": [[3, 0]]}
    net = sym.load_json(json.dumps(old))
    assert net.list_auxiliary_states() == ["bn_moving_mean", "bn_moving_var"]
    assert net.attr_dict()["bn_gamma"]["lr_mult"] == "3"
    assert net.attr_dict()["bn_moving_mean"]["__init__"] == '["zero", {}]'


@pytest.mark.parametrize("wrong", [
    lambda x: sym.FullyConnected(x), lambda x: sym.FullyConnected(x, foo=1),
    lambda x: sym.Activation(x, act_type="bad"), lambda x: bool(x),
    lambda x: x.asnumpy(), lambda x: sym.load_json("{}"),
    lambda x: sym.load_json("nonsense"), lambda x: sym.load("/no/such/file"),
    lambda x: sym.relu(sym.SliceChannel(x, num_outputs=2))])
def test_mistakes_are_errors(wrong):
    with pytest.raises(MXNetError):
        wrong(sym.var("x"))


def test_wrong_types():
    x = sym.var("x")
    for wrong in (lambda: x + "1", lambda: sym.Group([]), lambda: sym.var(3),
                  lambda: sym.Group([1])):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(ValueError):
        sym.var("x", foo="1")


def test_foreach_cuts_its_body_off():
    w = sym.var("w")
    out, states = sym.contrib.foreach(
        lambda x, s: (sym.broadcast_mul(x, w) + s[0], [s[0] * 2]),
        sym.var("d"), [sym.var("s")])
    net = sym.Group([out, *states])
    assert net.list_arguments() == ["d", "s", "w"]
    node = json.loads(net.tojson())["nodes"][-1]
    assert node["attrs"] == {
        "in_data_locs": "[0]", "in_state_locs": "[2]", "num_args": "4",
        "num_out_data": "1", "num_outputs": "2", "remain_locs": "[1]"}
    body = node["subgraphs"][0]
    assert [body["nodes"][i]["name"] for i in body["arg_nodes"]] == [
        "d-0", "w", "s-0"]


def loop_of_two_variables():
    step = lambda part, states: (part * states[0] * mx.sym.var("w"), [states[0] + part])
    rows, states = mx.sym.contrib.foreach(step, mx.sym.var("x"), [mx.sym.var("s")])
    return mx.sym.Group([rows, states[0]])


@pytest.mark.parametrize("name", ["x", "s", "w"])
def test_types_pass_through_loops_of_unknown_length(name):
    loop = loop_of_two_variables()
    assert loop.infer_type(**{name: "float64"}) == (
        [np.float64] * 3, [np.float64] * 2, [])
    assert loop.infer_type_partial() == ([None] * 3, [None] * 2, [])
    whole = mx.sym.cast(loop[0], dtype="int32")
    assert whole.infer_type(x="float16")[1] == [np.int32]


def test_types_of_a_loop_whose_places_are_wrong_do_not_follow():
    text = loop_of_two_variables().tojson()
    for wrong in ('"[7]"', '"[]"'):
        broken = mx.sym.load_json(text.replace('"in_state_locs": "[1]"',
                                               f'"in_state_locs": {wrong}'))
        assert broken.infer_type(x="float64") == (None, None, None)


def test_parts_of_data_along_one_axis_have_one():
    rows, states = mx.sym.contrib.foreach(
        lambda part, states: (part * states[0] * 2, [states[0] + part]),
        mx.sym.var("x"), [mx.sym.var("s")])
    executor = mx.sym.Group([rows, states[0]]).bind(
        mx.cpu(), {"x": mx.nd.array([1, 2, 3]), "s": mx.nd.ones((1,))})
    # As MXNet 1.9.1 has them.
    assert [output.asnumpy().tolist() for output in executor.forward()] == [
        [[2], [8], [24]], [7]]


def test_a_graph_as_an_operator():
    inner = sym.FullyConnected(sym.var("a") * sym.var("b"), num_hidden=2, name="fc")
    inputs = [sym.var(name) for name in ("p", "q", "weight", "bias")]
    net = sym._internal._CachedOp(*inputs, subgraph=inner.tojson()) * 2
    assert net.list_arguments() == ["p", "q", "weight", "bias"]
    ones = mx.nd.ones((2, 3))
    values = net.eval(p=ones, q=ones, weight=ones, bias=mx.nd.zeros(2))[0]
    assert values.asnumpy().tolist() == [[6, 6], [6, 6]]
    with pytest.raises(TypeError):
        sym._internal._CachedOp(inputs[0], subgraph=inner.tojson())


def test_shapes_that_wait_for_all_of_the_inputs():
    a, b = sym.var("a"), sym.var("b")
    product = sym.batch_dot(a, b)
    for shape, expected in (((0, 4, 5), (0, 3, 5)), ((0, 0, 5), ())):
        found = product.infer_shape_partial(a=(0, 3, 4), b=shape)
        assert found[1] == [expected]
    chosen = sym.where(sym.var("condition"), a, b)
    for shape, expected in (((2, 3), (2, 3)), ((0, 3), ())):
        shapes = dict.fromkeys(("condition", "a", "b"), shape)
        assert chosen.infer_shape_partial(**shapes)[1] == [expected]
