# SPDX-License-Identifier: Apache-2.0
"""`mxc serve` as a process, and what clients send it."""

import atexit
import http.client
import json
import pathlib
import re
import signal
import socket
import struct
import subprocess
import sys
import zlib

ROOT = pathlib.Path(__file__).parents[2]
PATIENCE = 60  # seconds, on a machine that has much else to do


def check(what, holds):
    if not holds:
        sys.exit(f'failed: {what}')


def compiled(programs, folder, name, network, *options):
    """The artifact of a network, given as a path or as JSON."""
    artifact = folder / f'{name}.mxa'
    if not isinstance(network, pathlib.Path):
        path = folder / f'{name}.json'
        path.write_text(json.dumps(network))
        network = path
    subprocess.run([programs / 'mxc', 'compile', network, '--init', 'xavier',
                    '--target', 'x86-64-v2', '--quiet', '-o', artifact,
                    *options], check=True)
    return artifact


class Server:
    def __init__(self, programs, artifact, *options):
        self.process = subprocess.Popen(
            [programs / 'mxc', 'serve', artifact, '--port', '0', *options],
            stderr=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)  # whatever fails
        for line in self.process.stderr:
            if line.startswith('serving on '):
                break
        found = re.fullmatch(r'serving on (https?)://(.*):(\d+); .*\n', line)
        check(f'where it listens: {line}', found)
        self.port = int(found[3])

    def connect(self):
        return socket.create_connection(('127.0.0.1', self.port), PATIENCE)

    def ask(self, method, path, body=None, headers=None):
        connection = http.client.HTTPConnection('127.0.0.1', self.port,
                                                timeout=PATIENCE)
        connection.request(method, path, body, headers or {})
        response = connection.getresponse()
        self.headers = response.headers
        return response.status, response.read()

    def refused(self, method, path, body=None, headers=None):
        status, answer = self.ask(method, path, body, headers)
        return status, json.loads(answer)['errors'][0]['message']

    def peak(self):
        """The most memory that was resident, in bytes."""
        status = pathlib.Path(f'/proc/{self.process.pid}/status').read_text()
        return int(re.search(r'VmHWM:\s*(\d+) kB', status)[1]) << 10

    def stop(self, with_signal=signal.SIGTERM):
        if with_signal:
            self.process.send_signal(with_signal)
        said = self.process.stderr.read()
        check('stopping ends with 0', self.process.wait(PATIENCE) == 0)
        return said


def to_the_end(connection):
    answer = b''
    while piece := connection.recv(1 << 16):
        answer += piece
    return answer


def post(path, body, *lines):
    """A request that says how long its body is."""
    head = [f'POST {path} HTTP/1.1', 'Host: test',
            f'Content-Length: {len(body)}', *lines, '', '']
    return '\r\n'.join(head).encode() + body


def form(parts):
    """A multipart/form-data and the header that says where its parts end."""
    body = b''
    for name, content in parts.items():
        body += (f'--limit\r\nContent-Disposition: form-data; name="{name}"; '
                 'filename="x.npy"\r\n\r\n').encode() + content + b'\r\n'
    return (body + b'--limit--\r\n',
            {'Content-Type': 'multipart/form-data; boundary=limit'})


def npy(values, shape=None, kind='f4'):
    """A .npy of float32, or of bytes, 'u1'."""
    shape = shape or (len(values),)
    header = (f"{{'descr': '<{kind}', 'fortran_order': False, 'shape': "
              f"{tuple(shape)}, }}").ljust(117) + '\n'
    code = {'f4': 'f', 'u1': 'B'}[kind]
    return (b'\x93NUMPY\x01\x00' + struct.pack('<H', len(header)) +
            header.encode() + struct.pack(f'<{len(values)}{code}', *values))


def png(width, height, rgb):
    """A PNG of those bytes, not compressed."""
    stride = 3 * width
    rows = b''.join(b'\0' + rgb[stride * y:stride * (y + 1)]
                    for y in range(height))
    return png_of(width, height, zlib.compress(rows, 0))


def png_of(width, height, deflated):
    def chunk(kind, content):
        return (struct.pack('>I', len(content)) + kind + content +
                struct.pack('>I', zlib.crc32(kind + content)))
    return (b'\x89PNG\r\n\x1a\n' +
            chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0,
                                       0)) +
            chunk(b'IDAT', deflated) + chunk(b'IEND', b''))
