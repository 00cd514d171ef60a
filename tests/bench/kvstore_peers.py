#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds of push + pull between workers and one server by ZeroMQ, in the clear
and under CURVE, and by gRPC, over TCP on this machine, to stand beside kvstore_bench in one run:

  kvstore_bench && kvstore_peers.py [WORKERS]

Each worker sends its bytes and gets as many back once all have sent theirs. The
server adds nothing, so that only the transport is timed. Needs pyzmq and grpcio
(python3 -m venv …; pip install pyzmq grpcio)."""
import multiprocessing
import sys
import threading
import time
from concurrent import futures

import grpc
import zmq

TIMES = 6
SIZES = (16, 64, 100)  # MB
PIECE = 1 << 20
ROUNDS = [size for size in SIZES for _ in range(TIMES)]


def report(name, worker, times):
    if worker > 0:
        return
    for i, size in enumerate(SIZES):
        some = sorted(times[i * TIMES:(i + 1) * TIMES])
        mean = sum(times[i * TIMES + 1:(i + 1) * TIMES]) / (TIMES - 1)
        print(f"{size:4d} MB {name}: mean {1e3 * mean:6.1f} ms, best "
              f"{1e3 * some[0]:6.1f} ms, median "
              f"{1e3 * some[TIMES // 2]:6.1f} ms", flush=True)


def secure(socket, keys):
    """The server's keys, and a worker's; None: in the clear."""
    if keys is None:
        return
    (server, own_secret), worker = keys
    if socket.type == zmq.ROUTER:
        socket.curve_server = True
        socket.curve_publickey, socket.curve_secretkey = server, own_secret
    else:
        socket.curve_serverkey = server
        socket.curve_publickey, socket.curve_secretkey = worker


def zmq_server(workers, port, keys):
    socket = zmq.Context().socket(zmq.ROUTER)
    secure(socket, keys)
    socket.bind(f"tcp://127.0.0.1:{port}")
    for size in ROUNDS:
        value = bytes(size * 1_000_000)
        names = [socket.recv_multipart(copy=False)[0] for _ in range(workers)]
        for name in names:
            socket.send_multipart([name, value], copy=False)
    socket.close(linger=-1)
    socket.context.term()


def zmq_worker(worker, port, keys):
    socket = zmq.Context().socket(zmq.DEALER)
    secure(socket, keys)
    socket.connect(f"tcp://127.0.0.1:{port}")
    times = []
    for size in ROUNDS:
        gradient = bytes(size * 1_000_000)
        start = time.perf_counter()
        socket.send(gradient, copy=False)
        got = socket.recv(copy=False)
        times.append(time.perf_counter() - start)
        assert len(got.buffer) == len(gradient)
    way = "in the clear" if keys is None else "CURVE"
    report(f"ZeroMQ {zmq.zmq_version()} {way}", worker, times)


def pieces(data):
    view = memoryview(data)
    for begin in range(0, len(data), PIECE):
        yield bytes(view[begin:begin + PIECE])


class Exchange(grpc.GenericRpcHandler):
    def __init__(self, workers):
        self.barrier = threading.Barrier(workers)

    def service(self, details):
        return grpc.stream_stream_rpc_method_handler(self.exchange)

    def exchange(self, request, _):
        size = sum(len(piece) for piece in request)
        self.barrier.wait()
        yield from pieces(bytes(size))


def grpc_server(workers, port, stop):
    server = grpc.server(futures.ThreadPoolExecutor(workers))
    server.add_generic_rpc_handlers((Exchange(workers),))
    server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    stop.wait()
    server.stop(1)


def grpc_worker(worker, port, _):
    channel = grpc.insecure_channel(
        f"127.0.0.1:{port}", options=[("grpc.enable_http_proxy", 0)])
    grpc.channel_ready_future(channel).result(timeout=20)
    call = channel.stream_stream("/mxc/exchange")
    times = []
    for size in ROUNDS:
        gradient = bytes(size * 1_000_000)
        start = time.perf_counter()
        got = sum(len(piece) for piece in call(pieces(gradient)))
        times.append(time.perf_counter() - start)
        assert got == len(gradient)
    report(f"gRPC {grpc.__version__}", worker, times)


def main():
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    start = multiprocessing.get_context("spawn")
    stop = start.Event()
    keys = zmq.curve_keypair(), zmq.curve_keypair()
    for server, worker, port, own in (
            (zmq_server, zmq_worker, 47111, None),
            (zmq_server, zmq_worker, 47112, keys),
            (grpc_server, grpc_worker, 47113, stop)):
        serving = start.Process(target=server, args=(workers, port, own))
        serving.start()
        working = [start.Process(
            target=worker,
            args=(rank, port, None if server is grpc_server else own))
            for rank in range(workers)]
        for process in working:
            process.start()
        for process in working:
            process.join()
        if server is grpc_server:
            stop.set()
        serving.join()


if __name__ == "__main__":
    main()
