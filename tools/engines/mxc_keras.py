# SPDX-License-Identifier: Apache-2.0
"""A sequential model of Keras, as its JSON, as a network of mxc. Keras itself
is not asked: what it says of a model by to_json() and get_weights() is enough.
"""

import json

import numpy as np

_ACTIVATIONS = {"relu": "relu", "sigmoid": "sigmoid", "tanh": "tanh",
                "softplus": "softrelu", "softsign": "softsign"}
# Loss → the head, and whether it learns classes.
_HEADS = {
    "categorical_crossentropy": ("SoftmaxOutput", {}),
    "sparse_categorical_crossentropy": ("SoftmaxOutput", {}),
    "binary_crossentropy": ("LogisticRegressionOutput", {}),
    # Keras' gradient is twice MXNet's.
    "mse": ("LinearRegressionOutput", {"grad_scale": 2}),
    "mae": ("MAERegressionOutput", {}),
}
_SAME = {"mean_squared_error": "mse", "mean_absolute_error": "mae",
         "MSE": "mse", "MAE": "mae"}
# What the head does itself.
_OF_HEAD = {"SoftmaxOutput": "softmax", "LogisticRegressionOutput": "sigmoid",
            "LinearRegressionOutput": None, "MAERegressionOutput": None}


def _refuse(what):
    raise ValueError(f"{what} is not covered: mxc_elephas takes sequential "
                     "models of Dense, Activation, Dropout and Flatten")


class _Layers:
    """Nodes, and which parameters they have in Keras' order."""

    def __init__(self):
        self.nodes, self.parameters, self.shape = [], [], None

    def add(self, kind, config):
        shape = (config.get("batch_shape") or config.get("batch_input_shape")
                 or [])[1:]
        if shape:
            self.shape = tuple(shape)
        method = getattr(self, "_" + kind, None)
        if method is None:
            _refuse(f"the layer {kind}")
        method(config)

    def _InputLayer(self, config):
        pass

    def _Dense(self, config):
        name = config["name"]
        self.nodes.append({
            "op": "FullyConnected", "name": name, "flatten": False,
            "num_hidden": config["units"], "no_bias": not config["use_bias"]})
        self.parameters.append(name + "_weight")
        if config["use_bias"]:
            self.parameters.append(name + "_bias")
        self._activate(config["activation"], name)

    def _Activation(self, config):
        self._activate(config["activation"], config["name"])

    def _Dropout(self, config):
        self.nodes.append({"op": "Dropout", "name": config["name"],
                           "p": config["rate"]})

    def _Flatten(self, config):
        self.nodes.append({"op": "Flatten", "name": config["name"]})

    def _activate(self, kind, name):
        if kind == "linear":
            return
        if kind in ("softmax", "sigmoid"):
            self.nodes.append({"op": kind, "name": name + "_" + kind})
            return
        if kind not in _ACTIVATIONS:
            _refuse(f"the activation {kind}")
        self.nodes.append({"op": "Activation", "name": name + "_activation",
                           "act_type": _ACTIVATIONS[kind]})


def network_of(text, loss):
    """Of a model's JSON and its loss: mxc's network, and the names of its
    parameters in the order of Keras' weights."""
    model = json.loads(text)
    if model["class_name"] != "Sequential":
        _refuse(f"a model of class {model['class_name']}")
    layers = _Layers()
    for layer in model["config"]["layers"]:
        layers.add(layer["class_name"], layer["config"])
    if layers.shape is None:
        raise ValueError("the model does not say how large its input is")
    loss = _SAME.get(loss, loss)
    if loss not in _HEADS:
        raise ValueError(f"the loss {loss} is not covered: there are "
                         + ", ".join(_HEADS))
    head, attributes = _HEADS[loss]
    last = layers.nodes[-1]["op"] if layers.nodes else ""
    if _OF_HEAD[head]:
        if last != _OF_HEAD[head]:
            raise ValueError(f"the loss {loss} is that of a model whose last "
                             f"layer is {_OF_HEAD[head]}")
        layers.nodes.pop()
    nodes = layers.nodes + [{"op": head, "name": "head", **attributes}]
    for node in nodes:
        if node["op"] == "softmax":
            _refuse("softmax before the last layer")
    inputs = {"data": ["N", *layers.shape]}
    return ({"mxc": 1, "name": "keras", "inputs": inputs, "nodes": nodes},
            layers.parameters)


def from_keras(name, array):
    """A weight as mxc has it."""
    return np.ascontiguousarray(array.T if name.endswith("_weight") else array)


to_keras = from_keras  # it is turned back


def optimizer_of(config):
    """Of a serialized optimizer: its name and attributes, and the rate."""
    kind = config["class_name"].split(">")[-1].lower()
    told = config["config"]
    rate = told.get("learning_rate", told.get("lr"))
    if not isinstance(rate, (int, float)):
        raise ValueError("a schedule of the learning rate is not covered: "
                         "trainOptions of MxcEstimator has --lr-schedule")
    attributes = {}
    if kind == "sgd":
        if told.get("momentum"):
            attributes["momentum"] = told["momentum"]
            if told.get("nesterov"):
                kind = "nag"
    elif kind == "adam":
        attributes = {"beta1": told["beta_1"], "beta2": told["beta_2"],
                      "epsilon": told["epsilon"]}
    elif kind == "rmsprop":
        attributes = {"gamma1": told["rho"], "epsilon": told["epsilon"]}
    elif kind == "adagrad":
        attributes = {"eps": told["epsilon"]}
    else:
        raise ValueError(f"the optimizer {kind} is not covered: there are sgd, "
                         "adam, rmsprop and adagrad")
    for name in ("clipnorm", "clipvalue", "global_clipnorm", "weight_decay"):
        if told.get(name):
            raise ValueError(f"{name} of the optimizer is not covered")
    return kind, attributes, float(rate)


def classifies(loss):
    """Whether a model with the loss tells classes apart."""
    return _HEADS[_SAME.get(loss, loss)][0] == "SoftmaxOutput"


def loss_of(loss, labels, said):
    """Keras' value of a loss over all samples."""
    loss, tiny = _SAME.get(loss, loss), 1e-7  # Keras' epsilon
    labels = labels.reshape(len(labels), -1).astype(float)
    if loss.endswith("categorical_crossentropy"):
        if labels.shape[1] == 1:
            labels = np.eye(said.shape[1])[labels[:, 0].astype(int)]
        clipped = np.clip(said, tiny, 1 - tiny)
        return float(-(labels * np.log(clipped)).sum(axis=1).mean())
    if loss == "binary_crossentropy":
        clipped = np.clip(said, tiny, 1 - tiny)
        return float(-(labels * np.log(clipped)
                       + (1 - labels) * np.log(1 - clipped)).mean())
    off = said - labels
    return float((off * off if loss == "mse" else np.abs(off)).mean())
