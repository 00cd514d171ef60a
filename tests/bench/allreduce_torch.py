#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds of torch.distributed's all-reduce by gloo over TCP on this machine,
to stand beside allreduce_bench: allreduce_torch.py [WORKERS]. Needs PyTorch
(Debian: python3-torch)."""
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist

TIMES = 9


def work(rank, workers, folder):
    torch.set_num_threads(1)
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    dist.init_process_group("gloo", init_method=f"file://{folder}/store",
                            rank=rank, world_size=workers)
    for kilobytes in (64, 256, 1_000, 16_000, 100_000):
        times = []
        for _ in range(TIMES):
            values = torch.full((kilobytes * 250,), float(rank + 1))
            dist.barrier()
            start = time.perf_counter()
            dist.all_reduce(values)
            times.append(1e3 * (time.perf_counter() - start))
            assert values[-1] == workers * (workers + 1) / 2
        if rank == 0:
            print(f"{kilobytes:6d} KB torch {torch.__version__:<6} "
                  f"best {min(times):7.2f} ms, "
                  f"median {statistics.median(times):7.2f} ms", flush=True)


def main():
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(workers):
            child = os.fork()
            if child == 0:
                work(rank, workers, folder)
                os._exit(0)
            children.append(child)
        for child in children:
            assert os.waitpid(child, 0)[1] == 0


if __name__ == "__main__":
    main()
