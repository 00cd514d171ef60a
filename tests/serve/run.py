#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py BIN_DIR

`mxc serve` as clients meet it: answers are those of `mxc run`, whoever asks,
whatever the body calls itself, and however many at once; mistakes are told.
"""

import json
import math
import pathlib
import random
import re
import struct
import subprocess
import sys
import tempfile
import threading
import urllib.request

from server import ROOT, Server, check, compiled, form, npy, png

BIN = pathlib.Path(sys.argv[1]).resolve()


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
    clients = [threading.Thread(target=client) for _ in range(64)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    check(f'640 requests, 64 at once: {wrong[:1]}', not wrong)


def expected_outputs(artifact, file):
    """What `mxc run` writes: the outputs' values."""
    folder = file.parent / 'outputs'
    subprocess.run([BIN / 'mxc-run', 'run', artifact, '--input', file,
                    '--output-dir', folder], check=True, capture_output=True)
    data = (folder / 'output_0.npy').read_bytes()[128:]
    return list(struct.unpack(f'<{len(data) // 4}f', data))


def not_finite(server, digit):
    """A NaN is told in the answer, as `mxc run --json` does."""
    values = list(struct.unpack('<784f', digit[-4 * 784:]))
    values[30] = math.nan
    status, answer = server.ask('POST', '/predict?top=1',
                                npy(values, (1, 1, 28, 28)))
    check(f'NaN: {answer}', status == 200 and json.loads(answer)['warnings'] ==
          ["input 'data' holds nan at (0, 0, 1, 2)"])


def json_bodies(server, digit, outputs):
    """Arrays in JSON, plain, by name and as KServe's protocol v2 has them."""
    values = list(struct.unpack('<784f', digit[-4 * 784:]))
    nested = [[[values[28 * y:28 * y + 28] for y in range(28)]]]
    for body in (nested, {'data': nested}, {'instances': nested}):
        status, answer = server.ask('POST', '/predict', json.dumps(body))
        check(f'JSON: {answer[:200]}', status == 200 and
              json.loads(answer)['outputs'][0]['values'] == outputs)
    status, answer = server.ask('POST', '/predict?top=1',
                                json.dumps(nested * 5))
    check('five samples', len(json.loads(answer)['top']) == 5)
    for wrong, why in (([[1, 2], [3]], 'several lengths'), ([[1, 'a']], 'type'),
                       ({}, 'no array'), ({'data': 5}, 'no array'),
                       ([[1, 2]], 'holds (1, 2)'), ([[]], 'empty')):
        status, message = server.refused('POST', '/predict', json.dumps(wrong))
        check(f'{wrong}: {message}', status == 400 and why in message)
    for wrong, why in ((b'[[1, 2', 'damaged'),
                       (b'{"data": [1], "data": [2]}', "'data' more than once"), (b'[' * 90000, 'nested'),
                       (b'[' + b'1,' * 2000000 + b'1]', 'send them as .npy')):
        status, message = server.refused('POST', '/predict', wrong)
        check(f'{wrong[:9]}: {message}', status == 400 and why in message)


def kserve(server, digit, outputs):
    values = list(struct.unpack('<784f', digit[-4 * 784:]))
    check('ready', server.ask('GET', '/v2/health/ready')[0] == 200)
    status, answer = server.ask('GET', '/v2/models/net')
    told = json.loads(answer)
    check(f'metadata: {told}', told['inputs'] == [
        {'name': 'data', 'datatype': 'FP32', 'shape': [-1, 1, 28, 28]}])
    request = {'id': '42', 'inputs': [{'name': 'data', 'datatype': 'FP32',
                                       'shape': [1, 1, 28, 28],
                                       'data': values}]}
    status, answer = server.ask('POST', '/v2/models/net/infer',
                                json.dumps(request))
    told = json.loads(answer)
    check(f'infer: {told}', told['id'] == '42' and
          told['model_name'] == 'net' and told['outputs'] == [
              {'name': 'softmax_output', 'shape': [1, 10],
               'datatype': 'FP32', 'data': outputs}])
    def refused(change, **more):
        tensor = request['inputs'][0] | change
        return server.refused('POST', '/v2/models/net/infer',
                              json.dumps({'inputs': [tensor], **more}))
    for change, more, why in (
            ({'datatype': 'FP23'}, {}, "datatype 'FP23' is none of BOOL"),
            ({'datatype': 'BYTES'}, {}, "datatype 'BYTES' is none of BOOL"),
            ({'datatype': None}, {}, 'needs a datatype'),
            ({'datatype': 'UINT8', 'data': [300] * 784}, {}, 'no UINT8'),
            ({'datatype': 'INT64', 'data': [0.5] * 784}, {}, 'no INT64'),
            ({}, {'outputs': [{'name': 'softmax'}]}, "no output 'softmax'; the "
             "outputs are 'softmax_output'"),
            ({}, {'outputs': ['softmax_output']}, 'needs a name')):
        status, message = refused(change, **more)
        check(f'{change}, {more}: {message}', status == 400 and why in message)
    request['outputs'] = [{'name': 'softmax_output'}]
    check('the output that is asked for', len(json.loads(server.ask(
        'POST', '/v2/models/net/infer', json.dumps(request))[1])['outputs']) == 1)
    request['inputs'][0]['shape'] = [2, 1, 28, 28]
    check('a wrong shape', server.refused('POST', '/v2/models/net/infer',
                                          json.dumps(request))[0] == 400)
    check('another network', server.refused('GET', '/v2/models/nat') ==
          (404, "no network is named 'nat'; there are 'net'"))


def metrics(server):
    status, answer = server.ask('GET', '/metrics')
    text = answer.decode()
    samples = dict(line.rsplit(' ', 1) for line in text.splitlines()
                   if not line.startswith('#'))
    asked = float(samples['mxc_serve_requests_total{path="/predict",'
                          'status="200"}'])
    name = 'mxc_serve_request_duration_seconds'
    check(f'metrics: {text}', asked >= 640 and
          samples[name + '_bucket{path="/predict",le="+Inf"}'] ==
          samples[name + '_count{path="/predict"}'] and
          float(samples['mxc_serve_batches_total']) <=
          float(samples['mxc_serve_batched_requests_total']))


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
    check('a key that is misspelt',
          server.refused('POST', '/predict?tpo=1', body) ==
          (400, "/predict has no 'tpo' in its query; nearest: top"))
    check('a key that is there twice',
          server.refused('POST', '/predict?top=1&top=2', body) ==
          (400, "'top' is in the query more than once"))
    check('another path', server.refused('GET', '/favicon.ico')[0] == 404)
    for method, path, allowed in (('PUT', '/predict', 'POST'),
                                  ('GET', '/predict', 'POST'),
                                  ('DELETE', '/health', 'GET, HEAD')):
        status, message = server.refused(method, path)
        check(f'{method} {path}: {message}', status == 405 and
              server.headers['Allow'] == allowed)
    check('HEAD', server.ask('HEAD', '/health') == (200, b''))


def same_port(server, artifact):
    taken = subprocess.run([BIN / 'mxc', 'serve', artifact, '--port',
                            str(server.port)], capture_output=True, text=True)
    check(f'a port that is taken: {taken.stderr}', taken.returncode == 1 and
          'Address already in use' in taken.stderr)


def digits(folder):
    artifact = compiled(BIN, folder, 'net', ROOT / 'models/mlp.json',
                        '--batch', '1,4')
    digit = folder / 'digit.npy'
    digit.write_bytes(subprocess.run([ROOT / 'tools/draw_digit'], check=True,
                                     capture_output=True).stdout)
    body, top = digit.read_bytes(), expected(artifact, digit)
    server = Server(BIN, artifact, '--workers', '3')
    status, answer = server.ask('GET', '/')
    told = json.loads(answer)
    check(f'what it takes: {told}', status == 200 and
          told['inputs'] == [{'name': 'data', 'dtype': 'float32',
                              'shape': [1, 1, 28, 28]}])
    many_at_once(server, body, top)
    status, answer = server.ask('POST', '/predict', body)
    values = json.loads(answer)['outputs'][0]['values']
    check('all outputs', len(values) == 10 and max(values) == top[0][0]['value'])
    mistakes(server, body)
    outputs = expected_outputs(artifact, digit)
    not_finite(server, body)
    json_bodies(server, body, outputs)
    kserve(server, body, outputs)
    metrics(server)
    same_port(server, artifact)
    said = server.stop()
    check(f'the last words: {said}', 'stopped; ' in said)
    check('a line for each request', re.search(
        r'^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z 127\.0\.0\.1 POST /predict '
        r'200 \d+\.\d\dms \d+B \S+$', said, re.MULTILINE))
    server = Server(BIN, artifact, '--quiet')
    server.ask('GET', '/health')
    check('nothing but the last line with --quiet',
          server.stop().count('\n') == 1)
    log = folder / 'access.log'
    log.write_text('what was there\n')
    server = Server(BIN, artifact, '--log', log)
    server.ask('GET', '/health', headers={'X-Request-Id': 'my-id'})
    server.stop()
    lines = log.read_text().splitlines()
    check(f'the log: {lines}', len(lines) == 2 and
          lines[0] == 'what was there' and
          ' GET /health 200 ' in lines[1] and lines[1].endswith(' my-id'))


def pixels(folder):
    """Bytes in an array are a picture's, like those of a PNG."""
    artifact = compiled(BIN, folder, 'pixels', {
        'mxc': 1, 'inputs': {'data': ['N', 3, 2, 2]},
        'nodes': [{'op': 'FullyConnected', 'num_hidden': 5}]})
    rgb = random.Random(2).randbytes(12)
    planes = list(rgb[0::3] + rgb[1::3] + rgb[2::3])
    server = Server(BIN, artifact, '--mean', '9', '--scale', '0.25')
    shape = 1, 3, 2, 2
    answers = [server.ask('POST', '/predict', body)[1] for body in (
        png(2, 2, rgb), npy(planes, shape, 'u1'),
        npy([(p - 9) / 4 for p in planes], shape))]
    check(f'pixels: {answers}', len(set(answers)) == 1)


def photos(folder):
    """A photo of 120 KB, as curl and urllib send it."""
    artifact = compiled(BIN, folder, 'photo', {
        'mxc': 1, 'inputs': {'data': [1, 3, 8, 8]},
        'nodes': [{'op': 'FullyConnected', 'num_hidden': 5}]})
    photo = folder / 'photo.png'
    photo.write_bytes(png(200, 200, random.Random(1).randbytes(120000)))
    top = expected(artifact, photo)
    server = Server(BIN, artifact)
    url = f'http://127.0.0.1:{server.port}/predict?top=3'
    with urllib.request.urlopen(url, photo.read_bytes()) as answer:
        told = json.load(answer)
        check('urllib', told['top'] == top)
        check(f'what mxc run warns of: {told}', 'nothing says how the network '
              'was trained' in told['warnings'][0])
    curl = ['curl', '-sS', url]
    for arguments in (['--data-binary', f'@{photo}'], ['-F', f'data=@{photo}'],
                      ['-T', photo, '-X', 'POST'],
                      ['--data-binary', f'@{photo}', '-H',
                       'Transfer-Encoding: chunked'],
                      ['--data-binary', f'@{photo}', '-H',
                       'Content-Type: image/png', '--http1.0']):
        answer = subprocess.run(curl + arguments, check=True,
                                capture_output=True).stdout
        check(f'curl {arguments}: {answer}', json.loads(answer)['top'] == top)
    server.stop()


def types_of_answers(folder):
    """Values as KServe writes those of their type; 2^24 + 1 is no float32."""
    values = [0, 1, 200]
    for dtype, kserve, more in (('uint8', 'UINT8', 1), ('int64', 'INT64', 2**24),
                                ('float64', 'FP64', 2**24), ('bool', 'BOOL', 0)):
        nodes = [{'op': 'Cast', 'dtype': dtype}]
        if more:
            nodes.append({'op': '_plus_scalar', 'scalar': str(more)})
        artifact = compiled(BIN, folder, dtype, {
            'mxc': 1, 'name': 'net', 'inputs': {'data': ['N', 3]},
            'nodes': nodes})
        server = Server(BIN, artifact)
        told = server.ask('POST', f'/v2/models/{dtype}/infer', json.dumps({'inputs': [
            {'name': 'data', 'datatype': 'FP32', 'shape': [1, 3],
             'data': values}]}))[1]
        output = json.loads(told)['outputs'][0]
        kind = {'FP64': float, 'BOOL': bool}.get(kserve, int)
        wanted = [kind(v + more) for v in values]
        check(f'{kserve}: {output}', output['datatype'] == kserve and
              output['data'] == wanted and
              {type(v) for v in output['data']} == {kind})
        server.stop()


def several_inputs(folder):
    artifact = compiled(BIN, folder, 'two', {
        'mxc': 1, 'inputs': {'x': [2], 'y': [2]},
        'nodes': [{'op': 'elemwise_sub', 'name': 's', 'inputs': ['x', 'y']}]})
    server = Server(BIN, artifact)
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
    body, headers = form({'x': x})
    for wrong in (body[:-12], body.replace(b'; name="x"', b''), b'',
                  b'--limit--\r\n'):
        status, message = server.refused('POST', '/predict', wrong, headers)
        check(f'{wrong}: {message}', status == 400 and 'the form' in message)
    server.stop()


def any_length(folder):
    """Answers are as long as what is asked about."""
    artifact = compiled(BIN, folder, 'any', {
        'mxc': 1, 'inputs': {'data': ['N', 'T']},
        'nodes': [{'op': 'softmax', 'name': 's'}]}, '--length', '8')
    server = Server(BIN, artifact)
    told = json.loads(server.ask('GET', '/v2/models/any')[1])
    check(f'shapes: {told}', told['inputs'][0]['shape'] == [-1, -1] and
          told['outputs'][0]['shape'] == [-1, -1])
    for length in (8, 3, 1, 5):
        answer = json.loads(server.ask(
            'POST', '/predict', json.dumps({'data': [[7] * length]}))[1])
        output = answer['outputs'][0]
        check(f'{length}: {output}', output['shape'] == [1, length] and
              all(abs(v - 1 / length) < 1e-6 for v in output['values']))
    status, message = server.refused('POST', '/predict',
                                     json.dumps({'data': [[7] * 9]}))
    check(f'too long: {message}', status == 400 and
          'is float32 (1, 8) or shorter along axis 1' in message)
    server.stop()


def two_lengths(folder):
    """The same of a table of two."""
    artifact = compiled(BIN, folder, 'table', {
        'mxc': 1, 'inputs': {'rows': ['N', 'T', 1], 'columns': ['N', 1, 'S']},
        'nodes': [{'op': 'broadcast_add', 'name': 's', 'inputs': ['rows', 'columns']}]},
        '--length', 'S=5,T=4')
    server = Server(BIN, artifact)
    told = json.loads(server.ask('GET', '/v2/models/table')[1])
    check(f'shapes: {told}', [t['shape'] for t in told['inputs'] + told['outputs']] == [
        [-1, -1, 1], [-1, 1, -1], [-1, -1, -1]])
    def ask(t, s):
        tensors = {'rows': [1, t, 1], 'columns': [1, 1, s]}
        return json.dumps({'inputs': [
            {'name': name, 'shape': shape, 'datatype': 'FP32', 'data': list(range(t * s))[:max(shape)]}
            for name, shape in tensors.items()]})
    for t, s in ((4, 5), (1, 1), (3, 2)):
        answer = json.loads(server.ask('POST', '/v2/models/table/infer', ask(t, s))[1])
        output = answer['outputs'][0]
        check(f'{t} and {s}: {output}', output['shape'] == [1, t, s] and
              output['data'] == [i + j for i in range(t) for j in range(s)])
    status, message = server.refused('POST', '/v2/models/table/infer', ask(5, 2))
    check(f'too long: {message}', status == 400 and 'or shorter along axis 1' in message)
    server.stop()


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        digits(folder)
        pixels(folder)
        photos(folder)
        types_of_answers(folder)
        several_inputs(folder)
        any_length(folder)
        two_lengths(folder)
    print('served')


main()
