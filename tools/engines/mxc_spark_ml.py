# SPDX-License-Identifier: Apache-2.0
"""mxc as a stage of Spark ML: an estimator that trains a network on a data
frame, and the model that it makes, which adds what the network says.

    from mxc_spark_ml import MxcEstimator
    estimator = MxcEstimator(network="net.json", epochs=5, batchSize=64,
                             learningRate=0.1, momentum=0.9, workers=2)
    model = Pipeline(stages=[scaler, estimator]).fit(frame)
    model.transform(frame).select("prediction", "probability")

Executors have the Python package mxc and pyarrow. Workers are the tasks of one
barrier stage, which needs as many free slots; rows go to them as Arrow batches
and lie in files there, in an order that the data frame's partitions decide.
The driver has the network and what was learned, never the rows.
"""

import hashlib
import json
import os
import tempfile

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.ml import Estimator, Model
from pyspark.ml.linalg import VectorUDT
from pyspark.ml.param import Param, Params, TypeConverters
from pyspark.ml.param.shared import (
    HasFeaturesCol, HasHandleInvalid, HasInputCols, HasLabelCol,
    HasPredictionCol, HasProbabilityCol, HasRawPredictionCol, HasSeed,
    HasValidationIndicatorCol)
from pyspark.ml.util import (
    DefaultParamsReadable, DefaultParamsReader, DefaultParamsWritable,
    DefaultParamsWriter, MLReadable, MLReader, MLWritable, MLWriter)
from pyspark.sql import functions, types

import mxc_job
import mxc_spark_columns as columns
import mxc_spark_stage as stage


def _text(value):
    """A network as a dict is its JSON."""
    if isinstance(value, dict):
        return json.dumps(value)
    return TypeConverters.toString(value)


def _settings(value):
    if not isinstance(value, dict):
        raise TypeError(f"{value!r} is no dict of settings")
    return {str(name): setting for name, setting in value.items()}


_int, _float, _string = (TypeConverters.toInt, TypeConverters.toFloat,
                         TypeConverters.toString)


class _Common(HasFeaturesCol, HasInputCols, HasPredictionCol, HasProbabilityCol,
              HasRawPredictionCol, HasHandleInvalid):
    """What an estimator hands to its model."""

    threads = Param(Params._dummy(), "threads",
                    "of a task (0: spark.task.cpus)", _int)

    def __init__(self, **params):
        super().__init__()
        self._setDefault(threads=0, handleInvalid="error",
                         rawPredictionCol="rawPrediction",
                         probabilityCol="probability")
        self._take(params)

    def _take(self, params):
        for name in params:
            if not self.hasParam(name):
                known = ", ".join(sorted(param.name for param in self.params))
                raise TypeError(f"{type(self).__name__} has no param '{name}'; "
                                f"it has {known}")
        self._set(**params)

    def _features(self, frame):
        """The features of a row as an array, null where any is null."""
        if self.isSet("inputCols"):
            return functions.concat(*(columns.as_array(frame, name)
                                      for name in self.getInputCols()))
        return columns.as_array(frame, self.getFeaturesCol())

    def _skips(self):
        how = self.getOrDefault("handleInvalid")
        if how not in ("error", "skip"):
            raise ValueError(f"handleInvalid is '{how}', expected error or "
                             "skip")
        return how == "skip"

    def _threads_on(self, context):
        told = int(context.getConf().get("spark.task.cpus", "1"))
        return self.getOrDefault("threads") or told


class MxcEstimator(Estimator, _Common, HasLabelCol, HasSeed,
                   HasValidationIndicatorCol, DefaultParamsReadable,
                   DefaultParamsWritable):
    """Trains a network. Its Params are the constructor's keywords, most of them
    options of `mxc train`, of which trainOptions takes all others."""

    network = Param(Params._dummy(), "network", "a file that mxc train takes, "
                    "or the text of its JSON", _text)
    initialParams = Param(Params._dummy(), "initialParams",
                          "a file of parameters to begin with", _string)
    inputShape = Param(Params._dummy(), "inputShape", "of a sample, where "
                       "the network does not say: [1, 28, 28]",
                       TypeConverters.toListInt)
    epochs = Param(Params._dummy(), "epochs", "passes over the rows", _int)
    batchSize = Param(Params._dummy(), "batchSize",
                      "rows of a step, of each worker", _int)
    learningRate = Param(Params._dummy(), "learningRate", "of the optimizer",
                         _float)
    learningRateSchedule = Param(Params._dummy(), "learningRateSchedule",
                                 "as mxc train --lr-schedule", _string)
    optimizer = Param(Params._dummy(), "optimizer", "sgd, adam, …", _string)
    momentum = Param(Params._dummy(), "momentum", "of the optimizer", _float)
    weightDecay = Param(Params._dummy(), "weightDecay", "of the optimizer",
                        _float)
    optimizerOptions = Param(Params._dummy(), "optimizerOptions",
                             "others of its attributes, a dict", _settings)
    initializer = Param(Params._dummy(), "initializer",
                        "of parameters, as mxc train --init", _string)
    loss = Param(Params._dummy(), "loss", "of a network without a loss head, "
                 "as mxc train --loss", _string)
    numClasses = Param(Params._dummy(), "numClasses", "outputs that the "
                       "network's last layer gets", _int)
    validationSplit = Param(Params._dummy(), "validationSplit",
                            "share of the rows that is kept for validation",
                            _float)
    earlyStop = Param(Params._dummy(), "earlyStop", "as mxc train "
                      "--early-stop: patience=3; of one worker", _string)
    workers = Param(Params._dummy(), "workers", "processes that train together",
                    _int)
    kvstore = Param(Params._dummy(), "kvstore", "how workers do: dist_sync, "
                    "dist_async, allreduce, …", _string)
    restarts = Param(Params._dummy(), "restarts", "how often training begins "
                     "again when a process dies", _int)
    target = Param(Params._dummy(), "target", "what the model is compiled for "
                   "(native: the machine of worker 0)", _string)
    trainOptions = Param(Params._dummy(), "trainOptions", "more words for "
                         "mxc train", TypeConverters.toListString)

    # Params that are options of mxc train.
    _OPTIONS = {
        "epochs": "--epochs", "batchSize": "--batch-size",
        "learningRate": "--lr", "learningRateSchedule": "--lr-schedule",
        "optimizer": "--optimizer", "initializer": "--init", "loss": "--loss",
        "numClasses": "--classes", "earlyStop": "--early-stop",
        "seed": "--seed"}

    def __init__(self, **params):
        super().__init__()
        self._setDefault(epochs=1, batchSize=64, learningRate=0.01,
                         optimizer="sgd", optimizerOptions={}, seed=0,
                         validationSplit=0.0, workers=1, kvstore="dist_sync",
                         restarts=2, target="native", trainOptions=[])
        self._take(params)

    def _fit(self, frame):
        workers = self.getOrDefault("workers")
        if workers < 1:
            raise ValueError(f"workers is {workers}, expected 1 or more")
        context = frame.sparkSession.sparkContext
        ship(context)
        rows = self._dealt(frame, workers)
        work = self.work(context, workers)
        found = self.collect(lambda: rows.mapInArrow(
            work, stage.RESULT_SCHEMA, barrier=True).collect())
        model = MxcModel().learned(stage.join(found))
        model._resetUid(self.uid.replace("Estimator", "Model"))
        return self._copyValues(model)

    def work(self, context, workers):
        """What each task of a barrier stage of so many does."""
        return stage.Fit(
            self._files(), self._shape(), self.getOrDefault("batchSize"),
            self._words(context, workers),
            ["--batch", stage.batches_of(256), "--target",
             self.getOrDefault("target")],
            mxc_job.make_secret())

    def _dealt(self, frame, workers):
        """Rows in their order, by turns to the workers; those that validate go
        to worker 0, which scores."""
        features, label = self._features(frame), columns.as_label(
            frame, self.getLabelCol())
        order = functions.monotonically_increasing_id()
        rows = frame.select(
            features.alias(stage.FEATURES), label.alias(stage.LABEL),
            self._validates(frame).alias(stage.VALIDATES), order.alias("order"))
        if self._skips():
            rows = rows.dropna(subset=[stage.FEATURES, stage.LABEL])
        turns = functions.array(
            *map(functions.lit, _partition_keys(frame.sparkSession, workers)))
        turn = functions.pmod(functions.col("order"), functions.lit(workers))
        validates = functions.col(stage.VALIDATES)
        key = functions.when(validates, turns[0]).otherwise(
            turns[turn.cast("int")])
        dealt = rows.repartition(workers, key)
        return dealt.sortWithinPartitions("order").drop("order")

    def _validates(self, frame):
        share = self.getOrDefault("validationSplit")
        if not 0 <= share < 1:
            raise ValueError(f"validationSplit is {share:g}, expected 0 or "
                             "more and less than 1")
        if self.isSet("validationIndicatorCol"):
            name = self.getOrDefault("validationIndicatorCol")
            if not isinstance(columns.field(frame, name), types.BooleanType):
                raise ValueError(f"column '{name}' is not boolean")
            return functions.coalesce(frame[f"`{name}`"], functions.lit(False))
        if share == 0:
            return functions.lit(False)
        return functions.rand(self.getOrDefault("seed")) < share

    def _files(self):
        if not self.isDefined("network"):
            raise ValueError("the estimator has no network")
        network = self.getOrDefault("network")
        if network.lstrip().startswith("{"):
            files = {"network": ("network.json", network.encode())}
        else:
            files = {"network": _file(network, "network")}
        if self.isDefined("initialParams"):
            files["params"] = _file(self.getOrDefault("initialParams"), "begin")
        return files

    def _shape(self):
        """Of a sample: as the estimator says, else as the network does."""
        if self.isDefined("inputShape"):
            return tuple(self.getOrDefault("inputShape"))
        name, content = self._files()["network"]
        if not name.endswith(".json"):
            return None
        try:
            inputs = json.loads(content)["inputs"]
            shape = tuple(next(iter(inputs.values()))[1:])
        except (ValueError, KeyError, AttributeError, TypeError, StopIteration):
            return None  # the network's own words are mxc train's to judge
        return shape if shape and all(
            isinstance(side, int) for side in shape) else None

    def _words(self, context, workers):
        words = []
        for name, option in self._OPTIONS.items():
            if self.isDefined(name):
                words += [option, str(self.getOrDefault(name))]
        attributes = dict(self.getOrDefault("optimizerOptions"))
        for name, attribute in (("momentum", "momentum"),
                                ("weightDecay", "wd")):
            if self.isDefined(name):
                attributes[attribute] = self.getOrDefault(name)
        for name, value in attributes.items():
            words += ["--opt", f"{name}={value}"]
        if workers > 1:
            words += ["--kvstore", self.getOrDefault("kvstore")]
        return words + [
            "--threads", str(self._threads_on(context)), "--on-bad-record",
            "skip" if self._skips() else "stop",
            *self.getOrDefault("trainOptions")]

    def collect(self, run):
        """What the workers have yielded, which `run` starts and waits for. When
        a process dies, all begin again."""
        for left in range(self.getOrDefault("restarts"), -1, -1):
            try:
                found = run()
                break
            except (PySparkException, Py4JError) as error:
                _explain(error)
                if left == 0 or "barrier" not in str(error):
                    raise
                print(f"mxc: a process died; {left} restarts are left")
        refused = [bytes(body).decode() for kind, _, body in found
                   if kind == "refused"]
        if not found:  # Spark starts no task for a frame that it knows is empty
            refused = [stage.NO_ROWS]
        if refused:
            raise ValueError("; ".join(_without_echoes(refused)))
        return found


def _without_echoes(sentences):
    """Each once, not again behind the name of the worker that has said it."""
    once = list(dict.fromkeys(sentences))
    return [one for one in once if not any(
        one != other and one.endswith(other) for other in once)]


def _explain(error):
    """What a user can mend, in one sentence."""
    told = str(error)
    if "SPARK-24819" in told:
        raise ValueError("there are fewer slots (cores of executors) than "
                         "workers, which run all at once") from None
    if "No module named 'mxc'" in told:
        raise ValueError("executors have no Python package mxc") from None


def _file(path, name):
    """Its name, with the ending that says what it is, and its bytes."""
    try:
        with open(path, "rb") as file:
            return name + os.path.splitext(path)[1], file.read()
    except OSError as error:
        raise ValueError(f"'{path}': {error.strerror}") from None


def _partition_keys(spark, count):
    """Of each partition a number that repartition puts there."""
    numbers = spark.range(64 * count).selectExpr(
        "cast(id as int) as key", f"pmod(hash(cast(id as int)), {count}) as at")
    keys = {row["at"]: row["key"] for row in numbers.collect()}
    return [keys[partition] for partition in range(count)]


_shipped = set()


def ship(context, *more):
    """Gives executors what these modules, and `more` of them, ask of each
    other."""
    for module in (mxc_job, stage, *more):
        if (context.applicationId, module.__name__) not in _shipped:
            context.addPyFile(module.__file__)
            _shipped.add((context.applicationId, module.__name__))


class MxcModel(Model, _Common, MLReadable, MLWritable):
    """A network that has learned. `transform` adds its predictions: of a
    classifier rawPrediction, probability and prediction, of others prediction.

    artifact, network, parameters: the files as bytes: what runs, MXNet's
        symbol, .params.
    epochs: of training, as mxc train --json says them.
    """

    def __init__(self, **params):
        super().__init__(**params)
        self.artifact = self.network = self.parameters = b""
        self.epochs, self._head, self._sent = [], {}, None

    def learned(self, found):
        self.artifact = found["artifact"]
        self.network, self.parameters = found["network"], found["params"]
        self.epochs = json.loads(found["epochs"])
        self._head = json.loads(found["head"])
        return self

    def arrays(self):
        """What was learned, NumPy arrays by name."""
        import mxc.mxnet as mx

        with tempfile.NamedTemporaryFile(suffix=".params") as file:
            file.write(self.parameters)
            file.flush()
            return {name.split(":")[1]: value.asnumpy()
                    for name, value in mx.nd.load(file.name).items()}

    def computation(self, context):
        """What tasks ask for what the model says of rows: .said(array)."""
        ship(context)
        return stage.Transform(
            *self._broadcast(context), self._head, [], [],
            self._threads_on(context), False)

    def export(self, prefix):
        """Writes the files for mxc, on the driver: PREFIX.mxa,
        PREFIX-symbol.json, PREFIX-0000.params; all of them, or none."""
        if not self.artifact:
            raise ValueError("the model has learned nothing")
        mxc_job.write_together({prefix + ".mxa": self.artifact,
                                prefix + "-symbol.json": self.network,
                                prefix + "-0000.params": self.parameters})

    def _columns(self):
        """What is added, in order: name and type."""
        prediction = self.getPredictionCol()
        kind, width = self._head["kind"], self._head["width"]
        if kind == "values":
            return [(prediction, types.DoubleType() if width == 1 else
                     types.ArrayType(types.DoubleType()))]
        found = [(self.getRawPredictionCol(), VectorUDT())]
        if kind == "classes":
            found.append((self.getProbabilityCol(), VectorUDT()))
        return [*found, (prediction, types.DoubleType())]

    def _transform(self, frame):
        if not self.artifact:
            raise ValueError("the model has learned nothing")
        context = frame.sparkSession.sparkContext
        ship(context)
        added = [(name, kind) for name, kind in self._columns() if name]
        for name, _ in added:
            if name in frame.columns:
                raise ValueError(f"there is a column '{name}' already")
        schema = types.StructType(
            frame.schema.fields
            + [types.StructField(name, kind) for name, kind in added])
        transform = stage.Transform(
            *self._broadcast(context), self._head,
            [name for name, _ in self._columns()], frame.columns,
            self._threads_on(context), self._skips())
        rows = frame.select("*", self._features(frame).alias(stage.FEATURES))
        return rows.mapInArrow(transform, schema)

    def _broadcast(self, context):
        """The artifact's digest, and where executors find it."""
        if self._sent is None or self._sent[0] != context.applicationId:
            self._sent = (context.applicationId,
                          hashlib.sha256(self.artifact).hexdigest(),
                          context.broadcast(self.artifact))
        return self._sent[1:]

    def write(self):
        return _ModelWriter(self)

    @classmethod
    def read(cls):
        return _ModelReader(cls)


class _ModelWriter(MLWriter):
    """Params as Spark writes them; beside them a table of parts of files."""

    def __init__(self, model):
        super().__init__()
        self._model = model

    def saveImpl(self, path):
        model = self._model
        DefaultParamsWriter.saveMetadata(model, path, self.sc)
        found = {"artifact": model.artifact, "network": model.network,
                 "params": model.parameters,
                 "epochs": json.dumps(model.epochs).encode(),
                 "head": json.dumps(model._head).encode()}
        rows = [row for kind, body in found.items()
                for row in stage.parts(kind, body)]
        table = self.sparkSession.createDataFrame(rows, stage.RESULT_SCHEMA)
        table.write.parquet(os.path.join(path, "files"))


class _ModelReader(MLReader):
    def __init__(self, cls):
        super().__init__()
        self._cls = cls

    def load(self, path):
        metadata = DefaultParamsReader.loadMetadata(path, self.sc)
        rows = self.sparkSession.read.parquet(os.path.join(path, "files"))
        model = self._cls().learned(stage.join(rows.collect()))
        model._resetUid(metadata["uid"])
        DefaultParamsReader.getAndSetParams(model, metadata)
        return model


def _add_accessors(cls):
    """setEpochs, getEpochs, … as of Spark's own stages."""
    for param in cls().params:
        name, title = param.name, param.name[0].upper() + param.name[1:]
        if not hasattr(cls, "set" + title):
            setattr(cls, "set" + title,
                    lambda self, value, name=name: self._set(**{name: value}))
        if not hasattr(cls, "get" + title):
            setattr(cls, "get" + title,
                    lambda self, name=name: self.getOrDefault(name))


for _cls in (MxcEstimator, MxcModel):
    _add_accessors(_cls)
