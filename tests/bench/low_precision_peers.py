#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times ONNX models of fewer bits in mxc, OpenVINO and ONNX Runtime.

  low_precision_peers.py FOLDER_OF_MXC int8|bf16 MODEL.onnx... [--threads 1,2]
                         [--rounds N] [--json FILE]

int8: mxc by `mxc calibrate` of drawn samples with the ranges that they have, all
layers that can be; the peers by ONNX Runtime's static quantization of the same
samples, a scale for each output channel, as QDQ: OpenVINO and ONNX Runtime read
one file. bf16: `mxc compile --precision bf16 --target native`, and OpenVINO as it
computes unless it is held to f32 (bfloat16 where the processor has it). Beside
them mxc's own f32. Times are the 5th percentile of runs in turns (onnx_peers.py);
weights are as the file has them. Needs numpy, onnx, onnxruntime, openvino.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

import onnx_peers
from onnx_peers import Worker, cell, inputs_of, take_turns

SAMPLES = 8


def by_openvino_default(model, feeds, threads):
    import openvino
    core = openvino.Core()
    network = core.read_model(model)
    network.reshape({name: list(value.shape) for name, value in feeds.items()})
    compiled = core.compile_model(network, "CPU", {
        "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY",
        "NUM_STREAMS": 1})
    request = compiled.create_infer_request()
    for name, value in feeds.items():
        request.set_tensor(name, openvino.Tensor(value))
    return request.infer, lambda: request.get_output_tensor(0).data


onnx_peers.PEERS["openvino"] = by_openvino_default


def drawn(feeds):
    """Samples like the ones that are timed."""
    random = np.random.default_rng(11)
    for _ in range(SAMPLES):
        yield {name: (random.random(value.shape).astype(value.dtype)
                      if value.dtype.kind == "f"
                      else random.integers(0, 2, value.shape, value.dtype))
               for name, value in feeds.items()}


def quantize(model, feeds, path):
    from onnxruntime import quantization as q
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Reader(q.CalibrationDataReader):
        def __init__(self):
            self.samples = drawn(feeds)

        def get_next(self):
            return next(self.samples, None)

    prepared = f"{path}.prepared.onnx"
    quant_pre_process(model, prepared, skip_symbolic_shape=True)
    q.quantize_static(
        prepared, path, Reader(), quant_format=q.QuantFormat.QDQ,
        per_channel=True, weight_type=q.QuantType.QInt8,
        activation_type=q.QuantType.QUInt8,
        calibrate_method=q.CalibrationMethod.MinMax)


def shapes_of(feeds):
    words = []
    for name, value in feeds.items():
        words += ["--input-shape",
                  f"{name}:{'x'.join(map(str, value.shape))}"]
    return words


def ours(args, model, feeds, folder, name, *options):
    artifact = f"{folder}/{name}.mxa"
    subprocess.run([f"{args.tools}/mxc", "compile", model, "-o", artifact,
                    "--target", "native", "--quiet", *shapes_of(feeds),
                    *options], check=True)
    return artifact


def calibrated(args, model, feeds, folder):
    """The network whose layers 8-bit numbers compute, and its parameters."""
    samples = list(drawn(feeds))
    arrays = {name: np.concatenate([sample[name] for sample in samples])
              for name in feeds}
    np.savez(f"{folder}/samples.npz", **arrays)
    symbol = f"{folder}/int8-symbol.json"
    subprocess.run([f"{args.tools}/mxc", "calibrate", model, "-o", symbol,
                    "--data", f"npy:{folder}/samples.npz", "--calib-mode",
                    "naive", "--max-error", "1e9", "--accuracy-budget", "1e9%",
                    "--batch-size", "1", "--samples", str(SAMPLES),
                    *shapes_of(feeds)], check=True, stdout=sys.stderr)
    return symbol


def artifacts_of(args, model, feeds, folder):
    """mxc's artifacts by name, and the file that the peers read."""
    made = {"mxc f32": ours(args, model, feeds, folder, "f32")}
    if args.precision == "bf16":
        made["mxc bf16"] = ours(args, model, feeds, folder, "bf16",
                                "--precision", "bf16")
        return made, model, ["openvino"]
    symbol = calibrated(args, model, feeds, folder)
    made["mxc int8"] = ours(args, symbol, feeds, folder, "int8")
    quantize(model, feeds, f"{folder}/qdq.onnx")
    return made, f"{folder}/qdq.onnx", ["openvino", "ort"]


def measure(args, model, threads, feeds, folder):
    made, file, peers = artifacts_of(args, model, feeds, folder)
    np.savez(f"{folder}/feeds.npz", **feeds)
    inputs = []
    for index, (name, value) in enumerate(feeds.items()):
        np.save(f"{folder}/{index}.npy", value)
        inputs += ["--input", f"{name}={folder}/{index}.npy"]
    commands = {name: [f"{args.tools}/mxc-run", "bench", artifact, "--worker",
                       "--threads", str(threads), *inputs]
                for name, artifact in made.items()}
    for peer in peers:
        commands[peer] = [sys.executable, __file__, "--serve", peer, file,
                          folder, str(threads)]
    workers = {name: Worker(command, threads)
               for name, command in commands.items()}
    take_turns(workers, args.rounds)
    return {name: float(np.percentile(worker.samples, 5))
            if worker.samples else None for name, worker in workers.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools")
    parser.add_argument("precision", choices=["int8", "bf16"])
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--json")
    args = parser.parse_args()
    rows, peers = [], (["openvino", "ort"] if args.precision == "int8"
                       else ["openvino"])
    names = ["mxc f32", f"mxc {args.precision}", *peers]
    print("| model | threads |", " | ".join(names),
          "| best peer / mxc | f32 / mxc |")
    print("|---" * (len(names) + 4) + "|")
    for model in args.models:
        for threads in map(int, args.threads.split(",")):
            with tempfile.TemporaryDirectory() as folder:
                feeds = inputs_of(model, {})
                times = measure(args, model, threads, feeds, folder)
            own = times[names[1]]
            best = min(times[peer] for peer in peers if times[peer])
            rows.append({"model": Path(model).stem, "threads": threads,
                         "ms": times, "ratio": best / own})
            print(f"| {Path(model).stem} | {threads} |",
                  " | ".join(cell(times[name]) for name in names),
                  f"| {best / own:.2f} | {times['mxc f32'] / own:.2f} |",
                  flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        _, _, asked, path, where, count = sys.argv
        onnx_peers.serve(asked, path, dict(np.load(f"{where}/feeds.npz")),
                         int(count))
    else:
        main()
