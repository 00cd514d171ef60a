#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""usage: run.py BIN_DIR

Opens the pages of inspect --html and of train --log-dir in a headless Chromium, looks at the pictures
that their script draws, and works with them as a reader would. Exits with 77
where there is no Chromium.
"""

import json
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

MODELS = pathlib.Path(__file__).parents[2] / 'models'
WIDEST, HIGHEST = 2400, 1600  # px, folded as it opens

# What a reader does, one thing after another, and what is then seen.
READER = '''
<script>
const at = (id) => document.getElementById(id);
const press = (element, type, more) => element.dispatchEvent(
    new PointerEvent(type, {bubbles: true, clientX: 400, clientY: 400, ...more}));
const boxes = () => Number(at('picture').dataset.boxes);
const frame = () => at('picture').getAttribute('viewBox').split(' ').map(Number);
const seen = {opened: boxes(), letters: 10 * at('picture').getScreenCTM().a,
              top: frame()[1] < 0};
press(document.querySelector('.box.block'), 'click');
seen.one_unfolded = boxes();
at('fold').click(); seen.folded = boxes();
at('unfold').click(); seen.unfolded = boxes();
at('order').click(); seen.order = document.querySelectorAll('.order').length;
at('fit').click();
const whole = frame();
at('picture').dispatchEvent(new WheelEvent('wheel',
    {deltaY: -500, clientX: 400, clientY: 400, bubbles: true}));
seen.zoomed = frame()[2] < whole[2];
const before = frame();
press(at('picture'), 'pointermove', {buttons: 1, movementX: 50, movementY: 0});
seen.panned = frame()[0] < before[0];
at('fit').click(); seen.fitted = frame()[2] === whole[2];
at('fold').click();
at('search').value = SEARCH;
at('search').dispatchEvent(new Event('input'));
seen.found = at('found').textContent;
at('search').dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter'}));
seen.hits = document.querySelectorAll('.box.hit').length;
press(document.querySelector('.box.hit'), 'pointermove', {buttons: 0});
seen.step = at('tip').textContent;
press(document.querySelector('.arrow'), 'pointermove', {buttons: 0});
seen.buffer = at('tip').textContent;
document.body.insertAdjacentHTML('beforeend', '<pre id="seen"></pre>');
at('seen').textContent = JSON.stringify(seen);
</script>
'''


# What each step is called where the pointer is.
STEPS = '''
<script>
const at = (id) => document.getElementById(id);
at('unfold').click();
const seen = [...document.querySelectorAll('.box')].map((box) => {
  box.dispatchEvent(new PointerEvent('pointermove',
      {bubbles: true, clientX: 400, clientY: 400, buttons: 0}));
  return at('tip').textContent.split('\\n')[0].replace(/^step \\d+ +/, '');
});
document.body.insertAdjacentHTML('beforeend', '<pre id="seen"></pre>');
at('seen').textContent = JSON.stringify(seen);
</script>
'''


# What a reader of a training run's page does.
CURVES = '''
<script>
const at = (id) => document.getElementById(id);
const lines = () => document.querySelectorAll('svg.chart polyline').length;
const chart = document.querySelector('svg.chart');
const box = chart.getBoundingClientRect();
const seen = {charts: document.querySelectorAll('svg.chart').length};
chart.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,
    clientX: box.left + box.width / 2, clientY: box.top + box.height / 2}));
seen.tip = at('tip').textContent;
at('smoothing').value = 0;
at('smoothing').dispatchEvent(new Event('input'));
seen.rough = lines();
at('smoothing').value = 0.9;
at('smoothing').dispatchEvent(new Event('input'));
seen.smooth = lines();
seen.hash = location.hash;
seen.norms = document.querySelectorAll('table.gradients tr').length;
seen.rows = document.querySelectorAll('table.epochs tr').length;
document.body.insertAdjacentHTML('beforeend', '<pre id="seen"></pre>');
at('seen').textContent = JSON.stringify(seen);
</script>
'''


# What a reader does with the figures of a hundred classes.
CLASSES = '''
<script>
const table = document.querySelector('table.matrix');
const cells = [...table.tBodies[0].rows].map((row) =>
    [...row.cells].slice(1).map((cell) => Number(cell.textContent)));
const sum = (list) => list.reduce((all, n) => all + n, 0);
const figures = document.querySelector('table.classes');
const column = (n) => [...figures.tBodies[0].rows].map((row) =>
    Number(row.cells[n].textContent));
const seen = {rows: cells.length, all: sum(cells.map(sum)),
              right: sum(cells.map((row, i) => row[i])),
              samples: sum(column(1)), recall: column(3)[0],
              counted: cells[0][0] / sum(cells[0]),
              letters: parseFloat(getComputedStyle(table.tBodies[0].rows[0]
                  .cells[1]).fontSize),
              wide: document.documentElement.scrollWidth};
const cell = table.tBodies[0].rows[3].cells[4];
cell.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}));
seen.tip = document.getElementById('tip').textContent;
figures.tHead.rows[0].cells[4].click();
seen.sorted = column(4);
document.querySelector('input.whole').click();
seen.small = table.getBoundingClientRect().height;
seen.accuracy = document.querySelector('table.epochs tr:last-child')
    .cells[4].textContent;
document.body.insertAdjacentHTML('beforeend', '<pre id="seen"></pre>');
document.getElementById('seen').textContent = JSON.stringify(seen);
</script>
'''


def browser():
    for name in ('chromium', 'chromium-browser', 'google-chrome'):
        if shutil.which(name):
            return name
    print('skipped: no Chromium')
    sys.exit(77)


def opened(page):
    """The document as the browser has it after the scripts."""
    command = [browser(), '--headless=new', '--no-sandbox', '--disable-gpu',
               '--window-size=1400,800', '--dump-dom',
               f'--user-data-dir={page.parent / "profile"}', page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    return done.stdout


def size(document):
    tag = re.search(r'<svg id="picture"[^>]*>', document).group()
    return {key: int(value)
            for key, value in re.findall(r'data-(\w+)="(\d+)"', tag)}


def points(document):
    """The arrows as lists of points, between boxes of one phase."""
    arrows = []
    for path in re.findall(r'class="arrow"[^>]*><path d="([^"]*)"', document):
        numbers = [float(n) for n in re.findall(r'-?[\d.]+', path)]
        arrows.append(list(zip(numbers[::2], numbers[1::2])))
    return arrows


def cross(a, b, c, d):
    def side(p, q, r):
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    return (side(a, b, c) * side(a, b, d) < 0 and
            side(c, d, a) * side(c, d, b) < 0)


def crossings(document):
    segments = [(i, p, q) for i, arrow in enumerate(points(document))
                for p, q in zip(arrow, arrow[1:])]
    return sum(cross(p, q, r, s)
               for n, (i, p, q) in enumerate(segments)
               for j, r, s in segments[n + 1:] if i != j)


def check(what, holds):
    if not holds:
        sys.exit(f'failed: {what}')


def picture(bin_dir, folder, model, entry, most_crossings):
    page = folder / f'{model}-{entry}.html'
    subprocess.run([bin_dir / 'mxc', 'inspect', MODELS / f'{model}.json',
                    '--target', 'x86-64-v3', '--entry', entry, '--html', page],
                   check=True, stdout=subprocess.DEVNULL)
    check(f'{model}: the page asks for other files',
          not re.search(r'(src|href)="', page.read_text()))
    document = opened(page)
    found = size(document)
    crossed = crossings(document)
    print(f'{model} {entry}: {found["boxes"]} boxes, {found["arrows"]} arrows, '
          f'{found["width"]} x {found["height"]}, {crossed} crossings')
    check(f'{model} {entry} is too large', found['width'] < WIDEST and
          found['height'] < HIGHEST)
    check(f'{model} {entry}: {crossed} crossings', crossed <= most_crossings)
    return page, document


def reader(page, script):
    text = page.read_text().replace('</body>', script + '</body>')
    page.write_text(text)
    document = opened(page)
    # The script's own text comes first.
    seen = re.findall(r'<pre id="seen">(.*?)</pre>', document, re.S)[-1]
    check('the script of the page failed', seen)
    return json.loads(seen.replace('&gt;', '>').replace('&amp;', '&'))


def curves(bin_dir, folder):
    """The page that training leaves."""
    for run, rate in (('other', '0.05'), ('log', '0.1')):
        subprocess.run([bin_dir / 'mxc', 'train', MODELS / 'mlp.json', '--data',
                        'digits', '--data-opt', 'size=6400', '--val', 'digits',
                        '--epochs', '3', '--lr', rate, '--target', 'x86-64-v2',
                        '--log-dir', folder / 'runs' / run, '--quiet'],
                       check=True, stderr=subprocess.DEVNULL)
    seen = reader(folder / 'runs/log/report.html', CURVES)
    print(seen)
    check('charts', seen['charts'] == 5)
    check('the value below the pointer', re.fullmatch(
        r'train: [0-9.]+ at step 1[0-9]0, 0:00:[0-9]{2}.*other train: .*',
        seen['tip']))
    check('smoothing', seen['smooth'] > seen['rough'] and
          seen['hash'] == '#smoothing=0.9')
    check('a row for each epoch', seen['rows'] == 4)
    check('the norms of six gradients', seen['norms'] == 7)


def classes(bin_dir, folder):
    """A hundred classes, each a point in the plane, and what lies around it."""
    draw = random.Random(5)
    for part, copies in (('train', 20), ('val', 6)):
        rows = [f'{k},{k % 10 + draw.gauss(0, .3)},{k // 10 + draw.gauss(0, .3)}'
                for k in range(100) for _ in range(copies)]
        (folder / f'{part}.csv').write_text('\n'.join(rows) + '\n')
    network = {'mxc': 1, 'inputs': {'data': ['N', 2]}, 'nodes': [
        {'op': 'FullyConnected', 'num_hidden': 100},
        {'op': 'SoftmaxOutput', 'name': 'softmax'}]}
    (folder / 'hundred.json').write_text(json.dumps(network))
    subprocess.run([bin_dir / 'mxc', 'train', folder / 'hundred.json', '--data',
                    f'csv:{folder}/train.csv', '--data-opt', 'label_column=0',
                    '--val', f'csv:{folder}/val.csv', '--batch-size', '32',
                    '--lr', '0.2', '--epochs', '3', '--target', 'x86-64-v2',
                    '--log-dir', folder / 'classes', '--quiet'],
                   check=True, stderr=subprocess.DEVNULL)
    seen = reader(folder / 'classes/report.html', CLASSES)
    print({key: value for key, value in seen.items() if key != 'sorted'})
    check('a row of the matrix for each class', seen['rows'] == 100)
    check('each sample counts once', seen['all'] == seen['samples'] == 600)
    check('the diagonal is what is right',
          abs(seen['right'] / 600 - float(seen['accuracy'])) < 1e-4)
    check('recall', abs(seen['recall'] - seen['counted']) < 1e-4)
    check('counts that can be read', seen['letters'] >= 10)
    check('the page is as wide as the window', seen['wide'] <= 1400)
    check('a cell by its names', re.fullmatch(
        r'is 3, taken for 3: \d+ of 6, [0-9.]+ %', seen['tip']))
    check('sorting', seen['sorted'] == sorted(seen['sorted']))
    check('the whole matrix in a window', 300 <= seen['small'] <= 800)


def loops(bin_dir, folder):
    """A recurrent network's artifact: steps have names, and so do kernels."""
    artifact, page = folder / 'char_lm.mxa', folder / 'char_lm.html'
    subprocess.run([bin_dir / 'mxc', 'compile', MODELS / 'char_lm.json', '--init',
                    'xavier', '--input-shape', 'data:8x16', '--target',
                    'x86-64-v2', '--quiet', '-o', artifact], check=True)
    subprocess.run([bin_dir / 'mxc', 'inspect', artifact, '--html', page],
                   check=True, stdout=subprocess.DEVNULL)
    document = opened(page)
    drawn = re.search(r'<svg id="picture".*?</svg>', document, re.S).group()
    check('kernels have names', 'mxc_char_lm' not in drawn)
    for block in ('layer0', 'layer1'):
        check(f'no {block}', f'data-title="{block}"' in drawn)
    check('the turns of a loop', '16 turns of 3 steps' in page.read_text())


def weights(bin_dir, folder):
    """What the page of an artifact says of its weights."""
    artifact, page = folder / 'lenet.mxa', folder / 'lenet.html'
    subprocess.run([bin_dir / 'mxc', 'compile', MODELS / 'lenet.json', '--init',
                    'xavier', '--target', 'x86-64-v2', '--quiet', '-o',
                    artifact], check=True)
    subprocess.run([bin_dir / 'mxc', 'inspect', artifact, '--html', page],
                   check=True, stdout=subprocess.DEVNULL)
    rows = re.findall(r'<tr><td class="name">[^<]*_weight.*', page.read_text())
    check('weights of four layers', len(rows) == 4)
    check('kernels by their names', 'mxc_lenet' not in page.read_text())
    check('the peak is marked',
          re.search(r'class="peak".*?>peak [0-9.]+ KiB, step \d+: ',
                    page.read_text()))
    ticks = re.findall(r'text-anchor="end">([0-9.]+ [KM]?i?B)<',
                       page.read_text())
    check(f'round ticks, not {ticks}', ticks[1:3] == ['10.0 KiB', '20.0 KiB'])
    check('histograms', all(row.count('<rect') > 20 for row in rows))


def main():
    bin_dir = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        picture(bin_dir, folder, 'lenet', 'infer', 0)
        picture(bin_dir, folder, 'inception-v3', 'infer', 0)
        loops(bin_dir, folder)
        page, document = picture(bin_dir, folder, 'lenet', 'train', 4)
        check('a table that says what a step is for',
              '>next fullyconnected1_bias</td>' in document)
        for phase in ('forward', 'backward', 'update'):
            check(f'no {phase}', f'data-title="{phase}"' in document)
        told = reader(page, STEPS)
        check(f'what a step is for, below the pointer, not {told}',
              'next fullyconnected1_bias' in told and
              'gradient of convolution1' in told and
              not any('_weight+' in name for name in told))
        page, document = picture(bin_dir, folder, 'resnet-50', 'infer', 0)
        check('names without the words that they repeat',
              '>stage1_unit1_conv1 + …bn2 + …relu2<' in document)
        seen = reader(page, READER.replace('SEARCH', '"stage3_unit2_conv2"'))
        print(seen)
        check('letters that can be read, from the top',
              seen['letters'] >= 10 and seen['top'])
        check('unfolding', seen['one_unfolded'] > seen['opened'])
        check('folding all', seen['folded'] < seen['opened'])
        check('unfolding all', seen['unfolded'] == 72)
        check('the order of execution', seen['order'] == 1)
        check('zoom, pan, fit',
              seen['zoomed'] and seen['panned'] and seen['fitted'])
        check('search', seen['found'] == '1 found' and seen['hits'] == 1)
        check('a step\'s facts', 'stage3_unit2_conv2' in seen['step'] and
              'MFLOP' in seen['step'])
        check('an operator\'s attributes', re.search(
            r'Convolution stage3_unit2_conv2: kernel \(3, ?3\).*num_filter 256',
            seen['step']))
        check('a buffer\'s facts', 'f32[1, 3, 224, 224]' in seen['buffer'])
        curves(bin_dir, folder)
        classes(bin_dir, folder)
        weights(bin_dir, folder)


main()
