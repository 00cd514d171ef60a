#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: access.py BIN_DIR

Who may ask `mxc serve`, how often, over what; requests that run together; several
networks, and files that are replaced while they are served.
"""

import http.client
import json
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

from server import PATIENCE, ROOT, Server, check, compiled, npy, to_the_end

BIN = pathlib.Path(sys.argv[1]).resolve()


def scaled(folder, name, factor, *options):
    """A network that multiplies two numbers by a factor."""
    return compiled(BIN, folder, name, {
        'mxc': 1, 'inputs': {'x': [1, 2]},
        'nodes': [{'op': '_mul_scalar', 'name': 'y', 'scalar': factor}]},
        *options)


def values(server, path, numbers):
    status, answer = server.ask('POST', path, npy(numbers, (1, 2)))
    check(f'{path}: {answer}', status == 200)
    return json.loads(answer)['outputs'][0]['values']


def keys(folder, artifact):
    file = folder / 'keys'
    file.write_text('a-key-of-22-characters\nanother-of-22-letters!\n')
    file.chmod(0o644)
    refused = subprocess.run([BIN / 'mxc', 'serve', artifact, '--port', '0',
                              '--api-key-file', file], capture_output=True,
                             text=True)
    check(f'readable keys: {refused.stderr}', refused.returncode == 1 and
          'can be read by others' in refused.stderr)
    file.chmod(0o600)
    server = Server(BIN, artifact, '--api-key-file', file)
    check('/health needs no key', server.ask('GET', '/health')[0] == 200)
    for given in ({}, {'Authorization': 'Bearer a-key-of-22-characterz'},
                  {'Authorization': 'a-key-of-22-characters'}):
        status, _ = server.ask('POST', '/predict', npy([1, 2], (1, 2)), given)
        check(f'{given}: {status}', status == 401 and
              server.headers['WWW-Authenticate'] == 'Bearer')
    key = {'Authorization': 'Bearer another-of-22-letters!'}
    status, _ = server.ask('POST', '/predict', npy([1, 2], (1, 2)), key)
    check('a key', status == 200)
    check('/reload needs one', server.ask('POST', '/reload')[0] == 401)
    check('and has it', server.ask('POST', '/reload', headers=key)[0] == 200)
    server.stop()


def limits(artifact):
    server = Server(BIN, artifact, '--client-rate', '2',
                    '--client-connections', '4')
    statuses = [server.ask('GET', '/')[0] for _ in range(20)]
    check(f'too often: {statuses}', statuses[:2] == [200, 200] and
          429 in statuses)
    check('/health is free', server.ask('GET', '/health')[0] == 200)
    held = [server.connect() for _ in range(4)]
    with server.connect() as client:
        check('too many', to_the_end(client).startswith(b'HTTP/1.1 503 '))
    for client in held:
        client.close()
    server.stop()


def together(folder):
    """Requests that wait for each other run as one batch, with their bytes."""
    artifact = scaled(folder, 'batch', 3, '--batch', '1,8')
    delay = 10  # seconds, the longest that is taken: less shows that none waited
    server = Server(BIN, artifact, '--workers', '1',
                    '--batch-delay', str(1000 * delay))
    answers = {}

    def client(number):
        answers[number] = values(server, '/predict', [number, -number])
    begin = time.monotonic()
    clients = [threading.Thread(target=client, args=(number,))
               for number in range(8)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    check(f'eight of eight do not wait: {answers}',
          time.monotonic() - begin < delay and answers ==
          {number: [3 * number, -3 * number] for number in range(8)})
    _, text = server.ask('GET', '/metrics')
    check(f'one batch: {text}', b'\nmxc_serve_batches_total 1\n' in text and
          b'\nmxc_serve_batched_requests_total 8\n' in text)
    server.stop()
    stop_while_one_waits(artifact)


def stop_while_one_waits(artifact):
    """What a worker has not begun yet is answered, too."""
    server = Server(BIN, artifact, '--workers', '1', '--batch-delay', '1000')
    answers = []
    client = threading.Thread(
        target=lambda: answers.append(values(server, '/predict', [1, 2])))
    client.start()
    until = time.monotonic() + PATIENCE
    while b'\nmxc_serve_queue_requests 1\n' not in server.ask(
            'GET', '/metrics')[1] and not answers:
        check('it waits', time.monotonic() < until)
    server.stop()
    client.join()
    check(f'answered: {answers}', answers == [[3, 6]])


def not_finite(folder):
    """JSON has null for what is no number: a warning tells what it was."""
    server = Server(BIN, scaled(folder, 'huge', 1e38, '--batch', '1,4'))
    body = npy([1, 1, 1, 1e10], (2, 2))
    _, answer = server.ask('POST', '/predict', body)
    told = json.loads(answer)
    check(f'inf: {told}', told['warnings'] ==
          ["output 'y_output' holds inf at (1, 1), though no input does"])
    _, answer = server.ask('POST', '/predict', npy([1, 2], (1, 2)))
    check('all is finite', json.loads(answer)['warnings'] == [])
    server.stop()


def own_address():
    """One of this machine that is not its loopback; None: it has none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(('192.0.2.1', 9))  # nothing is sent
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith('127.') else address


def reload(folder):
    """Answers are those of the old or of the new file, never of neither."""
    served, other = folder / 'served.mxa', scaled(folder, 'other', 5)
    shutil.copy(scaled(folder, 'two', 2), served)
    server = Server(BIN, served, '--model', f'five={other}')
    check('the first', values(server, '/predict', [1, 10]) == [2, 20])
    check('by name', values(server, '/models/served/predict', [1, 1]) == [2, 2])
    check('the other', values(server, '/models/five/predict', [1, 1]) == [5, 5])
    shutil.copy(scaled(folder, 'seven', 7), folder / 'new.mxa')
    (folder / 'new.mxa').rename(served)
    server.process.send_signal(signal.SIGHUP)
    until = time.monotonic() + PATIENCE
    while (seen := values(server, '/predict', [1, 10])) != [7, 70]:
        check(f'old or new: {seen}', seen == [2, 20])
        check('loaded anew', time.monotonic() < until)
    (folder / 'new.mxa').write_bytes(b'damaged')
    (folder / 'new.mxa').rename(served)
    server.process.send_signal(signal.SIGHUP)
    while 'stay as they are' not in server.process.stderr.readline():
        pass
    check('as it was', values(server, '/predict', [1, 10]) == [7, 70])
    status, why = server.refused('POST', '/reload')
    check(f'refused: {status} {why}', status == 409 and
          str(served) in why and 'stay as they are' in why)
    check('as it was', values(server, '/predict', [1, 10]) == [7, 70])
    shutil.copy(scaled(folder, 'three', 3), folder / 'new.mxa')
    (folder / 'new.mxa').rename(served)
    status, told = server.ask('POST', '/reload')
    check(f'told: {status} {told}', status == 200 and
          json.loads(told) == {'networks': ['served', 'five']})
    check('it is there when it is told',
          values(server, '/predict', [1, 10]) == [3, 30])
    server.stop()
    reload_by_strangers(served)


def reload_by_strangers(artifact):
    """What costs the server work is for this machine, or for who has a key."""
    own = own_address()
    if own is None:
        print('note: no address but 127.0.0.1: strangers are not tried')
        return
    server = Server(BIN, artifact, '--host', '0.0.0.0')
    connection = http.client.HTTPConnection(own, server.port, timeout=PATIENCE)
    connection.request('POST', '/reload')
    check('strangers', connection.getresponse().status == 403)
    check('this machine', server.ask('POST', '/reload')[0] == 200)
    server.stop()


def stopped_while_it_loads(folder):
    """Networks that are being opened do not outlive what they are for."""
    slow = compiled(BIN, folder, 'slow', ROOT / 'models/lenet.json',
                    '--batch', '1,64')
    more = [word for k in range(8) for word in ('--model', f'm{k}={slow}')]
    for _ in range(4):
        server = Server(BIN, slow, *more)
        server.process.send_signal(signal.SIGHUP)
        time.sleep(0.02)
        server.stop()


def tls(folder, artifact):
    certificate, key = folder / 'cert.pem', folder / 'key.pem'
    subprocess.run(['openssl', 'req', '-x509', '-newkey', 'ec', '-pkeyopt',
                    'ec_paramgen_curve:P-256', '-nodes', '-days', '2',
                    '-subj', '/CN=localhost', '-addext',
                    'subjectAltName=IP:127.0.0.1', '-keyout', key, '-out',
                    certificate], check=True, capture_output=True)
    server = Server(BIN, artifact, '--tls-cert', certificate, '--tls-key', key)
    trust = ssl.create_default_context(cafile=certificate)
    url = f'https://127.0.0.1:{server.port}/predict'
    large = npy([1, 2] * 200000, (200000, 2))
    for body, count in ((npy([1, 2], (1, 2)), 2), (large, 400000)):
        with urllib.request.urlopen(url, body, context=trust) as answer:
            got = json.load(answer)['outputs'][0]['values']
            check('over TLS', len(got) == count and got[:2] == [2, 4])
    try:
        urllib.request.urlopen(url, context=ssl.create_default_context())
        check('a stranger is trusted', False)
    except urllib.error.URLError:
        pass
    with server.connect() as plain, server.connect():
        plain.sendall(b'GET /health HTTP/1.1\r\n\r\n')
        try:
            check('plain text', b'ok\n' not in to_the_end(plain))
        except ConnectionResetError:
            pass
        with urllib.request.urlopen(url, npy([1, 2], (1, 2)), context=trust):
            pass
    server.stop()


def open_to_others(artifact):
    server = Server(BIN, artifact, '--host', '0.0.0.0')
    check('said when it starts', 'nobody is asked' in server.stop())


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        artifact = scaled(folder, 'net', 2)
        keys(folder, artifact)
        limits(artifact)
        together(folder)
        reload(folder)
        not_finite(folder)
        stopped_while_it_loads(folder)
        tls(folder, artifact)
        open_to_others(artifact)
    print('served')


main()
