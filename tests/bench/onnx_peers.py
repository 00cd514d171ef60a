#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times ONNX models in mxc, ONNX Runtime, OpenVINO (f32) and torch.compile.

  onnx_peers.py FOLDER_OF_MXC MODEL.onnx... [--threads 1,2] [--rounds N]
                [--dim NAME=EXTENT]... [--peers "ort openvino torch"] [--json FILE]

Each peer is a process of its own, on as many cores as it has threads; it is
stopped (SIGSTOP) while another runs. Times are the 5th percentile, in milliseconds; a
peer whose outputs differ from ONNX Runtime's is told and left out. An extent that
the model leaves open is 1 unless --dim names it. Weights that an old exporter
lists as inputs, too, are no inputs to the peers, which else would not fold them.
Needs numpy, onnx, onnxruntime and openvino, and torch and onnx2torch where
that is a peer.
"""
import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

TOLERANCE = 1e-3  # relative to the largest element of an output
TURN_MS = 300     # what a peer runs before it is the next one's turn


# --- the peers, each in a process of its own ---------------------------------


def by_onnxruntime(model, feeds, threads):
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"])
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_cpu_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name)
    return (lambda: session.run_with_iobinding(binding),
            lambda: binding.copy_outputs_to_cpu()[0])


def by_openvino(model, feeds, threads):
    import openvino
    core = openvino.Core()
    network = core.read_model(model)
    network.reshape({name: list(value.shape)
                     for name, value in feeds.items()})
    compiled = core.compile_model(network, "CPU", {
        "INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads,
        "PERFORMANCE_HINT": "LATENCY", "NUM_STREAMS": 1})
    request = compiled.create_infer_request()
    for name, value in feeds.items():
        request.set_tensor(name, openvino.Tensor(value))
    return request.infer, lambda: request.get_output_tensor(0).data


def by_torch(model, feeds, threads):
    """torch.compile of the module that exported_models.py wrote, else of what
    onnx2torch makes of the file; what it cannot compile of that runs as it is."""
    import exported_models
    import torch
    torch.set_num_threads(threads)
    torch._dynamo.config.suppress_errors = True
    if Path(model).stem in exported_models.MODELS:
        network = exported_models.module(Path(model).stem)
    else:
        import onnx2torch
        network = onnx2torch.convert(model).eval()
    network = torch.compile(network)
    arguments = [torch.from_numpy(value) for value in feeds.values()]

    def run():
        with torch.inference_mode():
            return network(*arguments)

    def output():
        results = run()
        first = results if torch.is_tensor(results) else results[0]
        return first.numpy()

    run()
    return run, output


PEERS = {"ort": by_onnxruntime, "openvino": by_openvino, "torch": by_torch}


def serve(peer, model, feeds, threads):
    """The protocol of `mxc-run bench --worker` (tools/run/worker.h)."""
    import time
    run, output = PEERS[peer](model, feeds, threads)
    print("ready {}", flush=True)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "output":
            run()
            np.asarray(output(), dtype=np.float32).tofile(rest)
            print("ok", flush=True)
            continue
        times = []
        for _ in range(int(rest)):
            begin = time.perf_counter_ns()
            run()
            times.append(time.perf_counter_ns() - begin)
        print("times", *times, flush=True)


class Worker:
    def __init__(self, command, threads):
        cores = sorted(os.sched_getaffinity(0))[-threads:]
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            stderr=subprocess.DEVNULL, start_new_session=True,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
            env={**os.environ, "OMP_NUM_THREADS": str(threads)})
        self.alive = self.process.stdout.readline().startswith("ready")
        self.samples, self.count = [], 1
        self.signal(signal.SIGSTOP)

    def signal(self, number):
        try:
            os.killpg(self.process.pid, number)
        except ProcessLookupError:
            self.alive = False

    def ask(self, request):
        if not self.alive:
            return ""
        self.signal(signal.SIGCONT)
        try:
            print(request, file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        self.signal(signal.SIGSTOP)
        self.alive = bool(line)
        return line

    def run(self, count):
        """Milliseconds of runs after one that wakes the threads."""
        words = self.ask(f"run {count + 1}").split()
        numbers = [word for word in words if word.isdigit()]
        return [int(number) / 1e6 for number in numbers[1:]]

    def output(self, path):
        Path(path).unlink(missing_ok=True)
        self.ask(f"output {path}")
        return np.fromfile(path, np.float32) if Path(path).exists() else None

    def close(self):
        self.signal(signal.SIGKILL)
        self.signal(signal.SIGCONT)
        self.process.wait()


# --- a table ------------------------------------------------------------------


def inputs_of(model, dims):
    """An array for each input, drawn by a seed: numbers from 0 to 1, integers 0
    and 1, which are tokens of every vocabulary and masks."""
    import onnxruntime
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(
        model, options, providers=["CPUExecutionProvider"])
    random, feeds = np.random.default_rng(5), {}
    for port in session.get_inputs():
        shape = [extent if isinstance(extent, int) else dims.get(extent, 1)
                 for extent in port.shape]
        kind = port.type[len("tensor("):-1]
        dtype = {"float": np.float32, "double": np.float64,
                 "float16": np.float16}.get(kind) or np.dtype(kind)
        floats = np.issubdtype(dtype, np.floating)
        value = (random.random(shape) if floats
                 else random.integers(0, 2, shape))
        feeds[port.name] = np.ascontiguousarray(value.astype(dtype))
    return feeds


def without_weights_as_inputs(model, folder):
    import onnx
    proto = onnx.load(model)
    weights = {weight.name for weight in proto.graph.initializer}
    inputs = [port for port in proto.graph.input if port.name not in weights]
    if len(inputs) == len(proto.graph.input):
        return model
    del proto.graph.input[:]
    proto.graph.input.extend(inputs)
    proto.ir_version = max(4, proto.ir_version)
    onnx.save(proto, f"{folder}/peers.onnx")
    return f"{folder}/peers.onnx"


def ours(tools, model, feeds, folder, threads):
    artifact, words = f"{folder}/net.mxa", []
    for name, value in feeds.items():
        np.save(f"{folder}/{len(words)}.npy", value)
        words += ["--input", f"{name}={folder}/{len(words)}.npy"]
    shapes = []
    for name, value in feeds.items():
        if value.ndim:
            shapes += ["--input-shape",
                       f"{name}:{'x'.join(map(str, value.shape))}"]
    subprocess.run([f"{tools}/mxc", "compile", model, "-o", artifact, "--quiet",
                    *shapes], check=True)
    return [f"{tools}/mxc-run", "bench", artifact, "--worker", "--threads",
            str(threads), *words]


def theirs(peer, model, folder, threads):
    return [sys.executable, __file__, "--serve", peer, model, folder,
            str(threads)]


def take_turns(workers, rounds):
    """Runs each for TURN_MS, `rounds` times, and ends them."""
    for worker in workers.values():
        once = min(worker.run(3), default=1)
        worker.count = int(min(max(TURN_MS / max(once, 1e-3), 3), 5000))
    for _ in range(rounds):
        for worker in workers.values():
            worker.samples += worker.run(worker.count)
    for worker in workers.values():
        worker.close()


def measure(args, model, threads):
    """5th percentiles by peer; None: it fails, or computes something else."""
    with tempfile.TemporaryDirectory() as folder:
        feeds = inputs_of(model, args.dims)
        np.savez(f"{folder}/feeds.npz", **feeds)
        commands = {"mxc": ours(args.tools, model, feeds, folder, threads)}
        stripped = without_weights_as_inputs(model, folder)
        for peer in args.peers:
            commands[peer] = theirs(peer, stripped, folder, threads)
        workers = {name: Worker(command, threads)
                   for name, command in commands.items()}
        truth = workers["ort"].output(f"{folder}/out") if (
            "ort" in workers) else None
        for name, worker in workers.items():
            output = worker.output(f"{folder}/out")
            if output is None or truth is not None and (
                    output.shape != truth.shape or np.abs(output - truth).max()
                    > TOLERANCE * max(1e-6, np.abs(truth).max())):
                print(f"{model}: {name} fails or differs", file=sys.stderr)
                worker.alive = False
        take_turns(workers, args.rounds)
    return {name: float(np.percentile(worker.samples, 5))
            if worker.alive and worker.samples else None
            for name, worker in workers.items()}


def cell(value):
    if value is None:
        return "–"
    return f"{value:.0f}" if value >= 100 else f"{value:#.3g}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--dim", action="append", default=[])
    parser.add_argument("--peers", default="ort openvino")
    parser.add_argument("--json")
    args = parser.parse_args()
    args.peers = args.peers.split()
    args.dims = {name: int(extent) for name, extent in
                 (word.rsplit("=", 1) for word in args.dim)}
    print("| model | threads |", " | ".join(["mxc", *args.peers]),
          "| best peer / mxc |")
    print("|---" * (len(args.peers) + 4) + "|")
    rows, ratios = [], []
    for model in args.models:
        name = Path(model).stem
        if name == "model":
            name = Path(model).parent.name
        for threads in map(int, args.threads.split(",")):
            times = measure(args, model, threads)
            others = [times[peer] for peer in args.peers if times[peer]]
            ratio = min(others) / times["mxc"] if (
                others and times["mxc"]) else None
            if ratio:
                ratios.append(ratio)
            rows.append({"model": name, "threads": threads, "ms": times,
                         "ratio": ratio})
            print(f"| {name} | {threads} |",
                  " | ".join(cell(times[peer])
                             for peer in ["mxc", *args.peers]),
                  f"| {ratio:.2f} |" if ratio else "| – |", flush=True)
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        print(f"geometric mean of best peer / mxc: {mean:.2f}")
    if args.json:
        Path(args.json).write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        _, _, asked, path, where, count = sys.argv
        serve(asked, path, dict(np.load(f"{where}/feeds.npz")), int(count))
    else:
        main()
