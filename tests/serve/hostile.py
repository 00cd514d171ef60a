#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: hostile.py BIN_DIR

`mxc serve` among clients that are slow, greedy or rude: others are answered,
nothing that they send becomes a request, memory stays within its bound, and a
signal ends the server without losing what was accepted.
"""

import gzip
import pathlib
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zlib

from server import (PATIENCE, ROOT, Server, check, compiled, png_of, post,
                    to_the_end)

BIN = pathlib.Path(sys.argv[1]).resolve()
LIMIT = 100 << 10
TOO_LARGE = f'the body is larger than {LIMIT} bytes (--max-body)'.encode()
CHUNKED = (b'POST /predict HTTP/1.1\r\nHost: x\r\n'
           b'Transfer-Encoding: chunked\r\n\r\n')


def health(server, what):
    begin = time.monotonic()
    answer = server.ask('GET', '/health')
    check(f'/health {what}', answer == (200, b'ok\n'))
    return time.monotonic() - begin


def slow_clients(server, body):
    """More than there are workers, in heads and in bodies, and silent ones."""
    slow = [server.connect() for _ in range(60)]
    for number, client in enumerate(slow):
        client.sendall([b'', b'POST /predict HT', post('/predict', body)[:-50]]
                       [number % 3])
    for number in range(3):
        for client in slow[1::3]:
            client.sendall(b'T')
        health(server, 'beside slow clients')
        status, _ = server.ask('POST', '/predict', body)
        check('a request beside slow clients', status == 200)
    slow[2].sendall(post('/predict', body, 'Connection: close')[-50:])
    check('a slow one that is done', slow[2].recv(1 << 16).startswith(
        b'HTTP/1.1 200 OK\r\n'))
    check('one that is too slow', to_the_end(slow[5]).startswith(
        b'HTTP/1.1 408 '))
    for client in slow:
        client.close()


def pipelined(server, body):
    with server.connect() as client:
        requests = [post('/predict?top=1', body, f'X-Request-Id: r{number}')
                    for number in range(20)]
        client.sendall(b''.join(requests) +
                       b'GET /health HTTP/1.1\r\nConnection: close\r\n\r\n')
        answers = to_the_end(client).split(b'HTTP/1.1 200 OK\r\n')[1:]
        check(f'{len(answers)} answers in a row', len(answers) == 21 and all(
            f'X-Request-Id: r{number}\r\n'.encode() in answer
            for number, answer in enumerate(answers[:20])))


def refused_and_closed(server):
    """Who is refused and wants no more is not kept waiting for the end."""
    for head in (b'GET /nope HTTP/1.1\r\nConnection: close',
                 b'HEAD /predict HTTP/1.1\r\nConnection: close',
                 b'PUT /health HTTP/1.1\r\nConnection: close',
                 b'GET /nope HTTP/1.0'):
        with server.connect() as client:
            client.sendall(head + b'\r\nHost: x\r\n\r\n')
            check(f'{head.decode()} is closed',
                  b'\r\nConnection: close\r\n' in to_the_end(client))


def refused_bodies(server):
    """Each is told why, whatever it still sends, and none of it is a request."""
    hidden = b'GET /hidden HTTP/1.1\r\n\r\n' * 200000
    greedy = {
        'chunked': (CHUNKED + b'%x\r\n' % len(hidden) + hidden, TOO_LARGE),
        'chunked, piece by piece': (
            CHUNKED + (b'8000\r\n' + bytes(0x8000) + b'\r\n') * 200, TOO_LARGE),
        'a length': (post('/predict', hidden), TOO_LARGE),
        'compressed': (post('/predict', gzip.compress(bytes(1 << 26)),
                            'Content-Encoding: gzip'), b'compressed (gzip)'),
        'another path': (
            post('/nowhere', hidden[:LIMIT]), b'there is no POST'),
        'two lengths': (
            post('/predict', b'', 'Content-Length: 9') + hidden, b'"errors"'),
        'a length and chunks': (
            post('/predict', b'', 'Transfer-Encoding: chunked') + hidden,
            b'"errors"'),
        'a length that is none': (
            b'POST /predict HTTP/1.1\r\nContent-Length: 1e9\r\n\r\n' + hidden,
            b'"errors"'),
        'a chunk that is none': (CHUNKED + b'xyz\r\n' + hidden, b'"errors"'),
        'a long head': (b'GET / HTTP/1.1\r\nX: ' + b'x' * 4000000,
                        b'the head is larger'),
        'TLS': (b'\x16\x03\x01\r\n\r\n' + hidden, b'"errors"'),
    }
    for what, (request, why) in greedy.items():
        with server.connect() as client:
            client.sendall(request)
            answer = to_the_end(client)
            check(f'{what}: {answer[:400]}', why in answer and
                  answer.count(b'HTTP/1.1 ') == 1)


def many_bodies(server):
    """More than there is memory for, at once: 413 and 503, never more memory."""
    answers = []

    def client(request):
        with server.connect() as one:
            one.sendall(request)
            answers.append(to_the_end(one)[9:12])
    chunk = b'%x\r\n' % (LIMIT - 1) + bytes(LIMIT - 1) + b'\r\n'
    requests = [CHUNKED + chunk * 50, post('/predict', bytes(LIMIT),
                                           'Connection: close')] * 50
    clients = [threading.Thread(target=client, args=(request,))
               for request in requests]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    check(f'all were answered: {answers}', len(answers) == len(requests) and
          set(answers) <= {b'400', b'413', b'503'})


def large_pictures(folder):
    """Small files that unpack to much: what does not fit is refused."""
    artifact = compiled(BIN, folder, 'picture', {
        'mxc': 1, 'inputs': {'data': [1, 3, 8, 8]},
        'nodes': [{'op': 'FullyConnected', 'num_hidden': 5}]})
    server = Server(BIN, artifact, '--max-body', str(LIMIT), '--workers', '4',
                    '--quiet')
    side = 8192
    rows = zlib.compress(bytes((3 * side + 1) * side), 9)
    bomb = png_of(side, side, rows)[:LIMIT]
    # A JPEG's head alone: the marker of a frame of 65500 x 65500.
    frame = b'\xff\xd8\xff\xc0\x00\x11\x08\xff\xdc\xff\xdc\x03' + bytes(99)
    for picture in (bomb, frame):
        status, message = server.refused('POST', '/predict', picture)
        check(f'{status} {message}', status == 400 and 'pixels' in message)
    large = png_of(1900, 1900, zlib.compress(bytes(5701 * 1900), 0)[:LIMIT])
    clients = [threading.Thread(target=server.ask,
                                args=('POST', '/predict', large))
               for _ in range(8)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    check(f'{server.peak()} bytes', server.peak() < LIMIT + (64 << 20))
    server.stop()


def beyond_the_queue(artifact, body):
    """503 and Retry-After; nobody is reset."""
    server = Server(BIN, artifact, '--workers', '1', '--queue', '1', '--quiet')
    answers = []

    def client():
        for _ in range(8):
            status, _ = server.ask('POST', '/predict', body)
            answers.append((status, server.headers['Retry-After']))
    clients = [threading.Thread(target=client) for _ in range(32)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    statuses = {status for status, _ in answers}
    check(f'all are answered: {statuses}', len(answers) == 256 and
          statuses <= {200, 503} and 200 in statuses)
    server.stop()


def stop_while_asked(artifact, body):
    """A request that arrives piece by piece while the server is stopped, one
    that never becomes whole, and connections that have not been looked at."""
    server = Server(BIN, artifact)
    whole = post('/predict?top=1', body)
    with server.connect() as late, server.connect() as never, \
            server.connect() as idle:
        late.sendall(whole[:1000])
        never.sendall(whole[:1000])
        idle.sendall(b'GET /health HTTP/1.1\r\n\r\n')
        check('an idle one', idle.recv(1 << 16).startswith(b'HTTP/1.1 200'))
        server.process.send_signal(signal.SIGSTOP)
        new = [server.connect() for _ in range(50)]
        for client in new:
            client.sendall(whole)
        server.process.send_signal(signal.SIGTERM)
        server.process.send_signal(signal.SIGCONT)
        for client in new:
            check('who has connected', b'"label"' in to_the_end(client))
            client.close()
        late.sendall(whole[1000:])
        check('what was begun', b'"label"' in to_the_end(late))
        check('the idle one ends', to_the_end(idle) == b'')
        check('what never comes', to_the_end(never).startswith(
            b'HTTP/1.1 408 '))
    said = server.stop(with_signal=None)
    check(f'the last words: {said}', 'stopped; ' in said)


def main():
    with tempfile.TemporaryDirectory() as name:
        artifact = compiled(BIN, pathlib.Path(name), 'net',
                            ROOT / 'models/mlp.json', '--batch', '1,4')
        body = subprocess.run([ROOT / 'tools/draw_digit'], check=True,
                              capture_output=True).stdout
        server = Server(BIN, artifact, '--workers', '2', '--max-body',
                        str(LIMIT), '--quiet')
        pipelined(server, body)
        refused_and_closed(server)
        refused_bodies(server)
        many_bodies(server)
        slow_clients(server, body)
        peak = server.peak()
        check(f'{peak} bytes', peak < LIMIT + (64 << 20))
        check('it still answers', health(server, 'at last') < PATIENCE)
        server.stop()
        beyond_the_queue(artifact, body)
        stop_while_asked(artifact, body)
        large_pictures(pathlib.Path(name))
    print('served')


main()
