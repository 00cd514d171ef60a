#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a step of training on many machines would take. Everything it prints is
modelled, not measured: a discrete-event simulation of layers that compute one
after the other, and of links that carry their gradients out and values back.

usage: scaling_model.py published [--sigma 0.02]
       scaling_model.py machines [--gbit 10] [--latency-us 50] [--sigma 0.02]
       scaling_model.py job SCHEDULE [--rate 1gbit] [--workers 2] [--servers 1]
                        [--slice 0]

published: against the scaling that Horovod (arXiv 1802.05799) and MXNet (its
README of 16 EC2 p2.16xlarge) have published. machines: 16 to 1,024 machines by
ring and by servers. job: one of ours, as tests/bench/link_schedule.py describes
it; to be held beside tests/bench/links.sh.

The model. A worker computes forward, then backward, at its own speed. A gradient
is released when its layer's backward part ends, in chunks. A channel serves one
chunk at a time: the one that was released first (fifo), or the one whose layer
comes first in the forward part (priority), or none before the step's end
(barrier). A ring has one channel; servers have two, one in each direction, and
a value leaves when all of its gradient has come, or chunk by chunk. Of a job each
server has its own two, of the parameters that it is given: what lives on one
server comes from all workers through one link. optimum:
priority with chunks of 16 kB (job: 4 kB) that cost no latency: earliest deadline first,
which no order of one channel beats. sigma: machines take log-normally long for
the same step, and all wait for the slowest; 0.02 comes nearest to the five
published figures.
"""
import argparse
import heapq
import math
import sys
from dataclasses import dataclass
from statistics import NormalDist


# Of a packet of 1,514 bytes, headers of Ethernet, IP and TCP have 66; a record of
# TLS adds 22 bytes to 16 KiB.
NET_OF_HEADERS = 1448 / 1514 * 16384 / 16406


@dataclass
class Layer:
    bytes: float     # of its parameters
    forward: float   # seconds
    backward: float


@dataclass
class Link:
    rate: float            # bytes a second, each way
    latency: float = 0.0   # seconds of a message

    def ring(self, workers):
        share = 2 * (workers - 1) / workers
        return [lambda n: 2 * (workers - 1) * self.latency
                + share * n / self.rate]

    def servers(self, workers, servers):
        crowd = max(1.0, workers / servers)
        return [lambda n: self.latency + crowd * n / self.rate] * 2


def serve(jobs, duration, urgent):
    """The end of each (release, layer, bytes), served one at a time."""
    jobs = sorted(jobs)
    ends, waiting, now, i = [], [], 0.0, 0
    while i < len(jobs) or waiting:
        if not waiting:
            now = max(now, jobs[i][0])
        while i < len(jobs) and jobs[i][0] <= now:
            release, layer, size = jobs[i]
            heapq.heappush(waiting, (layer if urgent else i, i, layer, size))
            i += 1
        _, _, layer, size = heapq.heappop(waiting)
        now += duration(size)
        ends.append((now, layer, size))
    return ends


def whole(ends):
    """A layer is passed on when the last of its chunks is there."""
    last = {}
    for end, layer, _ in ends:
        last[layer] = max(end, last.get(layer, 0.0))
    return [(last[layer], layer, size) for _, layer, size in ends]


def fuse(jobs, least):
    """Gradients that leave together, once the last of them is released."""
    fused, pending = [], []
    for job in jobs:
        pending.append(job)
        size = sum(size for _, _, size in pending)
        if size >= least or job is jobs[-1]:
            fused.append((job[0], min(layer for _, layer, _ in pending), size))
            pending = []
    return fused


def step_time(layers, channels, order, chunk=4e6, by_chunk=False, steps=6,
              fused=0):
    back = [0.0] * len(layers)  # when each parameter is there
    now, marks = 0.0, []
    for _ in range(steps):
        for layer, there in zip(layers, back):
            now = max(now, there) + layer.forward
        jobs = []
        for index in reversed(range(len(layers))):
            now += layers[index].backward
            pieces = max(1, math.ceil(layers[index].bytes / chunk))
            if layers[index].bytes > 0:
                jobs += [(now, index, layers[index].bytes / pieces)] * pieces
        if fused:
            jobs = fuse(jobs, fused)
        if order == "barrier":
            jobs = [(now, layer, size) for _, layer, size in jobs]
        for channel in channels:
            ends = serve(jobs, channel, order == "priority")
            jobs = ends if by_chunk else whole(ends)
        back = [0.0] * len(layers)
        for end, index, _ in jobs:
            back[index] = max(back[index], end)
        if fused:  # of a bucket, the first layer's number stands for all
            back = [max(back)] * len(layers)
        if order == "barrier":
            now = max([now] + back)
        marks.append(now)
    return marks[-1] - marks[-2]


def optimum(layers, channels):
    free = [lambda n, c=c: c(n) - c(0) for c in channels]
    return step_time(layers, free, "priority", 16e3, by_chunk=True)


def slowest(workers, sigma):
    """How much longer than the mean the slowest of them takes, on average."""
    normal, parts = NormalDist(), 2000
    return sum(math.exp(sigma * normal.inv_cdf(
        ((i + 0.5) / parts) ** (1 / workers)) - sigma ** 2 / 2)
        for i in range(parts)) / parts


def slowed(layers, workers, sigma):
    factor = slowest(workers, sigma)
    return [Layer(layer.bytes, factor * layer.forward, factor * layer.backward)
            for layer in layers]


def even_layers(parameters, count, seconds):
    return [Layer(4 * parameters / count, seconds / 3 / count,
                  2 * seconds / 3 / count) for _ in range(count)]


def vgg16(seconds):
    """Its thirteen convolutions and three dense layers (arXiv 1409.1556)."""
    shapes = [(3, 64, 224), (64, 64, 224), (64, 128, 112), (128, 128, 112),
              (128, 256, 56), (256, 256, 56), (256, 256, 56), (256, 512, 28),
              (512, 512, 28), (512, 512, 28), (512, 512, 14), (512, 512, 14),
              (512, 512, 14)]
    rows = [((9 * i + 1) * o, 9 * i * o * s * s) for i, o, s in shapes]
    rows += [(i * o + o, i * o)
             for i, o in ((25088, 4096), (4096, 4096), (4096, 1000))]
    work = sum(flops for _, flops in rows)
    return [Layer(4 * count, seconds / 3 * flops / work,
                  2 * seconds / 3 * flops / work) for count, flops in rows]


def alexnet(seconds):
    """One column, five convolutions and three dense layers, 61 M in all."""
    rows = [(34944, 105e6), (614656, 448e6), (885120, 150e6), (1327488, 224e6),
            (884992, 150e6), (37752832, 38e6), (16781312, 17e6),
            (4097000, 4e6)]
    work = sum(flops for _, flops in rows)
    return [Layer(4 * count, seconds / 3 * flops / work,
                  2 * seconds / 3 * flops / work) for count, flops in rows]


def published(sigma):
    print(f"modelled against published scaling, in % of the ideal; sigma {sigma:g}")
    print("Horovod, 128 machines of 4 P100, 25 Gbit/s, ring, 64 MB buffers:")
    for name, layers, claimed in (
            ("ResNet-101", even_layers(44.5e6, 104, 64 / 132), 90),
            ("VGG-16", vgg16(64 / 154), 68)):
        alone = sum(layer.forward + layer.backward for layer in layers)
        modelled = [100 * alone / step_time(
            slowed(layers, 128, sigma),
            Link(25e9 / 8 * share, 15e-6).ring(128), "fifo", 64e6, fused=64e6)
            for share in (0.7, 1.0)]
        print(f"  {name:14} published {claimed} %, modelled "
              f"{modelled[0]:.0f} to {modelled[1]:.0f} % (70 to 100 % of the "
              "link)")
    print("MXNet, 16 machines of 16 K80, 20 Gbit/s, as many servers, against "
          "one machine:")
    for name, make, images, batch, claimed in (
            ("AlexNet", alexnet, 4244.18, 512 * 16, 61938.36),
            ("Inception-v3", lambda s: even_layers(23.8e6, 96, s), 447.61,
             32 * 16, 6660.98),
            ("ResNet-152", lambda s: even_layers(60.2e6, 156, s), 298.03,
             32 * 16, 4630.42)):
        alone = batch / images
        modelled = [100 * alone / step_time(
            slowed(make(alone), 16, sigma), Link(20e9 / 8 * share, 50e-6).servers(16, 16),
            "priority") for share in (0.35, 0.7)]
        print(f"  {name:14} published {100 * claimed / 16 / images:.0f} %, "
              f"modelled {modelled[0]:.0f} to {modelled[1]:.0f} % (35 to 70 % "
              "of the link)")


def machines(gbit, latency_us, sigma):
    print(f"modelled: machines of 4 P100 at {gbit:g} Gbit/s (70 % of it), "
          f"{latency_us:g} us a message; % of the ideal by barrier / fifo / "
          "priority / the same in slices of 256 KiB / optimum; sigma "
          f"{sigma:g}")
    link = Link(gbit * 1e9 / 8 * 0.7, latency_us * 1e-6)
    for name, layers in (("ResNet-101", even_layers(44.5e6, 104, 64 / 132)),
                         ("VGG-16", vgg16(64 / 154))):
        alone = sum(layer.forward + layer.backward for layer in layers)
        for count in (16, 64, 256, 1024):
            late = slowed(layers, count, sigma)
            row = f"  {name:10} {count:5} machines"
            for way, channels in (
                    ("servers 1:1", link.servers(count, count)),
                    ("servers 1:8", link.servers(count, count // 8))):
                times = [step_time(late, channels, order)
                         for order in ("barrier", "fifo", "priority")]
                times.append(step_time(late, channels, "priority", 256 << 10,
                                       by_chunk=True))
                times.append(optimum(late, channels))
                row += f"; {way} " + " / ".join(
                    f"{100 * alone / time:.0f}" for time in times)
            ring = step_time(late, link.ring(count), "fifo", 25e6,
                             fused=25e6)
            row += f"; ring of 25 MB buckets {100 * alone / ring:.0f}"
            print(row)


def read_schedule(path):
    """Seconds at which each step of a worker's run begins, and the last one
    ends, if it never waits; the parameters' ways."""
    begins, exchanges = [0.0], []
    for line in open(path, encoding="utf-8"):
        kind, *rest = line.split()
        if kind == "step":
            begins.append(begins[-1] + 1e-9 * float(rest[0]))
        else:
            exchanges.append(dict(zip(
                ("bytes", "leaves_after_step", "needed_by_step", "priority"),
                map(int, rest)), parameter=rest[4]))
    return begins, exchanges


def rate_of(text):
    """Bytes a second, of what tc calls "200mbit"."""
    for unit, factor in (("gbit", 1e9), ("mbit", 1e6)):
        if text.endswith(unit):
            return float(text.removesuffix(unit)) * factor / 8
    sys.exit(f"{text} is no rate")


CUT_FROM = 4_000_000  # bytes: Settings::cut_from


def homes(exchanges, servers):
    """Of each parameter the bytes that each server has, as runtime/kvstore
    places them: large ones on all, the others whole, the largest first where
    least is."""
    loads, places = [0] * servers, {}
    for x in sorted(exchanges, key=lambda x: -x["bytes"]):
        if x["bytes"] >= CUT_FROM:
            places[x["parameter"]] = {s: x["bytes"] / servers
                                      for s in range(servers)}
            continue
        least = loads.index(min(loads))
        loads[least] += x["bytes"]
        places[x["parameter"]] = {least: x["bytes"]}
    return places


def job_time(begins, exchanges, servers, channels, order, chunk,
             by_chunk=False):
    """As step_time, with the compiled moments: a parameter is needed by a step
    of the next run and leaves after a step of this one. Each server has channels
    of its own."""
    places = homes(exchanges, servers)
    end = begins[-1]
    rank = {x["parameter"]: x["priority"] for x in exchanges}
    at = lambda step: begins[min(step, len(begins) - 1)]
    there = {x["parameter"]: 0.0 for x in exchanges}
    start, marks = 0.0, []
    for _ in range(8):
        delay, moved = 0.0, []  # the run stands still until values are there
        for x in sorted(exchanges, key=lambda x: x["needed_by_step"]):
            delay = max(delay, there[x["parameter"]] - start
                        - at(x["needed_by_step"]))
            moved.append((x["needed_by_step"], delay))
        late = lambda step: max([d for s, d in moved if s <= step], default=0)
        jobs = [[] for _ in range(servers)]
        for x in exchanges:
            leaves = x["leaves_after_step"]
            release = start + at(leaves + 1) + late(leaves)
            if order == "barrier":
                release = start + end + delay
            for server, size in places[x["parameter"]].items():
                pieces = max(1, math.ceil(size / chunk))
                jobs[server] += [(release, rank[x["parameter"]], size / pieces)
                                 ] * pieces
        last = {}
        for arrivals in jobs:
            for channel in channels:
                ends = serve(arrivals, channel, order == "priority")
                arrivals = ends if by_chunk else whole(ends)
            for moment, index, _ in arrivals:
                last[index] = max(moment, last.get(index, 0.0))
        there = {x["parameter"]: last[rank[x["parameter"]]]
                 for x in exchanges}
        start += end + delay
        if order == "barrier":
            start = max(start, *there.values())
        marks.append(start)
    return marks[-1] - marks[-2]


def job(path, rate, latency_us, workers, servers, slice_bytes):
    begins, exchanges = read_schedule(path)
    alone = begins[-1]
    link = Link(rate_of(rate) * NET_OF_HEADERS, latency_us * 1e-6)
    # A server's link carries what all workers send; a worker's, what it sends to
    # all servers.
    channels = link.servers(max(workers, servers), 1)
    free = [lambda n, c=c: c(n) - c(0) for c in channels]
    line = f"  modelled, {workers} workers:"
    for order in ("barrier", "fifo", "priority"):
        time = job_time(begins, exchanges, servers, channels, order,
                        slice_bytes or 256 << 10, slice_bytes > 0)
        line += f" {order} {1e3 * time:.1f}"
    best = job_time(begins, exchanges, servers, free, "priority", 4e3, True)
    print(f"{line} ms a step; optimum {1e3 * best:.1f}, exposed "
          f"{1e3 * (best - alone):.1f}")


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("what", choices=("published", "machines", "job"))
    parser.add_argument("schedule", nargs="?")
    parser.add_argument("--gbit", type=float, default=10)
    parser.add_argument("--rate", default="1gbit")
    parser.add_argument("--sigma", type=float, default=0.02)
    parser.add_argument("--latency-us", type=float, default=50)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--slice", type=int, default=0)  # elements; 0: whole
    given = parser.parse_args()
    if given.what == "published":
        published(given.sigma)
    elif given.what == "machines":
        machines(given.gbit, given.latency_us, given.sigma)
    else:
        job(given.schedule, given.rate, given.latency_us, given.workers,
            given.servers, 4 * given.slice)


if __name__ == "__main__":
    main()
