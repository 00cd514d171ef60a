#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times a training step of BERT base in mxc and in PyTorch, and its memory.

  transformer_step.py FOLDER_OF_MXC [--batch N] [--tokens T] [--threads 1,2]
                      [--budgets "170MiB none"] [--rounds N] [--json FILE]

Forward, backward and Adam, of models/bert-base.json and of the same network of
Hugging Face's transformers (attention by scaled_dot_product_attention, fused
Adam), eager and by torch.compile, dropout of 0.1 in both. mxc is compiled once for
each budget of activations. Each is a process of its own, stopped while another
runs; times are medians of steps taken in turns, memory the most that the process
ever had in memory (VmHWM), code and files of weights included. PyTorch's process
keeps its compiler's memory, too. Needs numpy, torch and transformers, and g++ for
torch.compile.
"""
import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from onnx_peers import Worker, cell

ROOT = Path(__file__).resolve().parents[2]
PEERS = ("torch eager", "torch compiled")


def step_of_torch(compiled, batch, tokens, threads):
    """A function that takes a step and returns its loss."""
    import torch
    from transformers import BertConfig, BertModel
    torch.set_num_threads(threads)
    torch.manual_seed(7)
    net = BertModel(BertConfig(attn_implementation="sdpa")).train()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-4, fused=True)
    data = torch.randint(0, 30000, (batch, tokens))
    label = torch.randint(0, 768, (batch,))

    def forward(data, label):
        return torch.nn.functional.cross_entropy(
            net(input_ids=data).pooler_output, label)

    if compiled:
        forward = torch.compile(forward, dynamic=False)

    def step():
        optimizer.zero_grad(set_to_none=True)
        loss = forward(data, label)
        loss.backward()
        optimizer.step()
        return loss

    return step


def serve(peer, batch, tokens, threads):
    """The protocol of `mxc-run bench --worker` (tools/run/worker.h)."""
    import time
    step = step_of_torch(peer == PEERS[1], batch, tokens, threads)
    step()
    print("ready {}", flush=True)
    for line in sys.stdin:
        times = []
        for _ in range(int(line.split()[1])):
            begin = time.perf_counter_ns()
            step()
            times.append(time.perf_counter_ns() - begin)
        print("times", *times, flush=True)


def compile_ours(args, budget, artifact):
    words = [] if budget == "none" else ["--memory-budget", budget]
    subprocess.run(
        [f"{args.tools}/mxc", "compile", ROOT / "models/bert-base.json",
         "--init", "xavier", "--entry", "train", "--optimizer", "adam",
         "--loss", "softmax_cross_entropy:pooled_output", "--input-shape",
         f"data:{args.batch}x{args.tokens}", "-o", artifact, "--quiet",
         *words], check=True)


def most_memory(worker):
    """MiB that the process ever had in memory."""
    status = Path(f"/proc/{worker.process.pid}/status").read_text()
    lines = dict(line.split(":", 1) for line in status.splitlines())
    return int(lines["VmHWM"].split()[0]) / 1024


def measure(args, artifacts, threads):
    """(milliseconds, MiB) by name."""
    commands = {
        f"mxc, {budget}":
            [f"{args.tools}/mxc-run", "bench", artifact, "--entry", "train",
             "--worker", "--threads", str(threads)]
        for budget, artifact in artifacts.items()}
    for peer in PEERS:
        commands[peer] = [sys.executable, __file__, "--serve", peer,
                          str(args.batch), str(args.tokens), str(threads)]
    workers = {name: Worker(command, threads)
               for name, command in commands.items()}
    for _ in range(args.rounds):
        for worker in workers.values():
            worker.samples += worker.run(2)
    rows = {}
    for name, worker in workers.items():
        if not worker.samples:
            sys.exit(f"{name} does not run")
        rows[name] = statistics.median(worker.samples), most_memory(worker)
        worker.close()
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tools")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--budgets", default="none 170MiB")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json")
    args = parser.parse_args()
    results = []
    print("| BERT base, step | threads | ms | MiB | best PyTorch / this: time "
          "| memory |")
    print("|---" * 6 + "|")
    with tempfile.TemporaryDirectory() as folder:
        artifacts = {}
        for budget in args.budgets.split():
            artifacts[budget] = f"{folder}/{budget}.mxa"
            compile_ours(args, budget, artifacts[budget])
        for threads in map(int, args.threads.split(",")):
            rows = measure(args, artifacts, threads)
            best = np.min([rows[peer] for peer in PEERS], axis=0)
            for name, (time, memory) in rows.items():
                results.append({"name": name, "threads": threads, "ms": time,
                                "mib": memory})
                print(f"| {name} | {threads} | {cell(time)} | {memory:.0f} | "
                      f"{best[0] / time:.2f} | {best[1] / memory:.2f} |",
                      flush=True)
    if args.json:
        Path(args.json).write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        serve(sys.argv[2], *map(int, sys.argv[3:6]))
    else:
        main()
