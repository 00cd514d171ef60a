# SPDX-License-Identifier: Apache-2.0
"""What a user of Elephas finds in mxc_elephas: elephas.sh runs it. Keras says
what a model is, and what it computes.

usage: elephas.py MASTER
"""

import os
import sys

import keras
import numpy as np
from keras.layers import Activation, Conv2D, Dense, Dropout, Flatten, Input
from pyspark import SparkConf, SparkContext
from pyspark.ml import Pipeline

from mxc_elephas import (
    ElephasEstimator, SparkModel, to_data_frame, to_simple_rdd)

sc = SparkContext(conf=SparkConf().setMaster(sys.argv[1]).set(
    "spark.ui.enabled", "false").set(
    "spark.ui.showConsoleProgress", "false").set(
    "spark.executorEnv.PYTHONPATH", os.environ["MXC_PACKAGE"]))
sc.setLogLevel("OFF")
draws = np.random.default_rng(1)
POINTS = draws.uniform(-1, 1, (800, 4)).astype(np.float32)
CLASSES = (POINTS[:, 0] > POINTS[:, 1]).astype(int)
ONES = np.eye(2)[CLASSES]


def compiled(layers, loss, rate=0.1, **sgd):
    model = keras.Sequential([Input((4,)), *layers])
    model.compile(keras.optimizers.SGD(rate, **sgd), loss, metrics=["acc"])
    return model


def classifier():
    return [Dense(16), Activation("relu"), Dropout(0.1),
            Dense(8, activation="tanh"), Flatten(),
            Dense(2, activation="softmax")]


def refuses(sentence, work):
    try:
        work()
    except ValueError as error:
        assert sentence in str(error) and "\n" not in str(error), error
        return
    raise AssertionError(f"no error, expected: {sentence}")


def test_spark_model():
    """What it learns is good, and Keras says of it the same."""
    rdd = to_simple_rdd(sc, POINTS, ONES)
    for mode in "synchronous", "asynchronous":
        network = compiled(classifier(), "categorical_crossentropy", 0.2,
                           momentum=0.9)
        model = SparkModel(network, frequency="epoch", mode=mode)
        model.fit(rdd, epochs=10, batch_size=32, verbose=0, validation_split=0.1)
        loss, accuracy = model.evaluate(POINTS, ONES, verbose=0)
        assert accuracy > 0.95, (mode, accuracy)
        said = np.asarray(network.predict(POINTS, verbose=0))
        assert np.allclose(np.stack(model.predict(POINTS)), said, atol=1e-5)
        expected = -(ONES * np.log(said)).sum(axis=1).mean()
        assert abs(loss - expected) < 1e-5
        held = model.training_histories[0][-1]["validation"]
        assert held["metrics"]["accuracy"] > 0.9


def test_steps():
    """A step of all rows, by two workers, is Keras' by its formulas."""
    sums = POINTS @ [[1.0], [2], [0], [-1]] + 0.5
    for loss, labels, activation, slope in (
            ("mse", sums, "linear", lambda p, y: 2 * (p - y)),
            ("mae", sums, "linear", lambda p, y: np.sign(p - y)),
            ("binary_crossentropy", CLASSES[:, None], "sigmoid",
             lambda p, y: 1 / (1 + np.exp(-p)) - y)):
        network = compiled([Dense(1, activation=activation)], loss, 0.3)
        weight, bias = network.get_weights()
        model = SparkModel(network, mode="synchronous", num_workers=2)
        model.fit(to_simple_rdd(sc, POINTS, labels.astype(np.float32)),
                  epochs=1, batch_size=len(POINTS))
        off = slope(POINTS @ weight + bias, labels)
        found = network.get_weights()
        assert np.allclose(found[0], weight - 0.3 * POINTS.T @ off / len(POINTS),
                           atol=1e-5), loss
        assert np.allclose(found[1], bias - 0.3 * off.mean(axis=0), atol=1e-5)


def test_estimator():
    estimator = ElephasEstimator()
    estimator.set_keras_model_config(
        compiled(classifier(), "categorical_crossentropy").to_json())
    estimator.set_optimizer_config(keras.optimizers.serialize(
        keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True)))
    estimator.set_mode("synchronous")
    estimator.set_loss("categorical_crossentropy")
    estimator.set_metrics(["acc"])
    estimator.set_epochs(10)
    estimator.set_batch_size(32)
    estimator.set_num_workers(2)
    estimator.set_categorical_labels(True)
    estimator.set_nb_classes(2)
    frame = to_data_frame(sc, POINTS, ONES, categorical=True)
    said = Pipeline(stages=[estimator]).fit(frame).transform(frame)
    assert said.columns == ["features", "label", "prediction"]
    rows = said.collect()
    right = [np.argmax(row.prediction) == row.label for row in rows]
    assert np.mean(right) > 0.95, np.mean(right)
    regression = ElephasEstimator(
        keras_model_config=compiled([Dense(1)], "mse").to_json(), loss="mse",
        optimizer_config=keras.optimizers.serialize(keras.optimizers.Adam(0.05)),
        epochs=20, outputCol="said")
    sums = POINTS[:, 0] - POINTS[:, 2]
    frame = to_data_frame(sc, POINTS, sums)
    rows = regression.fit(frame).transform(frame).collect()
    off = np.array([row.said - row.label for row in rows])
    assert np.sqrt((off * off).mean()) < 0.02, np.sqrt((off * off).mean())


def test_what_is_not_covered():
    crossentropy = "categorical_crossentropy"
    fit = lambda model: lambda: SparkModel(model, mode="synchronous").fit(
        to_simple_rdd(sc, POINTS, ONES))
    pictures = keras.Sequential([Input((2, 2, 1)), Conv2D(2, 2), Flatten(),
                                 Dense(2, activation="softmax")])
    pictures.compile("sgd", crossentropy)
    refuses("the layer Conv2D is not covered", fit(pictures))
    refuses("the loss huber is not covered", fit(compiled([Dense(1)], "huber")))
    refuses("whose last layer is softmax", fit(compiled([Dense(2)], crossentropy)))
    refuses("clipnorm of the optimizer is not covered",
            fit(compiled(classifier(), crossentropy, clipnorm=1.0)))
    refuses("is not compiled",
            lambda: SparkModel(keras.Sequential([Input((4,)), Dense(1)])))
    refuses("has not been trained", lambda: SparkModel(
        compiled(classifier(), crossentropy)).predict(POINTS))
    refuses("labels that are other probabilities are not covered",
            lambda: SparkModel(compiled(classifier(), crossentropy)).fit(
                to_simple_rdd(sc, POINTS, ONES * 0.8 + 0.1)))


tests = [test_spark_model, test_steps, test_estimator,
         test_what_is_not_covered]
for test in tests[:1] if sys.argv[1].startswith("local-cluster") else tests:
    test()
    print(f"{sys.argv[1]}: {test.__name__[5:]}", flush=True)
sc.stop()
