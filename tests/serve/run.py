#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py BIN_DIR

`mxc serve` as clients meet it: answers are those of `mxc run`, whoever asks and
however many at once; mistakes are told; a request that is being computed is
answered when the server is asked to stop. Exits with 77 where it is not built.
"""

import http.client
import json
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).parents[2]
BIN = pathlib.Path(sys.argv[1]).resolve()


def check(what, holds):
    if not holds:
        sys.exit(f'failed: {what}')


class Server:
    def __init__(self, artifact, *options):
        self.process = subprocess.Popen(
            [BIN / 'mxc', 'serve', artifact, '--port', '0', *options],
            stderr=subprocess.PIPE, text=True)
        line = self.process.stderr.readline()
        check(f'where it listens: {line}', line.startswith('serving on http://'))
        self.port = int(line.split(':')[2].split(';')[0])

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        return response.status, response.read()

    def refused(self, method, path, body=None, headers=None):
        status, answer = self.ask(method, path, body, headers)
        return status, json.loads(answer)['errors'][0]['message']

    def stop(self, with_signal=signal.SIGTERM):
        if with_signal:
            self.process.send_signal(with_signal)
        check('stopping ends with 0', self.process.wait(timeout=20) == 0)
        return self.process.stderr.read()


def expected(artifact, file):
    report = subprocess.run(
        [BIN / 'mxc-run', 'run', artifact, '--input', file, '--top', '3',
         '--json'], check=True, capture_output=True).stdout
    return json.loads(report)['top']


def many_at_once(server, body, top):
    wrong = []

    def client():
        for _ in range(10):
            status, answer = server.ask('POST', '/predict?top=3', body)
            if status != 200 or json.loads(answer)['top'] != top:
                wrong.append(answer)
    clients = [threading.Thread(target=client) for _ in range(12)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    check(f'120 requests, 12 at once: {wrong[:1]}', not wrong)


def mistakes(server, body):
    check('no body', server.refused('POST', '/predict', b'') ==
          (400, 'the body is empty'))
    status, message = server.refused('POST', '/predict', b'hello')
    check(f'no picture: {message}', status == 400 and 'the body' in message and
          '/proc' not in message)
    status, message = server.refused('POST', '/predict', body[:200])
    check(f'a part: {message}', status == 400 and 'the body' in message)
    check('top', server.refused('POST', '/predict?top=0', body) ==
          (400, "top: '0' is not a whole number of at least 1"))
    check('another path', server.refused('GET', '/favicon.ico')[0] == 404)
    check('too large', server.refused('POST', '/predict', bytes(5000)) ==
          (413, 'the body is larger than 4096 bytes'))
    # Somebody who speaks no HTTP, and somebody who says nothing.
    with socket.create_connection(('127.0.0.1', server.port)) as rude:
        rude.sendall(b'\x16\x03\x01\r\n\r\n')
    with socket.create_connection(('127.0.0.1', server.port)):
        check('beside a silent client', server.ask('GET', '/health') ==
              (200, b'ok\n'))


def stop_while_asked(server, body):
    """A request that arrives piece by piece while the server is stopped."""
    with socket.create_connection(('127.0.0.1', server.port)) as late:
        head = f'POST /predict?top=1 HTTP/1.1\r\nContent-Length: {len(body)}'
        late.sendall(head.encode() + b'\r\n\r\n' + body[:1000])
        check('busy', server.ask('GET', '/health')[0] == 200)
        server.process.send_signal(signal.SIGINT)
        late.sendall(body[1000:])
        answer = b''
        while piece := late.recv(4096):
            answer += piece
        check(f'what was begun is answered: {answer}', b'"label"' in answer)
    said = server.stop(with_signal=None)
    check(f'the last words: {said}', 'stopped; ' in said)


def form(parts):
    """A multipart/form-data and the header that says where its parts end."""
    body = b''
    for name, content in parts.items():
        body += (f'--limit\r\nContent-Disposition: form-data; name="{name}"; '
                 'filename="x.npy"\r\n\r\n').encode() + content + b'\r\n'
    return (body + b'--limit--\r\n',
            {'Content-Type': 'multipart/form-data; boundary=limit'})


def npy(values):
    header = ("{'descr': '<f4', 'fortran_order': False, 'shape': "
              f"({len(values)},), }}").ljust(117) + '\n'
    return (b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) +
            header.encode() + struct.pack(f'<{len(values)}f', *values))


def several_inputs(folder):
    network, artifact = folder / 'two.json', folder / 'two.mxa'
    network.write_text(
        '{"mxc": 1, "inputs": {"x": [2], "y": [2]}, "nodes": '
        '[{"op": "elemwise_sub", "name": "s", "inputs": ["x", "y"]}]}')
    subprocess.run([BIN / 'mxc', 'compile', network, '--target', 'x86-64-v2',
                    '--quiet', '-o', artifact], check=True)
    server = Server(artifact)
    x, y = npy([5, 7]), npy([1, 10])
    status, answer = server.ask('POST', '/predict', *form({'y': y, 'x': x}))
    check(f'x - y: {answer}', status == 200 and
          json.loads(answer)['outputs'][0]['values'] == [4, -3])
    wanted = ("the network reads several inputs, 'x', 'y': send a "
              'multipart/form-data with a part for each, as in: '
              'curl -F x=@x.npy -F y=@y.npy')
    check('one body', server.refused('POST', '/predict', x) == (400, wanted))
    check('one part', server.refused('POST', '/predict', *form({'x': x})) ==
          (400, wanted))
    status, message = server.refused('POST', '/predict',
                                     *form({'x': x, 'y': y[:-1]}))
    check(f'a part that is cut: {message}',
          status == 400 and message.startswith("part 'y': "))
    check('an empty part', server.refused(
        'POST', '/predict', *form({'x': x, 'y': b''})) ==
        (400, "part 'y' is empty"))
    server.stop()


def main():
    if not (BIN / 'mxc-serve').exists():
        print('skipped: mxc-serve is not built')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        artifact, digit = folder / 'net.mxa', folder / 'digit.npy'
        subprocess.run([BIN / 'mxc', 'compile', ROOT / 'models/mlp.json',
                        '--init', 'xavier', '--target', 'x86-64-v2', '--batch',
                        '1,4', '--quiet', '-o', artifact], check=True)
        digit.write_bytes(
            subprocess.run([ROOT / 'tools/draw_digit'], check=True,
                           capture_output=True).stdout)
        body, top = digit.read_bytes(), expected(artifact, digit)
        server = Server(artifact, '--workers', '3', '--max-body', '4096')
        status, answer = server.ask('GET', '/')
        told = json.loads(answer)
        check(f'what it takes: {told}', status == 200 and
              told['inputs'] == [{'name': 'data', 'dtype': 'float32',
                                  'shape': [1, 1, 28, 28]}])
        many_at_once(server, body, top)
        status, answer = server.ask('POST', '/predict', body)
        values = json.loads(answer)['outputs'][0]['values']
        check('all outputs', len(values) == 10 and
              max(values) == top[0][0]['value'])
        mistakes(server, body)
        taken = subprocess.run([BIN / 'mxc', 'serve', artifact, '--port',
                                str(server.port)], capture_output=True,
                               text=True)
        check(f'a port that is taken: {taken.stderr}', taken.returncode == 1 and
              'Address already in use' in taken.stderr)
        stop_while_asked(server, body)
        server = Server(artifact, '--quiet')
        server.ask('GET', '/health')
        check('nothing but the last line with --quiet',
              server.stop().count('\n') == 1)
        several_inputs(folder)
    print('served')


main()
