#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: browser.py BIN_DIR [FOLDER]

A page of `mxc compile --emit web` in a headless Chromium, served by `mxc serve --web`:
it trains LeNet on drawn digits to 98 % of those that it has not seen, and its losses and
parameters are those that the module has in Node, which tests/web/node.mjs compares with
mxc train. A hostile .params becomes a sentence. Screenshots go to FOLDER. Exits with 77
where there is no Chromium with its driver.
"""

import base64
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

BIN = pathlib.Path(sys.argv[1]).resolve()
MODELS = pathlib.Path(__file__).parents[2] / 'models'
AIM, EPOCHS = 0.98, 4
ELEMENT = 'element-6066-11e4-a52e-4f735466cecf'  # the key of one, by the standard


def check(what, holds):
    if not holds:
        sys.exit(f'failed: {what}')


class Browser:
    """Chromium by its driver (W3C WebDriver)."""

    def __init__(self):
        self.driver = subprocess.Popen([shutil.which('chromedriver'), '--port=0'],
                                       stdout=subprocess.PIPE, text=True)
        for line in self.driver.stdout:
            found = re.search(r'on port (\d+)\.', line)
            if found:
                break
        self.url = f'http://127.0.0.1:{found[1]}/session'
        options = {'args': ['--headless=new', '--no-sandbox', '--disable-gpu',
                            '--disable-dev-shm-usage', '--window-size=1100,1250']}
        session = self.ask('POST', '', {'capabilities': {'alwaysMatch': {
            'browserName': 'chrome', 'goog:chromeOptions': options,
            'timeouts': {'script': 600_000}}}})
        self.url += f'/{session["sessionId"]}'

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=900) as answer:
                return json.load(answer)['value']
        except urllib.error.HTTPError as error:
            sys.exit(f'failed: {json.load(error)["value"]["message"]}')

    def open(self, url):
        self.ask('POST', '/url', {'url': url})

    def run(self, script, *arguments):
        """What the body of an async function returns."""
        wrapped = ('const done = arguments[arguments.length - 1];'
                   f'(async (...given) => {{ {script} }})(...arguments)'
                   '.then(done, (error) => done({failed: String(error)}));')
        value = self.ask('POST', '/execute/async', {'script': wrapped, 'args': list(arguments)})
        check(f'{script}: {value}', not (isinstance(value, dict) and 'failed' in value))
        return value

    def give(self, element, path):
        """A file, to an input element."""
        found = self.ask('POST', '/element', {'using': 'css selector', 'value': element})
        self.ask('POST', f'/element/{found[ELEMENT]}/value', {'text': str(path)})

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.ask('GET', '/screenshot')))

    def close(self):
        self.ask('DELETE', '')
        self.driver.terminate()
        self.driver.wait()


def serve(folder):
    server = subprocess.Popen([BIN / 'mxc', 'serve', '--web', folder, '--port', '0', '--quiet'],
                              stderr=subprocess.PIPE, text=True)
    found = re.match(r'serving on (\S+);', server.stderr.readline())
    check('mxc serve --web starts', found)
    return server, found[1]


def in_node(page, steps):
    """Losses of the first steps, by the same module in Node."""
    script = f'''
      import {{ open }} from {json.dumps((page / 'lenet.mjs').as_uri())};
      import {{ digit }} from {json.dumps((page / 'digits.mjs').as_uri())};
      const net = await open(), losses = [];
      for (let step = 0; step < {steps}; ++step) {{
        const samples = Array.from({{ length: 64 }}, (_, row) => digit(0, 64 * step + row));
        losses.push(net.run('train', {{
          data: Float32Array.from(samples.flatMap((s) => [...s.picture]), (p) => p / 255),
          softmax_label: samples.map((s) => s.label), learning_rate: [0.1] }}).loss[0]);
      }}
      console.log(JSON.stringify(losses));'''
    return json.loads(subprocess.run(['node', '--input-type=module', '-e', script], check=True,
                                     capture_output=True, text=True).stdout)


def read(browser, folder, shots):
    """Asks, trains, saves and loads, as a reader would."""
    loaded = browser.run('return document.getElementById("facts").textContent;')
    check(f'it is isolated: {loaded}', browser.run('return crossOriginIsolated;'))
    browser.screenshot(shots / 'opened.png')
    began = time.monotonic()
    result = browser.run(
        'return await page.train({rate: 0.1, epochs: given[0], until: given[1]});', EPOCHS, AIM)
    seconds = time.monotonic() - began
    losses = browser.run('return page.losses();')
    check(f'{AIM} after at most {EPOCHS} epochs: {result}', result['accuracy'] >= AIM)
    browser.run('document.getElementById("example").click(); page.ask();')
    browser.screenshot(shots / 'trained.png')
    hostile = folder / 'hostile.params'
    hostile.write_bytes(b'\x12\x01' + bytes(14) + b'\xff' * 40)
    before = browser.run('return [...page.net.save()].length;')
    browser.give('#load', hostile)
    said = browser.run('''await new Promise((go) => setTimeout(go, 300));
                          return document.getElementById("said").textContent;''')
    check(f'a hostile file is refused in a sentence: {said}',
          said == 'hostile.params: the array at byte 24 has 4294967295 axes')
    check('it changes nothing', before == browser.run('return [...page.net.save()].length;'))
    browser.screenshot(shots / 'refused.png')
    return losses, result, seconds, loaded


def main():
    if shutil.which('chromedriver') is None or shutil.which('node') is None:
        sys.exit(77)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        shots = pathlib.Path(sys.argv[2]) if len(sys.argv) > 2 else folder
        page = folder / 'page'
        subprocess.run([BIN / 'mxc', 'compile', MODELS / 'lenet.json', '--init', 'xavier', '--seed',
                        '3', '--entry', 'train,infer', '--batch', '64', '--emit', 'web', '--quiet',
                        '-o', page], check=True)
        server, url = serve(page)
        browser = Browser()
        try:
            browser.open(url)
            browser.run('while (!globalThis.page) await new Promise((go) => setTimeout(go, 20));')
            losses, result, seconds, loaded = read(browser, folder, shots)
        finally:
            browser.close()
            server.terminate()
        first = in_node(page, 40)
        check('losses are those in Node, bit for bit', losses[:len(first)] == first)
        print(f'{loaded}\n{len(losses)} steps of 64 in {seconds:.1f} s: loss {result["loss"]:.4f}, '
              f'{100 * result["accuracy"]:.2f} % of digits that it has not seen')


main()
