#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: web.py BIN_DIR

`mxc serve --web` as a browser meets it: files of the folder and no others, the
bytes of ranges, and the headers that isolate a page.
"""

import pathlib
import sys
import tempfile

from server import Server, check

BIN = pathlib.Path(sys.argv[1]).resolve()
CONTENT = bytes(range(256)) * 40


def ranges(server):
    for asked, first, end in (('bytes=0-9', 0, 10), ('bytes=10239-', 10239, 10240),
                              ('bytes=100-99999', 100, 10240), ('bytes=-5', 10235, 10240),
                              ('bytes=-99999', 0, 10240)):
        status, body = server.ask('GET', '/net.weights', headers={'Range': asked})
        check(f'{asked}: {status}', status == 206 and body == CONTENT[first:end])
        check(f'{asked}: Content-Range',
              server.headers['Content-Range'] == f'bytes {first}-{end - 1}/10240')
    for asked in ('bytes=10240-', 'bytes=99999999999-', 'bytes=-0'):
        status, _ = server.ask('GET', '/net.weights', headers={'Range': asked})
        check(f'{asked}: {status}',
              status == 416 and server.headers['Content-Range'] == 'bytes */10240')
    # Other forms ask for nothing that a server must know.
    for asked in ('bytes=5-2', 'bytes=0-1,4-5', 'bytes=x-', 'lines=1-2', 'bytes=',
                  'bytes=99999999999999999999-', 'bytes=-'):
        status, body = server.ask('GET', '/net.weights', headers={'Range': asked})
        check(f'{asked}: {status}', status == 200 and body == CONTENT)


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / 'page'
        (folder / 'within').mkdir(parents=True)
        (folder / 'index.html').write_text('<!doctype html>')
        (folder / 'net.mjs').write_text('export {};')
        (folder / 'net.wasm').write_bytes(b'\0asm')
        (folder / 'net.weights').write_bytes(CONTENT)
        for secret in ('.hidden', 'within/file', '../outside'):
            (folder / secret).write_text('secret')
        server = Server(BIN, f'--web={folder}')
        types = {'/': 'text/html; charset=utf-8', '/index.html': 'text/html; charset=utf-8',
                 '/net.mjs': 'text/javascript; charset=utf-8', '/net.wasm': 'application/wasm',
                 '/net.weights': 'application/octet-stream'}
        for path, kind in types.items():
            status, _ = server.ask('GET', path)
            check(f'{path}: {status}', status == 200 and server.headers['Content-Type'] == kind)
            for header, value in (('Cross-Origin-Opener-Policy', 'same-origin'),
                                  ('Cross-Origin-Embedder-Policy', 'require-corp')):
                check(f'{path}: {header}', server.headers[header] == value)
        check('a file as it is', server.ask('GET', '/net.weights') == (200, CONTENT))
        status, body = server.ask('HEAD', '/net.weights')
        check('HEAD', status == 200 and body == b'' and server.headers['Content-Length'] == '10240')
        ranges(server)
        for path in ('/within', '/within/file', '/../outside', '/%2e%2e/outside', '/..%2foutside',
                     '/.hidden', '/nothing', '//index.html', '/index.html%00'):
            status, said = server.refused('GET', path)
            check(f'{path}: {status}', status == 404 and said.startswith('there is no file'))
        status, said = server.refused('POST', '/index.html', b'x')
        check(f'POST: {status}', status == 405 and said == 'files are only read: GET or HEAD')
        said = server.stop()
        check(f'it stops: {said}', said.endswith(' requests were answered\n'))


main()
