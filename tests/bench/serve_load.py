#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: serve_load.py BIN_DIR [--network FILE] [--requests N] [--clients N]

Loads `mxc serve` and prints a table: requests on connections of their own and on
kept ones; ten thousand connections open at once (as many as there are requests);
and the most memory that hostile bodies make resident. The clients are one Python
process beside the server: its time is in every number.
"""

import argparse
import asyncio
import json
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'serve'))
from server import ROOT, Server, check, npy, post  # noqa: E402

MAX_BODY = 100 << 10  # where bodies are hostile


async def answered(reader):
    """Whether the next answer is 200; None: the connection was lost."""
    try:
        head = await reader.readuntil(b'\r\n\r\n')
        size = int(head.lower().split(b'content-length: ')[1].split()[0])
        await reader.readexactly(size)
        return head.startswith(b'HTTP/1.1 200 ')
    except (OSError, asyncio.IncompleteReadError):
        return None


async def closed_loop(port, body, kept, total, clients):
    """Each client asks again when it is answered."""
    times, outcomes, left = [], [], total

    async def client():
        nonlocal left
        connection = None
        while left > 0:
            left -= 1
            begin = time.perf_counter()
            try:
                if connection is None:
                    connection = await asyncio.open_connection('127.0.0.1',
                                                               port)
                reader, writer = connection
                writer.write(body)
                outcomes.append(await answered(reader))
            except OSError:
                outcomes.append(None)
            times.append(time.perf_counter() - begin)
            if not kept or outcomes[-1] is None:
                writer.close()
                connection = None
    begin = time.perf_counter()
    await asyncio.gather(*(client() for _ in range(clients)))
    return times, outcomes, time.perf_counter() - begin


async def all_open(port, body, count):
    """All connect; when all are connected, all ask."""
    begin = time.perf_counter()
    connections, outcomes, times = [], [], []
    for first in range(0, count, 500):
        connections += await asyncio.gather(
            *(asyncio.open_connection('127.0.0.1', port)
              for _ in range(first, min(first + 500, count))))

    async def ask(reader, writer):
        sent = time.perf_counter()
        writer.write(body)
        outcomes.append(await answered(reader))
        times.append(time.perf_counter() - sent)
        writer.close()
    await asyncio.gather(*(ask(*connection) for connection in connections))
    return times, outcomes, time.perf_counter() - begin


async def hostile(port):
    """50 at a time: endless chunks, bodies of the limit, lengths that lie."""
    chunk = b'%x\r\n' % 65536 + bytes(65536) + b'\r\n'
    bodies = [
        b'POST /predict HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n' +
        chunk * 64,
        post('/predict', bytes(MAX_BODY), 'Connection: close'),
        post('/predict', b'', 'Content-Length: 99999999999')]

    async def client(number):
        reader, writer = await asyncio.open_connection('127.0.0.1', port)
        writer.write(bodies[number % len(bodies)])
        try:
            await asyncio.wait_for(reader.read(), 30)
        except (OSError, asyncio.TimeoutError):
            pass
        writer.close()
    for first in range(0, 600, 50):
        await asyncio.gather(*(client(first + k) for k in range(50)))


def row(what, result):
    times, outcomes, seconds = result
    times = sorted(times)
    p50, p99 = times[len(times) // 2], times[len(times) * 99 // 100]
    print(f'| {what} | {outcomes.count(True)} | {outcomes.count(False)} | '
          f'{outcomes.count(None)} | {len(outcomes) / seconds:.0f} | '
          f'{p50 * 1e3:.1f} | {p99 * 1e3:.1f} | {p99 / p50:.1f} |', flush=True)


def sample(server):
    """A .npy of ones, as GET / says that the network takes."""
    shape = json.loads(server.ask('GET', '/')[1])['inputs'][0]['shape']
    count = 1
    for axis in shape:
        count *= axis
    return npy([1] * count, shape)


def load(server, options):
    body = sample(server)
    kept = post('/predict?top=1', body)
    alone = post('/predict?top=1', body, 'Connection: close')
    loop = (options.requests, options.clients)
    row(f'{options.clients} clients, a connection each request',
        asyncio.run(closed_loop(server.port, alone, False, *loop)))
    row(f'{options.clients} clients, kept connections',
        asyncio.run(closed_loop(server.port, kept, True, *loop)))
    count = min(options.requests, options.files - 200)
    row(f'{count} connections at once',
        asyncio.run(all_open(server.port, alone, count)))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('folder', type=pathlib.Path)
    parser.add_argument('--network', type=pathlib.Path,
                        default=ROOT / 'models/mlp.json')
    parser.add_argument('--requests', type=int, default=10000)
    parser.add_argument('--clients', type=int, default=64)
    options = parser.parse_args()
    programs = options.folder.resolve()
    _, options.files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (options.files, options.files))
    with tempfile.TemporaryDirectory() as folder:
        artifact = pathlib.Path(folder) / 'net.mxa'
        subprocess.run([programs / 'mxc', 'compile', options.network, '--init',
                        'xavier', '--quiet', '-o', artifact], check=True)
        print('| | 200 | other | lost | requests/s | p50 ms | p99 ms | '
              'p99 ÷ p50 |\n|---|---|---|---|---|---|---|---|')
        server = Server(programs, artifact, '--quiet')
        load(server, options)
        server.stop()
        server = Server(programs, artifact, '--quiet', '--max-body',
                        str(MAX_BODY))
        before = server.peak()
        asyncio.run(hostile(server.port))
        print(f'\nresident at most: {before / 2**20:.1f} MiB before, '
              f'{server.peak() / 2**20:.1f} MiB with hostile bodies of '
              f'--max-body {MAX_BODY / 2**20:.1f} MiB')
        check('it still answers', server.ask('GET', '/health')[0] == 200)
        server.stop()


main()
