# SPDX-License-Identifier: Apache-2.0
"""Elephas' names, trained by mxc: an example of Elephas runs with these imports
in place of its own.

    from mxc_elephas import SparkModel, to_simple_rdd
    model = SparkModel(keras_model, mode="synchronous")
    model.fit(to_simple_rdd(sc, x, y), epochs=5, batch_size=64,
              validation_split=0.1)
    loss, accuracy = model.evaluate(x_test, y_test)

The Keras model says what it is (mxc_keras.py: sequential models of dense
layers) and gets back what was learned; Keras computes nothing. Synchronous
training makes the steps that Keras makes in one process with this batch size,
of which each worker has a share, where Elephas averages weights after an epoch;
asynchronous and hogwild are dist_async, whose workers push whole batches.
Workers are one barrier stage: num_workers, else the RDD's partitions, need as
many free slots. HyperParamModel, MLlib's models and Hugging Face's are not
covered.
"""

import os
import sys
import tempfile

import numpy as np
import pyarrow as pa
from pyspark import keyword_only
from pyspark.ml import Estimator, Model
from pyspark.ml.functions import vector_to_array
from pyspark.ml.linalg import Vectors
from pyspark.ml.param import Param, Params
from pyspark.ml.param.shared import HasFeaturesCol, HasLabelCol, HasOutputCol
from pyspark.sql import SparkSession

import mxc_keras
import mxc_spark_columns
import mxc_spark_ml
import mxc_spark_stage as stage
from mxc_spark_ml import MxcEstimator, MxcModel

_CHUNK = 512  # pairs of a batch on their way to a file


def to_simple_rdd(sc, features, labels):
    """An RDD of pairs of NumPy arrays."""
    return sc.parallelize(list(zip(features, labels)))


def to_data_frame(sc, features, labels, categorical=False):
    """A data frame of features and label; categorical: labels are rows of
    zeros and a one."""
    if categorical:
        labels = np.argmax(labels, axis=1)
    rows = [(Vectors.dense(np.ravel(x).astype(float)), float(y))
            for x, y in zip(features, labels)]
    return SparkSession.builder.getOrCreate().createDataFrame(
        rows, ["features", "label"])


def _class_of(label):
    """The number of a class that is a row of zeros and a one."""
    label = np.ravel(label)
    if len(label) == 1:
        return label[0]
    if label.max() != 1 or np.count_nonzero(label) != 1:
        raise stage.Refused("a label is no row of zeros and a one; labels that "
                            "are other probabilities are not covered")
    return label.argmax()


class _Pairs:
    """Pairs of arrays as the batches that stage.Fit takes. Executors get it."""

    def __init__(self, fit, held, classes):
        self.fit, self.held, self.classes = fit, held, classes

    def __call__(self, pairs):
        for batch in self.fit(self._batches(pairs)):
            yield from (tuple(row.values()) for row in batch.to_pylist())

    def _batches(self, pairs):
        chunk, seen = [], 0
        for pair in pairs:
            chunk.append(pair)
            if len(chunk) == _CHUNK:
                yield self._batch(chunk, seen)
                seen += len(chunk)
                chunk = []
        if chunk:
            yield self._batch(chunk, seen)

    def _batch(self, chunk, seen):
        features = np.stack([np.ravel(x) for x, _ in chunk])
        labels = [y for _, y in chunk]
        if self.classes:
            labels = [_class_of(y) for y in labels]
        columns = [np.asarray(features, np.float32),
                   np.asarray(labels, np.float32).reshape(len(chunk), -1)]
        # Of every so many rows one is kept for validation.
        validates = np.floor((seen + np.arange(len(chunk)) + 1) * self.held) > (
            np.floor((seen + np.arange(len(chunk))) * self.held))
        return pa.RecordBatch.from_arrays(
            [_list_column(columns[0]),
             pa.array(columns[1][:, 0]) if columns[1].shape[1] == 1
             else _list_column(columns[1]), pa.array(validates)],
            names=[stage.FEATURES, stage.LABEL, stage.VALIDATES])


def _list_column(rows):
    offsets = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets),
                                    pa.array(rows.reshape(-1)))


def _estimator(text, loss, optimizer, workers, mode, epochs, batch_size):
    """Of a Keras model's JSON: the estimator that trains it, and the names of
    the parameters in the order of Keras' weights."""
    if mode not in ("synchronous", "asynchronous", "hogwild"):
        raise ValueError(f"mode is '{mode}', expected synchronous, "
                         "asynchronous or hogwild")
    network, names = mxc_keras.network_of(text, loss)
    kind, attributes, rate = mxc_keras.optimizer_of(optimizer)
    alone = mode == "synchronous"
    found = MxcEstimator(
        network=network, optimizer=kind, optimizerOptions=attributes,
        learningRate=rate, epochs=epochs, workers=workers,
        kvstore="dist_sync" if alone else "dist_async",
        batchSize=max(1, batch_size // workers) if alone else batch_size)
    return found, names


def _optimizer_config(optimizer):
    return {"class_name": type(optimizer).__name__,
            "config": optimizer.get_config()}


class SparkModel:
    """A compiled Keras model that learns on an RDD of pairs."""

    def __init__(self, model, mode="asynchronous", frequency="epoch",
                 num_workers=None, batch_size=32, custom_objects=None,
                 **others):
        del frequency, custom_objects, others  # nothing here depends on them
        if getattr(model, "loss", None) is None:
            raise ValueError("the Keras model is not compiled")
        self.master_network = model
        self.num_workers, self.batch_size = num_workers, batch_size
        self.mode = mode
        self.training_histories = []
        self._model = None

    def fit(self, rdd, epochs=1, batch_size=None, verbose=0,
            validation_split=0.0):
        """Trains; the Keras model has the weights then."""
        if self.num_workers:
            rdd = rdd.repartition(self.num_workers)
        workers = rdd.getNumPartitions()
        network = self.master_network
        estimator, names = _estimator(
            network.to_json(), network.loss,
            _optimizer_config(network.optimizer), workers, self.mode, epochs,
            batch_size or self.batch_size)
        with tempfile.TemporaryDirectory(prefix="mxc-") as folder:
            begin = os.path.join(folder, "begin.npz")
            np.savez(begin, **{
                name: mxc_keras.from_keras(name, weight)
                for name, weight in zip(names, network.get_weights())})
            estimator.setInitialParams(begin)
            fit = estimator.work(rdd.context, workers)
        mxc_spark_ml.ship(rdd.context, mxc_spark_columns, mxc_spark_ml,
                          mxc_keras, sys.modules[__name__])
        work = _Pairs(fit, validation_split,
                      mxc_keras.classifies(network.loss))
        rows = estimator.collect(
            lambda: rdd.barrier().mapPartitions(work).collect())
        self._model = MxcModel().learned(stage.join(rows))
        self.training_histories.append(self._model.epochs)
        if verbose:
            print(f"mxc: {self._model.epochs[-1]}")
        learned = self._model.arrays()
        network.set_weights([mxc_keras.to_keras(name, learned[name])
                             for name in names])

    def _trained(self):
        if self._model is None:
            raise ValueError("the model has not been trained")
        return self._model

    def predict(self, data):
        """What the model says of an array or of an RDD of arrays, as a list."""
        model = self._trained()
        if not hasattr(data, "mapPartitions"):
            data = SparkSession.builder.getOrCreate().sparkContext.parallelize(
                list(data))
        work = model.computation(data.context)

        def said(arrays):
            chunk = [np.ravel(array) for array in arrays]
            return list(work.said(np.asarray(np.stack(chunk), np.float32))
                        ) if chunk else []

        return data.mapPartitions(said).collect()

    def evaluate(self, x, y, **_):
        """[loss, accuracy] of a classifier, [loss] of others, by Keras'
        definitions."""
        said = np.stack(self.predict(x)).astype(float)
        loss = mxc_keras.loss_of(self.master_network.loss, np.asarray(y), said)
        if said.shape[1] == 1 or not mxc_keras.classifies(
                self.master_network.loss):
            return [loss]
        classes = np.array([_class_of(label) for label in y])
        return [loss, float((said.argmax(axis=1) == classes).mean())]

    def save(self, prefix):
        """The files for mxc, as MxcModel.export writes them."""
        self._trained().export(prefix)


class AsynchronousSparkModel(SparkModel):
    """As newer versions of Elephas call it."""


class _Settings(HasFeaturesCol, HasLabelCol, HasOutputCol):
    keras_model_config = Param(Params._dummy(), "keras_model_config",
                               "a Keras model's JSON")
    optimizer_config = Param(Params._dummy(), "optimizer_config",
                             "a serialized Keras optimizer")
    mode = Param(Params._dummy(), "mode", "synchronous, asynchronous, hogwild")
    frequency = Param(Params._dummy(), "frequency", "without effect")
    loss = Param(Params._dummy(), "loss", "as Keras names it")
    metrics = Param(Params._dummy(), "metrics", "without effect")
    epochs = Param(Params._dummy(), "epochs", "passes over the rows")
    batch_size = Param(Params._dummy(), "batch_size", "rows of a step")
    num_workers = Param(Params._dummy(), "num_workers", "processes")
    verbosity = Param(Params._dummy(), "verbosity", "without effect")
    validation_split = Param(Params._dummy(), "validation_split",
                             "share of the rows that is kept for validation")
    categorical_labels = Param(Params._dummy(), "categorical_labels",
                               "without effect: the loss says so")
    nb_classes = Param(Params._dummy(), "nb_classes",
                       "without effect: the model says so")
    custom_objects = Param(Params._dummy(), "custom_objects", "without effect")


def _add_setters(cls):
    """set_epochs, get_epochs, … in Elephas' spelling."""
    for name in list(vars(_Settings)):
        if isinstance(getattr(cls, name), Param):
            setattr(cls, "set_" + name, lambda self, value, name=name:
                    self._set(**{name: value}))
            setattr(cls, "get_" + name,
                    lambda self, name=name: self.getOrDefault(name))
    cls.setFeaturesCol = lambda self, value: self._set(featuresCol=value)
    cls.setLabelCol = lambda self, value: self._set(labelCol=value)
    cls.setOutputCol = lambda self, value: self._set(outputCol=value)


class ElephasEstimator(Estimator, _Settings):
    """Elephas' estimator: trains, by MxcEstimator, what Keras has described."""

    @keyword_only
    def __init__(self, **params):
        super().__init__()
        self._setDefault(outputCol="prediction", mode="asynchronous", epochs=10,
                         batch_size=32, num_workers=1, validation_split=0.1,
                         optimizer_config={"class_name": "SGD",
                                           "config": {"learning_rate": 0.01}})
        self._set(**params)

    def _fit(self, frame):
        get = self.getOrDefault
        estimator, _ = _estimator(
            get("keras_model_config"), get("loss"), get("optimizer_config"),
            get("num_workers"), get("mode"), get("epochs"), get("batch_size"))
        estimator._set(featuresCol=self.getFeaturesCol(),
                       labelCol=self.getLabelCol(),
                       validationSplit=get("validation_split"))
        return ElephasTransformer(estimator.fit(frame), self.getOutputCol())


class ElephasTransformer(Model):
    """Adds one column: the probabilities of classes, or a number."""

    def __init__(self, model, output):
        super().__init__()
        self.model, self._output = model, output

    def _transform(self, frame):
        said = self.model.copy({
            self.model.predictionCol: "mxc prediction",
            self.model.rawPredictionCol: "",
            self.model.probabilityCol: "mxc probability"}).transform(frame)
        column = said["mxc prediction"]
        if "mxc probability" in said.columns:
            column = vector_to_array(said["mxc probability"])
        return said.select(*frame.columns, column.alias(self._output))


_add_setters(ElephasEstimator)
