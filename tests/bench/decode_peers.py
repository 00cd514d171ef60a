#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a token of GPT-2 small in mxc, ONNX Runtime and PyTorch compiled.

  decode_peers.py FOLDER_OF_MXC [--tokens 128] [--threads 1,2] [--rounds N]
                  [--only "mxc memory"] [--json FILE]

One stream, one token after TOKENS others, whose keys and values a cache holds, with
weights of f32, int8 and int4. All have the same weights, drawn by transformers' GPT-2
(seed 7), and the same tokens; the table says how far each one's logarithms of
probabilities are off those of PyTorch eager in f32. mxc compiles
models/gpt2-small.json from a .safetensors. The peers are decode_onnx.py and
decode_torch.py. "memory" reads as many bytes as the weights in f32 have, from huge
pages, by libc's memchr. Each is a process of its own, stopped while another runs;
times are the 5th percentile, in milliseconds. The bytes are those of the products'
weights, without scales. Needs numpy, onnx, onnxruntime, torch, transformers,
safetensors, and g++ for torch.compile.
"""
import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from onnx_peers import Worker, cell, take_turns

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("f32", "int8", "int4")
BITS = {"f32": 32, "int8": 8, "int4": 4}
PEERS = ("mxc", "ort", "torch")
WEIGHTS = 123_532_032  # of the products: 12 layers, and the tokens' embedding
TOLERANCE = 1e-3       # of logarithms of probabilities in f32


# --- each in a process of its own: a function that runs, one that gives log p ----


def by_mxc(kind, folder, threads):
    from sparse_peers import Mxc
    tools = Path(folder, "tools").read_text()
    stream = Mxc(tools, f"{folder}/{kind}.mxa", threads, "decode")
    tokens = np.load(f"{folder}/tokens.npy")
    for position, token in enumerate(tokens):
        stream.give("set_input", "data", np.array([[token]], np.float32))
        stream.give("set_input", "position", np.array([position], np.int32))
        stream.run()
    probabilities = np.empty((1, 50257), np.float32)
    return stream.run, lambda: np.log(stream.output(0, probabilities)[0])


def by_memory(_, folder, threads):
    import ctypes
    import mmap
    from concurrent.futures import ThreadPoolExecutor
    size = 4 * WEIGHTS
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    view = np.frombuffer(memory, np.uint8)
    view[:] = 1
    find = ctypes.CDLL(None).memchr
    find.restype = ctypes.c_void_p
    find.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
    part = size // threads
    pool = ThreadPoolExecutor(threads)

    def run():
        return list(pool.map(
            lambda i: find(view.ctypes.data + part * i, 2, part),
            range(threads)))

    return run, lambda: np.load(f"{folder}/truth.npy")


def log_probabilities(logits):
    logits = logits.astype(np.float64)
    logits = logits - logits.max()
    return logits - np.log(np.exp(logits).sum())


def by_ort(kind, folder, threads):
    import decode_onnx
    return decode_onnx.stream(kind, folder, threads)


def by_torch(kind, folder, threads):
    import decode_torch
    return decode_torch.stream(kind, folder, threads)


def serve(peer, kind, folder, threads):
    """The protocol of `mxc-run bench --worker` (tools/run/worker.h)."""
    import time
    run, output = globals()[f"by_{peer}"](kind, folder, threads)
    run()
    print("ready {}", flush=True)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "output":
            run()
            log_probabilities(output()).astype(np.float32).tofile(rest)
            print("ok", flush=True)
            continue
        times = []
        for _ in range(int(rest)):
            begin = time.perf_counter_ns()
            run()
            times.append(time.perf_counter_ns() - begin)
        print("times", *times, flush=True)


# --- the same weights for all ----------------------------------------------------


def prepare(tools, tokens, folder):
    """In a process of its own, for the memory that it takes."""
    import decode_onnx
    import decode_torch
    Path(folder, "tools").write_text(str(Path(tools).resolve()))
    weights = decode_torch.write_truth(folder, tokens)
    for kind in KINDS:
        decode_onnx.write(weights, kind, f"{folder}/{kind}.onnx")
        words = [] if kind == "f32" else ["--weights", kind]
        subprocess.run(
            [f"{tools}/mxc", "compile", ROOT / "models/gpt2-small.json",
             "--params", f"{folder}/gpt2.safetensors", "--streams", "1",
             "--target", "native", "-o", f"{folder}/{kind}.mxa", "--quiet",
             *words], check=True)


def measure(args, folder, threads):
    """(5th percentile in ms, largest difference) by peer and kind."""
    names = [(peer, kind) for kind in KINDS for peer in PEERS
             if peer in args.only]
    workers = {name: Worker([sys.executable, __file__, "--serve", *name, folder,
                             str(threads)], threads)
               for name in [("memory", "f32"), *names]}
    truth = np.load(f"{folder}/truth.npy")
    differences = {}
    for name, worker in workers.items():
        output = worker.output(f"{folder}/out")
        if output is None:
            print(f"{name} does not run", file=sys.stderr)
            continue
        differences[name] = float(np.abs(output - truth).max())
        if name[1] == "f32" and not differences[name] < TOLERANCE:
            sys.exit(f"{name} differs by {differences[name]}")
    take_turns(workers, args.rounds)
    return {name: (float(np.percentile(worker.samples, 5)), differences[name])
            for name, worker in workers.items() if worker.samples}


def table(rows, threads):
    """Lines of the table, and what --json gets."""
    memory = rows.pop(("memory", "f32"))[0]
    rate = 4e-6 * WEIGHTS / memory  # GB/s
    print(f"| memory | | {threads} | {cell(memory)} | | {rate:.1f} | | | | |")
    found = [{"peer": "memory", "threads": threads, "ms": memory}]
    for (peer, kind), (time, difference) in rows.items():
        base = rows.get((peer, "f32"))
        others = [other for (name, same), (other, _) in rows.items()
                  if same == kind and name != "mxc"]
        read = WEIGHTS * BITS[kind] / 8 * 1e-6 / time
        print(f"| {peer} | {kind} | {threads} | {cell(time)} | "
              f"{1e3 / time:.1f} | {read:.1f} | {100 * read / rate:.0f} % | "
              + (f"{base[0] / time:.2f}" if base else "") + " | "
              + (f"{min(others) / time:.2f}" if peer == "mxc" and others
                 else "")
              + f" | {difference:.1g} |", flush=True)
        found.append({"peer": peer, "kind": kind, "threads": threads,
                      "ms": time, "difference": difference})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--only", default=" ".join(PEERS))
    parser.add_argument("--json")
    args = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, __file__, "--prepare", args.tools,
                        str(args.tokens), folder], check=True)
        print("| | weights | threads | ms | tokens/s | GB/s | of memory | "
              "own f32 / this | best peer / this | difference |")
        print("|---" * 10 + "|")
        for threads in map(int, args.threads.split(",")):
            found += table(measure(args, folder, threads), threads)
    if args.json:
        Path(args.json).write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(*sys.argv[2:5], int(sys.argv[5]))
    elif sys.argv[1:2] == ["--prepare"]:
        prepare(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
