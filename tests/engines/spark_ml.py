# SPDX-License-Identifier: Apache-2.0
"""What a user of MxcEstimator relies on: spark_ml.sh runs it.

usage: spark_ml.py MASTER FOLDER [TEST…]
"""

import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import threading
import time

import numpy as np
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import (
    MulticlassClassificationEvaluator, RegressionEvaluator)
from pyspark.ml.feature import StandardScaler
from pyspark.ml.linalg import Vectors
from pyspark.ml.tuning import (
    CrossValidator, CrossValidatorModel, ParamGridBuilder)
from pyspark.sql import SparkSession, functions

from mxc_spark_ml import MxcEstimator, MxcModel

MASTER, FOLDER, *ONLY = sys.argv[1:]
PACKAGE = os.environ["MXC_PACKAGE"]

CLASSIFIER = {
    "mxc": 1, "name": "larger", "inputs": {"data": ["N", 3]},
    "nodes": [{"op": "FullyConnected", "name": "fc", "num_hidden": 2},
              {"op": "SoftmaxOutput", "name": "softmax"}]}
REGRESSION = {
    "mxc": 1, "name": "sum", "inputs": {"data": ["N", 2]},
    "nodes": [{"op": "FullyConnected", "name": "fc", "num_hidden": 1},
              {"op": "LinearRegressionOutput", "name": "out"}]}


def session():
    builder = SparkSession.builder.master(MASTER)
    for name, value in {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.default.parallelism": "2",
            "spark.executorEnv.MXC_SPARK_TEST": FOLDER,
            "spark.executorEnv.PYTHONPATH": PACKAGE}.items():
        builder = builder.config(name, value)
    found = builder.getOrCreate()
    found.sparkContext.setLogLevel("OFF")
    return found


os.environ["MXC_SPARK_TEST"] = FOLDER  # by which own processes are known
spark = session()
draws = np.random.default_rng(1)
POINTS = draws.uniform(-1, 1, (600, 3)).astype(np.float32)
LABELS = (POINTS[:, 0] > POINTS[:, 1]).astype(np.float32)
SUMS = POINTS[:, 0] * 2 - POINTS[:, 1] + 0.25


def vector(point):
    """Dense or sparse, as features come from Spark's stages."""
    if point[0] > 0:
        return Vectors.dense(point)
    return Vectors.sparse(3, [0, 1, 2], point)


FRAME = spark.createDataFrame(
    [(vector(p), p, float(label), float(total), *p[:2])
     for p, label, total in zip(POINTS.tolist(), LABELS, SUMS)],
    ["features", "list", "label", "sum", "a", "b"]).repartition(3).cache()


def estimator(**params):
    settings = dict(network=CLASSIFIER, epochs=8, batchSize=20,
                    learningRate=0.5, seed=3)
    return MxcEstimator(**{**settings, **params})


def refuses(sentence, work):
    """It is what is wrong in one line."""
    try:
        work()
    except (ValueError, TypeError) as error:
        assert sentence in str(error) and "\n" not in str(error), error
        assert str(error).count(sentence) == 1, error
        assert "mxc-spark-" not in str(error), error
        return
    raise AssertionError(f"no error, expected: {sentence}")


def column(frame, name):
    return np.array([np.asarray(row[0]) for row in frame.select(name).collect()])


def test_pipeline():
    stages = [StandardScaler(inputCol="features", outputCol="scaled"),
              estimator(featuresCol="scaled", workers=2)]
    model = Pipeline(stages=stages).fit(FRAME)
    said = model.transform(FRAME).cache()
    accuracy = MulticlassClassificationEvaluator(metricName="accuracy")
    assert accuracy.evaluate(said) > 0.95, accuracy.evaluate(said)
    loss = MulticlassClassificationEvaluator(metricName="logLoss").evaluate(said)
    assert loss < 0.25, loss
    assert model.stages[1].epochs[-1]["epoch"] == 8
    path = os.path.join(FOLDER, "pipeline")
    model.write().overwrite().save(path)
    again = PipelineModel.load(path).transform(FRAME)
    assert (column(again, "probability") == column(said, "probability")).all()
    unlearned = os.path.join(FOLDER, "estimator")
    stages[1].write().overwrite().save(unlearned)
    loaded = MxcEstimator.load(unlearned)
    assert json.loads(loaded.getNetwork()) == CLASSIFIER
    assert loaded.getLearningRate() == 0.5 and loaded.getWorkers() == 2
    assert loaded.uid == stages[1].uid


def test_cross_validator():
    begun = estimator(epochs=4)
    grid = ParamGridBuilder().addGrid(begun.learningRate, [1e-7, 0.5]).addGrid(
        begun.optimizer, ["sgd"]).build()
    search = CrossValidator(
        estimator=Pipeline(stages=[begun]), estimatorParamMaps=grid,
        evaluator=MulticlassClassificationEvaluator(metricName="accuracy"),
        numFolds=2, seed=1)
    found = search.fit(FRAME)
    assert found.avgMetrics[1] > 0.9 > found.avgMetrics[0], found.avgMetrics
    path = os.path.join(FOLDER, "search")
    found.write().overwrite().save(path)
    again = CrossValidatorModel.load(path)
    assert again.avgMetrics == found.avgMetrics
    assert (column(again.transform(FRAME), "prediction")
            == column(found.transform(FRAME), "prediction")).all()


def test_export():
    """Files that mxc takes: all three, or, on a full disk, those that were
    there."""
    model = estimator(epochs=1).fit(FRAME)
    folder = os.path.join(FOLDER, f"exported {MASTER}")
    os.mkdir(folder)
    prefix = os.path.join(folder, "net")
    model.export(prefix)

    def files():
        return {name: pathlib.Path(folder, name).read_bytes()
                for name in os.listdir(folder)}

    written = files()
    assert written == {"net.mxa": model.artifact,
                       "net-symbol.json": model.network,
                       "net-0000.params": model.parameters}
    subprocess.run([PACKAGE + "/mxc/bin/mxc", "compile", prefix +
                    "-symbol.json", "-o", os.path.join(FOLDER, "again.mxa"),
                    "--quiet"], check=True)
    other = model.copy()
    other.artifact, other.network = b"other", b"other"
    other.parameters = bytes(9000)
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8000, limit[1]))
    try:
        other.export(prefix)
    except OSError as error:
        assert "File too large" in str(error), error
    else:
        raise AssertionError("it has room for all")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
    assert files() == written
    refuses("the model has learned nothing", lambda: MxcModel().export(prefix))


def test_values():
    """One worker learns the bytes that mxc train learns of the same rows, and
    executors say what those mean by hand."""
    model = estimator().fit(FRAME)
    points, labels = column(FRAME, "list"), column(FRAME, "label")
    np.save("x.npy", points.astype(np.float32))
    np.save("y.npy", labels.astype(np.float32))
    with open("net.json", "w") as file:
        json.dump(CLASSIFIER, file)
    subprocess.run(
        [PACKAGE + "/mxc/bin/mxc", "train", "net.json", "--data",
         "npy:x.npy,y.npy", "--epochs", "8", "--batch-size", "20", "--lr",
         "0.5", "--seed", "3", "--save", "alone", "--quiet", "--overwrite"],
        check=True)
    with open("alone-0008.params", "rb") as file:
        assert file.read() == model.parameters
    learned = model.arrays()
    raw = points @ learned["fc_weight"].T + learned["fc_bias"]
    raw -= raw.max(axis=1, keepdims=True)
    expected = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    said = model.transform(FRAME).cache()
    assert np.allclose(column(said, "probability"), expected, atol=1e-6)
    assert np.allclose(np.exp(column(said, "rawPrediction")), expected,
                       atol=1e-6)
    assert (column(said, "prediction") == expected.argmax(axis=1)).all()
    lists = model.copy({model.featuresCol: "list", model.rawPredictionCol: "",
                        model.predictionCol: "said"}).transform(FRAME)
    assert lists.columns == [*FRAME.columns, "probability", "said"]
    assert (column(lists, "probability") == column(said, "probability")).all()
    narrow = FRAME.withColumn("features", functions.array("a", "b"))
    try:
        model.transform(narrow).collect()
    except Exception as error:
        assert ("the features column has 2 numbers, and the network takes 3"
                in str(error)), error
    else:
        raise AssertionError("features of another width are taken")


def test_regression():
    model = estimator(network=REGRESSION, inputCols=["a", "b"], labelCol="sum",
                      epochs=60, learningRate=0.2, batchSize=32).fit(FRAME)
    said = model.transform(FRAME)
    error = RegressionEvaluator(labelCol="sum").evaluate(said)
    assert error < 1e-3, error  # rmse; by least squares it is 0
    learned = model.arrays()
    assert np.allclose(learned["fc_weight"], [[2, -1]], atol=2e-3)
    assert np.allclose(learned["fc_bias"], 0.25, atol=2e-3)


def test_validation():
    marked = FRAME.withColumn("held", functions.col("a") > 0.8)
    held = marked.where("held").count()
    model = estimator(validationIndicatorCol="held", epochs=50,
                      learningRate=1e-9, earlyStop="patience=2",
                      ).fit(marked)
    assert 2 <= len(model.epochs) < 50, len(model.epochs)
    accuracy = model.epochs[-1]["validation"]["metrics"]["accuracy"]
    assert abs(accuracy * held - round(accuracy * held)) < 1e-6, accuracy
    split = estimator(validationSplit=0.25, workers=2).fit(FRAME)
    assert split.epochs[-1]["validation"]["metrics"]["accuracy"] > 0.9


def test_what_is_wrong():
    fit = lambda frame=FRAME, **params: lambda: estimator(**params).fit(frame)
    refuses("there is no column 'lable'; the data frame has features, list",
            fit(labelCol="lable"))
    refuses("there are no rows to learn from", fit(FRAME.limit(0)))
    null = FRAME.withColumn("label", functions.expr("nullif(label, 1.0)"))
    refuses("the label column is null in a row", fit(null))
    holes = FRAME.withColumn("list", functions.expr(
        "if(a > 0, array(double(a), null, 0), list)"))
    refuses("the features column holds null in a row",
            fit(holes, featuresCol="list"))
    uneven = FRAME.withColumn("list", functions.expr(
        "if(a > 0, array(double(a)), list)"))
    refuses("numbers in one row and", fit(uneven, featuresCol="list"))
    seven = FRAME.withColumn("label", functions.expr(
        f"if(a = {float(POINTS[:, 0].max())!r}, 7, label)"))  # of one row
    for workers in 1, 2:
        refuses("label 7 is none of the classes 0 to 1",
                fit(seven, workers=workers))
    refuses("the features column has 2 numbers, and the network takes 3",
            fit(inputCols=["a", "b"]))
    refuses("column 'label' holds string; StringIndexer".replace(
        "column 'label' holds string;", "label column 'label' holds strings;"),
            fit(FRAME.withColumn("label", functions.lit("x"))))
    refuses("MxcEstimator has no param 'epoch'", fit(epoch=3))
    refuses("the estimator has no network", lambda: MxcEstimator().fit(FRAME))
    refuses("'none.json': No such file", fit(network="none.json"))
    refuses("optimizer 'sdg' is unknown", fit(optimizer="sdg"))
    refuses("early stop", fit(workers=2, earlyStop="patience=2"))
    refuses("rows are too few for 2 workers", fit(FRAME.limit(1), workers=2))
    refuses("the model has learned nothing",
            lambda: MxcModel().transform(FRAME))
    few = estimator(handleInvalid="skip", epochs=1).fit(null)
    zeros = int((LABELS == 0).sum())
    assert few.epochs[-1]["step"] == -(-zeros // 20), few.epochs


def own_trainings():
    """Processes of mxc-run that this test's tasks have started."""
    mark = f"MXC_SPARK_TEST={FOLDER}".encode()
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            program = os.readlink(f"/proc/{number}/exe")
            with open(f"/proc/{number}/environ", "rb") as file:
                known = mark in file.read().split(b"\0")
        except OSError:
            continue
        if known and program.endswith("/mxc-run"):
            yield int(number)


def test_a_killed_worker():
    """All begin again, and learn what they learn undisturbed."""
    whole = estimator(workers=2, epochs=200)
    expected = whole.fit(FRAME)
    killed = []

    def strike():
        while not killed:
            for number in own_trainings():
                time.sleep(0.2)  # it trains
                try:
                    os.kill(number, signal.SIGKILL)
                    killed.append(number)
                    return
                except ProcessLookupError:
                    pass
            time.sleep(0.01)

    striker = threading.Thread(target=strike, daemon=True)
    striker.start()
    found = whole.fit(FRAME)
    striker.join(1)
    assert killed, "nobody was killed"
    assert found.parameters == expected.parameters


TESTS = [test_pipeline, test_cross_validator, test_values, test_export,
         test_regression, test_validation, test_what_is_wrong,
         test_a_killed_worker]
if MASTER.startswith("local-cluster"):
    TESTS = TESTS[:3]
for test in TESTS:
    if ONLY and test.__name__[5:] not in ONLY:
        continue
    begun = time.monotonic()
    test()
    print(f"{MASTER}: {test.__name__[5:]} ({time.monotonic() - begun:.0f} s)",
          flush=True)
spark.stop()
