#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's pipelining beside stages.py: stages_torch.py MODEL BATCH … trains
networks of 224x224 pictures by one process of one thread and by two stages of
one thread each over gloo (torch.distributed.pipelining, Schedule1F1B, 8
micro-batches, SGD with momentum), by turns, and prints samples a second. The
network is cut where the better of all places between its blocks is. Needs
torch, torchvision and two idle cores."""
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as processes
import torchvision
from torch.distributed.pipelining import PipelineStage, Schedule1F1B

STEPS = 4  # the first one warms up
ROUNDS = 3
MICRO_BATCHES = 8


def blocks_of(model):
    """The network as blocks, one behind the other."""
    if model.startswith("vgg"):
        net = getattr(torchvision.models, model)()
        return [*net.features, net.avgpool, torch.nn.Flatten(),
                *net.classifier]
    net = getattr(torchvision.models, model)()
    return [torch.nn.Sequential(net.conv1, net.bn1, net.relu, net.maxpool),
            *net.layer1, *net.layer2, *net.layer3, *net.layer4,
            torch.nn.Sequential(net.avgpool, torch.nn.Flatten(), net.fc)]


def drawn(batch):
    generator = torch.Generator().manual_seed(7)
    return (torch.randn(batch, 3, 224, 224, generator=generator),
            torch.randint(0, 1000, (batch,), generator=generator))


def sgd(net):
    return torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)


def timed(step):
    """Seconds of the fastest step."""
    times = []
    for _ in range(STEPS):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return min(times[1:])


def train_alone(model, batch, queue):
    torch.set_num_threads(1)
    torch.manual_seed(7)
    net = torch.nn.Sequential(*blocks_of(model))
    optimizer = sgd(net)
    x, y = drawn(batch)

    def step():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(net(x), y).backward()
        optimizer.step()

    queue.put(batch / timed(step))


def train_stage(rank, model, batch, cut, port, queue):
    torch.set_num_threads(1)
    torch.manual_seed(7)
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=2)
    blocks = blocks_of(model)
    net = torch.nn.Sequential(*(blocks[cut:] if rank else blocks[:cut]))
    stage = PipelineStage(net, rank, 2, torch.device("cpu"))
    schedule = Schedule1F1B(stage, MICRO_BATCHES,
                            loss_fn=torch.nn.functional.cross_entropy)
    optimizer = sgd(net)
    x, y = drawn(batch)

    def step():
        optimizer.zero_grad()
        if rank == 0:
            schedule.step(x)
        else:
            schedule.step(target=y, losses=[])
        optimizer.step()
        dist.barrier()

    seconds = timed(step)
    if rank == 0:
        queue.put(batch / seconds)
    dist.destroy_process_group()


def rate_of(target, count, *arguments):
    context = processes.get_context("spawn")
    queue = context.Queue()
    started = [context.Process(target=target, args=(
        *([rank] if count > 1 else []), *arguments, queue))
               for rank in range(count)]
    for process in started:
        process.start()
    rate = queue.get(timeout=600)
    for process in started:
        process.join()
    return rate


def main():
    port = 29600
    for model, batch in zip(sys.argv[1::2], map(int, sys.argv[2::2])):
        count = len(blocks_of(model))
        rates = {}
        cuts = range(count * 2 // 5, count * 4 // 5)
        for cut in cuts:  # once each, to find the best
            port += 1
            rates[cut] = rate_of(train_stage, 2, model, batch, cut, port)
        best = max(rates, key=rates.get)
        alone, stages = [], []
        for _ in range(ROUNDS):
            port += 1
            alone.append(rate_of(train_alone, 1, model, batch))
            stages.append(rate_of(train_stage, 2, model, batch, best, port))
        print(f"{model} batch {batch}, torch {torch.__version__}: one process "
              f"{max(alone):.3f} samples/s, two stages (cut at block {best} "
              f"of {count}) {max(stages):.3f}: "
              f"{max(stages) / max(alone):.2f} times", flush=True)


if __name__ == "__main__":
    main()
