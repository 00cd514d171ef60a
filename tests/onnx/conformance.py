# SPDX-License-Identifier: Apache-2.0
"""The table of `conformance`: cases by operator, mxc's beside those of others.

    conformance.py FOLDER MXC_CASES [--peers] [--json FILE] [-- ARGUMENTS]
"""
import argparse
import collections
import glob
import importlib
import json
import multiprocessing
import os
import subprocess
import sys

import numpy
import onnx
from onnx import numpy_helper

CLEAN = {onnx.TensorProto.FLOAT, onnx.TensorProto.INT32,
         onnx.TensorProto.INT64, onnx.TensorProto.BOOL}


def arguments():
    words = sys.argv[1:]
    at = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("cases")
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--json")
    return parser.parse_args(words[:at]), words[at + 1:]


def is_clean(model):
    return all(port.type.WhichOneof("value") == "tensor_type"
               and port.type.tensor_type.elem_type in CLEAN
               for port in [*model.graph.input, *model.graph.output])


def by_mxc(folder, cases, further):
    """What became of each case: "pass", "refused: …" or "wrong: …"."""
    done = subprocess.run([cases, "onnx", folder, "-v", *further],
                          capture_output=True, text=True)
    results = {}
    for line in done.stdout.splitlines():
        kind, _, rest = line.partition(" ")
        rest = rest.strip()
        if kind == "pass":
            results[rest] = "pass"
        elif kind == "FAIL":
            name, _, why = rest.partition(": ")
            results[name] = "wrong: " + why
        elif kind == "skip":
            why, _, names = rest.rpartition(": ")
            for name in names.split():
                results[name] = "refused: " + why
    return results


def values(folder, stem, ports):
    arrays = []
    for index, port in enumerate(ports):
        path = f"{folder}/test_data_set_0/{stem}_{index}.pb"
        if not os.path.exists(path):
            return None
        tensor = onnx.TensorProto()
        with open(path, "rb") as file:
            tensor.ParseFromString(file.read())
        arrays.append(numpy_helper.to_array(tensor))
    return arrays


def agrees(got, want):
    for g, w in zip(got, want, strict=True):
        g = numpy.asarray(g)
        if g.shape != w.shape or g.dtype != w.dtype:
            return False
        if w.dtype.kind in "US" or w.dtype == object:
            if not numpy.array_equal(g, w):
                return False
        elif w.dtype.name == "bfloat16":  # as onnx.backend.test.runner
            g, w = g.astype(numpy.float32), w.astype(numpy.float32)
            if not numpy.allclose(g, w, rtol=2**-6, atol=1e-7, equal_nan=True):
                return False
        elif not numpy.allclose(g, w, rtol=1e-3, atol=1e-7, equal_nan=True):
            return False
    return True


def with_onnxruntime(path, inputs):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(
        path, options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def with_openvino(path, inputs):
    import openvino
    core = openvino.Core()
    core.set_property("CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    compiled = core.compile_model(core.read_model(path), "CPU")
    result = compiled(inputs)
    return [result[output] for output in compiled.outputs]


def with_tract(path, inputs):
    import tract
    model = tract.onnx().load(path)
    runnable = model.into_model().into_runnable()
    results = runnable.run(list(inputs.values()))
    return [result.to_numpy() for result in results]


# Each by the name of its package.
PEERS = {"onnxruntime": with_onnxruntime, "openvino": with_openvino,
         "tract": with_tract}


def by_peer(task):
    """In a process of its own: some cases end it."""
    folder, peer = task
    model = onnx.load(f"{folder}/model.onnx")
    inputs = values(folder, "input", model.graph.input)
    want = values(folder, "output", model.graph.output)
    if inputs is None or want is None:
        return "refused: not run here"
    given = {port.name: value
             for port, value in zip(model.graph.input, inputs)}
    try:
        got = PEERS[peer](f"{folder}/model.onnx", given)
    except Exception as error:  # its refusal
        return "refused: " + str(error).splitlines()[0][:200]
    return "pass" if agrees(got, want) else "wrong"


def by_peers(folders, peer):
    importlib.import_module(peer)  # once: the processes are forks
    results = {}
    with multiprocessing.Pool(maxtasksperchild=1) as pool:
        waiting = {name: pool.apply_async(by_peer, ((folder, peer),))
                   for name, folder in folders.items()}
        for name, result in waiting.items():
            try:
                results[name] = result.get(timeout=60)
            except multiprocessing.TimeoutError:
                results[name] = "wrong: crashed or hung"
    return results


def count(results, names):
    kinds = collections.Counter(
        results.get(name, "refused: not run").split(":")[0] for name in names)
    return kinds["pass"], kinds["refused"], kinds["wrong"]


def main():
    options, further = arguments()
    folders, operators, clean = {}, {}, set()
    for path in sorted(glob.glob(f"{options.folder}/*/model.onnx")):
        folder = os.path.dirname(path)
        name = os.path.basename(folder)
        model = onnx.load(path)
        folders[name] = folder
        kinds = [node.op_type for node in model.graph.node]
        operators[name] = kinds[0] if len(kinds) == 1 else "(several)"
        if is_clean(model):
            clean.add(name)
    columns = {"mxc": by_mxc(options.folder, options.cases, further)}
    if options.peers:
        for peer in PEERS:
            columns[peer] = by_peers(folders, peer)
    print("passed / refused / wrong")
    print(f"{'':28}{'cases':>7}" + "".join(f"{c:>20}" for c in columns))
    rows = [("all", sorted(folders)), ("clean", sorted(clean))]
    groups = collections.defaultdict(list)
    for name, operator in operators.items():
        groups[operator].append(name)
    for title, names in rows + sorted(groups.items()):
        cells = "".join(
            f"{'{} / {} / {}'.format(*count(results, names)):>20}"
            for results in columns.values())
        print(f"{title:28}{len(names):7}{cells}")
    refusals = collections.defaultdict(list)
    for name, result in columns["mxc"].items():
        if result != "pass":
            refusals[result].append(name)
    print("\nwhat mxc refuses, and what is wrong:")
    for why, names in sorted(refusals.items()):
        print(f"  {why}: {' '.join(sorted(names))}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(columns, file, indent=1, sort_keys=True)
    sys.exit(1 if count(columns["mxc"], folders)[2] else 0)


main()
