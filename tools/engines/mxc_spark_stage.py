# SPDX-License-Identifier: Apache-2.0
"""What executors do for mxc_spark_ml.py: rows become files that `mxc train`
maps, workers train as one job, and a model that is open computes Arrow batches.
"""

import json
import math
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import pyarrow as pa

import mxc_job

# Of the columns that rows come in.
FEATURES, LABEL, VALIDATES = "mxc features", "mxc label", "mxc validates"
RESULT_SCHEMA = "kind string, part int, body binary"
NO_ROWS = "there are no rows to learn from"
_PART = 64 << 20  # bytes of a cell; one may not hold 2 GiB


class Refused(Exception):
    """What is wrong with the user's rows or settings: one sentence."""


def numbers_of(column, what):
    """A column of numbers, or of lists of as many numbers: rows by numbers."""
    if column.null_count:
        raise Refused(f"{what} is null in a row; fill such rows in, or leave "
                      "them out (handleInvalid='skip')")
    if not pa.types.is_list(column.type):
        return column.to_numpy(zero_copy_only=False).astype(np.float32)
    flat = column.flatten()
    if flat.null_count:
        raise Refused(f"{what} holds null in a row")
    counts = np.diff(column.offsets.to_numpy())
    if len(counts) and (counts != counts[0]).any():
        other = counts[counts != counts[0]][0]
        raise Refused(f"{what} has {counts[0]} numbers in one row and {other} "
                      "in another")
    width = int(counts[0]) if len(counts) else 0
    values = flat.to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    return values.reshape(len(column), width)


class _ArrayFile:
    """A .npy of float32 that grows by rows."""

    _HEADER = 128

    def __init__(self, path, what, shape=None):
        self._file = open(path, "wb")
        self._file.write(bytes(self._HEADER))
        self._what, self._shape, self._width = what, shape, None
        self.rows = 0

    def add(self, rows):
        if not len(rows):
            return
        width = rows.shape[1:]
        if self._width not in (None, width):
            raise Refused(f"{self._what} has {_count(self._width)} numbers in "
                          f"one row and {_count(width)} in another")
        self._width = width
        self._file.write(np.ascontiguousarray(rows).data)
        self.rows += len(rows)

    def close(self):
        shape = self._width or ()
        if self._shape and self.rows:
            if math.prod(self._shape) != _count(shape):
                sides = "x".join(map(str, self._shape))
                raise Refused(f"{self._what} has {_count(shape)} numbers, "
                              f"and the network takes {sides}")
            shape = tuple(self._shape)
        text = repr({"descr": "<f4", "fortran_order": False,
                     "shape": (self.rows, *shape)})
        length = self._HEADER - 10
        self._file.seek(0)
        self._file.write(b"\x93NUMPY\x01\x00" + length.to_bytes(2, "little")
                         + text.ljust(length - 1).encode() + b"\n")
        self._file.close()


def _count(shape):
    return shape[0] if shape else 1


class _Samples:
    """Features and labels in two files."""

    def __init__(self, folder, name, shape):
        paths = [os.path.join(folder, f"{name}-{part}.npy") for part in "xy"]
        self.source = "npy:" + ",".join(paths)
        self._files = [_ArrayFile(paths[0], "the features column", shape),
                       _ArrayFile(paths[1], "the label column")]

    def add(self, features, labels):
        self._files[0].add(features)
        self._files[1].add(labels)

    def close(self):
        for file in self._files:
            file.close()
        return self._files[0].rows


def _spool(batches, folder, shape):
    """Arrow batches as files of samples: to learn from, and to validate."""
    learned = _Samples(folder, "learned", shape)
    held = _Samples(folder, "held", shape)
    for batch in batches:
        features = numbers_of(batch.column(FEATURES), "the features column")
        labels = numbers_of(batch.column(LABEL), "the label column")
        validates = batch.column(VALIDATES).to_numpy(zero_copy_only=False)
        validates = validates.astype(bool)
        learned.add(features[~validates], labels[~validates])
        if validates.any():
            held.add(features[validates], labels[validates])
    return learned, held


def _messages(output, errors, folder):
    """What `mxc train --json` says is wrong."""
    try:
        found = [e["message"] for e in json.loads(output)["errors"]]
    except (ValueError, KeyError):
        found = errors.strip().splitlines()[-1:]
    told = "; ".join(found).replace(folder + "/", "")
    return re.sub(r"npy:\S+: ", "", told) or "mxc train failed"


def _epochs(output):
    lines = (json.loads(line) for line in output.splitlines() if line)
    return [line for line in lines if line.get("epoch_end")]


def _run(words, settings):
    done = subprocess.run(words, capture_output=True, text=True, **settings)
    sys.stderr.write(done.stderr)  # to the executor's log
    return done


def _program():
    import mxc._programs

    return mxc._programs.path("mxc")


def _write(folder, files):
    """Files by name, as the driver has read them; where they lie."""
    paths = {}
    for use, (name, content) in files.items():
        paths[use] = os.path.join(folder, name)
        with open(paths[use], "wb") as file:
            file.write(content)
    return paths


def parts(kind, body):
    """Rows of RESULT_SCHEMA that hold the bytes."""
    for part, first in enumerate(range(0, max(1, len(body)), _PART)):
        yield kind, part, body[first:first + _PART]


def _batches(kind, body):
    for row in parts(kind, body):
        yield pa.RecordBatch.from_arrays(
            [pa.array([cell], kind) for cell, kind in
             zip(row, (pa.string(), pa.int32(), pa.binary()))],
            names=["kind", "part", "body"])


def join(rows):
    """Of the rows that `fit` has yielded: bytes by kind."""
    found = {}
    for kind, _, body in sorted(rows, key=lambda row: row[:2]):
        found.setdefault(kind, bytearray()).extend(body)
    return {kind: bytes(body) for kind, body in found.items()}


def _agree(task, told):
    """What every worker has told, in the order of ranks."""
    return [json.loads(text) for text in task.allGather(json.dumps(told))]


class Fit:
    """One worker's part of training. It is sent to executors.

    files: {"network": (name, bytes)} and "params", if it begins with some.
    words: of `mxc train`, all but data. compile_words: of `mxc compile`.
    """

    def __init__(self, files, shape, batch, words, compile_words, secret):
        self.files, self.shape, self.batch = files, shape, batch
        self.words, self.compile_words = words, compile_words
        self.secret = secret

    def __call__(self, batches):
        """For mapInArrow in a barrier stage; yields results, or the sentence
        that says what is wrong."""
        from pyspark import BarrierTaskContext

        task = BarrierTaskContext.get()
        with tempfile.TemporaryDirectory(prefix="mxc-spark-") as folder:
            try:
                yield from self._train(task, batches, folder)
            except Refused as refused:
                yield from _batches("refused", str(refused).encode())

    def _train(self, task, batches, folder):
        rank, infos = task.partitionId(), task.getTaskInfos()
        told = {"refused": "", "rows": 0, "held": 0, "address": ""}
        try:
            learned, held = _spool(batches, folder, self.shape)
            told["rows"], told["held"] = learned.close(), held.close()
        except Refused as refused:
            told["refused"] = str(refused)
        if rank == 0:
            host = infos[0].address.rsplit(":", 1)[0]
            told["address"] = mxc_job.free_address(host)
        all_told = _agree(task, told)
        self._check(all_told)
        paths = _write(folder, self.files)
        prefix = os.path.join(folder, "learned")
        words = self._words(all_told, paths, learned, held, rank, prefix)
        with mxc_job.worker_settings(self.secret, rank, len(infos),
                                     all_told[0]["address"]) as settings:
            done = _run(words, settings)
        if done.returncode < 0:
            raise RuntimeError(f"worker {rank} ended by signal "
                               f"{-done.returncode}")
        if done.returncode:
            raise Refused(_messages(done.stdout, done.stderr,
                                    os.path.dirname(prefix)))
        if rank == 0:
            yield from self._results(prefix, _epochs(done.stdout))

    def _check(self, told):
        for one in told:
            if one["refused"]:
                raise Refused(one["refused"])
        rows = sum(one["rows"] for one in told)
        if not rows:
            raise Refused(NO_ROWS)
        if not all(one["rows"] for one in told):
            raise Refused(f"{rows} rows are too few for {len(told)} workers")

    def _words(self, told, paths, learned, held, rank, prefix):
        words = [_program(), "train", paths["network"], *self.words, "--json",
                 "--quiet", "--save", prefix, "--keep-epochs", "1", "--data",
                 learned.source]
        if "params" in paths:
            words += ["--params", paths["params"]]
        if len(told) > 1:  # all take as many steps, whoever has a row less
            most = max(one["rows"] for one in told)
            for option in ("num_parts=1",
                           f"epoch_batches={math.ceil(most / self.batch)}"):
                words += ["--data-opt", option]
        if rank == 0 and told[0]["held"]:
            words += ["--val", held.source]
        return words

    def _results(self, prefix, epochs):
        best = prefix + "-best.params"
        params = best if os.path.exists(best) else (
            f"{prefix}-{epochs[-1]['epoch']:04d}.params")
        artifact = prefix + ".mxa"
        words = [_program(), "compile", prefix + "-symbol.json", "--params",
                 params, *self.compile_words, "--quiet", "-o", artifact]
        done = _run(words, {})
        if done.returncode:
            raise Refused(_messages(done.stdout, done.stderr,
                                    os.path.dirname(prefix)))
        for kind, path in (("artifact", artifact), ("params", params),
                           ("network", prefix + "-symbol.json")):
            with open(path, "rb") as file:
                yield from _batches(kind, file.read())
        yield from _batches("epochs", json.dumps(epochs).encode())
        yield from _batches("head", json.dumps(_head_of(artifact)).encode())


def _head_of(artifact):
    """What the network's first output that has a label holds: "classes" (their
    probabilities), "margins" (their scores) or "values"; how many numbers."""
    import mxc

    model = mxc.load(artifact)
    kind, output = (model.heads[0].split()[:2] if model.heads
                    else ("values", 0))
    output = int(output)
    width = math.prod(model.entries[0].outputs[output].shape[1:])
    if kind == "distribution" or (kind == "probabilities" and width == 1):
        kind = "classes"
    elif kind not in ("classes", "margins"):
        kind = "values"
    return {"kind": kind, "output": output, "width": width}


_open = {}  # of this process: models by their artifacts' digests


def _opened(digest, artifact, threads):
    import mxc

    if digest not in _open:
        while len(_open) >= 4:  # those of a search come and go
            _open.pop(next(iter(_open)))
        _open[digest] = mxc.load(artifact.value, threads=threads)
    return _open[digest]


def vectors(rows):
    """Rows of numbers as Spark's dense vectors lie in Arrow."""
    count, width = rows.shape
    offsets = np.arange(count + 1, dtype=np.int32) * width
    flat = pa.array(rows.astype(np.float64).reshape(-1))
    return pa.StructArray.from_arrays(
        [pa.array(np.ones(count, np.int8)), pa.nulls(count, pa.int32()),
         pa.nulls(count, pa.list_(pa.int32())),
         pa.ListArray.from_arrays(pa.array(offsets), flat)],
        names=["type", "size", "indices", "values"])


def lists(rows):
    """Rows of numbers as arrays; of one number each, as numbers."""
    if rows.shape[1] == 1:
        return pa.array(rows[:, 0].astype(np.float64))
    return vectors(rows).field("values")


class Transform:
    """Rows with what the model says of them. It is sent to executors.

    head: as _head_of says it. made: the names of all columns that there are
    for it, "" for one that nobody wants. kept: those of the rows.
    """

    def __init__(self, digest, artifact, head, made, kept, threads, skips):
        self.digest, self.artifact, self.head = digest, artifact, head
        self.made, self.kept = made, kept
        self.threads, self.skips = threads, skips

    def __call__(self, batches):
        for batch in batches:
            features = batch.column(FEATURES)
            if self.skips:
                batch = batch.filter(features.is_valid())
                features = batch.column(FEATURES)
            said = self._columns(
                self.said(numbers_of(features, "the features column")))
            wanted = [(name, column) for name, column in zip(self.made, said)
                      if name]
            yield pa.RecordBatch.from_arrays(
                [*batch.columns[:len(self.kept)],
                 *(column for _, column in wanted)],
                names=[*self.kept, *(name for name, _ in wanted)])

    def said(self, rows):
        """By the model: rows of numbers."""
        model = _opened(self.digest, self.artifact, self.threads)
        tensor = model.entries[0].inputs[0]
        shape, width = tensor.shape[1:], math.prod(rows.shape[1:])
        if not len(rows):
            return np.zeros((0, self.head["width"]))
        if width != math.prod(shape):
            raise Refused(f"the features column has {width} numbers, and the "
                          f"network takes {'x'.join(map(str, shape))}")
        found = model(np.ascontiguousarray(rows.reshape(len(rows), *shape),
                                           tensor.dtype))
        if isinstance(found, tuple):
            found = found[self.head["output"]]
        return found.reshape(len(rows), -1).astype(np.float64)

    def _columns(self, said):
        kind = self.head["kind"]
        if kind == "values":
            return [lists(said)]
        if said.shape[1] == 1:  # of the one class, not of the other
            said = np.concatenate([1 - said, said], axis=1)
        best = pa.array(said.argmax(axis=1).astype(np.float64))
        if kind == "margins":
            return [vectors(said), best]
        with np.errstate(divide="ignore"):
            return [vectors(np.log(said)), vectors(said), best]


def batches_of(size):
    """Sizes that an artifact computes at once: a few rows and many."""
    return ",".join(str(n) for n in sorted({1, min(size, 16), size}))


