// SPDX-License-Identifier: Apache-2.0
// Draws the diagram of a page, which stands in it as JSON (diagram_json.h).
// dagre places what is not folded away; a click folds and unfolds, the wheel
// zooms, dragging pans, hovering tells the facts.
(function () {
'use strict';

const data = JSON.parse(document.getElementById('diagram').textContent);
const {boxes, arrows, groups, steps, buffers} = data;
const svg = document.getElementById('picture');
const tip = document.getElementById('tip');
const found = document.getElementById('found');
const search = document.getElementById('search');
const pen = document.createElement('canvas').getContext('2d');

const ROW = 14, MARGIN = 7, LONGEST = 46, TITLE = 9;
const FONTS = ['600 11.5px system-ui, sans-serif', '10px system-ui, sans-serif'];

// --- text

function shorten(text) {
  return text.length <= LONGEST ? text : text.slice(0, LONGEST - 1) + '…';
}

function bytesText(bytes) {
  for (const unit of ['B', 'KiB', 'MiB', 'GiB']) {
    if (bytes < 1024 || unit === 'GiB') {
      return (unit === 'B' ? bytes : bytes.toFixed(1)) + ' ' + unit;
    }
    bytes /= 1024;
  }
}

function flopsText(flops) {
  if (flops >= 1e9) return (flops / 1e9).toFixed(2) + ' GFLOP';
  if (flops >= 1e6) return (flops / 1e6).toFixed(1) + ' MFLOP';
  return flops + ' FLOP';
}

function bufferFacts(number) {
  const buffer = buffers[number];
  const root = buffers[buffer.root] || buffer;
  const lines = [buffer.name, buffer.type + ', ' + bytesText(buffer.bytes)];
  if (buffer.layout) lines.push('in memory as ' + buffer.layout);
  if (buffer.root !== number) lines.push('lies where ' + root.name + ' lies');
  if (root.kind === 'internal' && root.offset >= 0) {
    lines.push('arena +' + root.offset + ', steps ' + root.first + ' to ' +
               root.last);
    const sharers = buffers.filter((b, i) =>
        i !== buffer.root && b.kind === 'internal' && b.offset >= 0 &&
        b.host === root.host && b.offset < root.offset + root.bytes &&
        root.offset < b.offset + b.bytes);
    if (sharers.length > 0) {
      lines.push('at other times there: ' +
                 sharers.slice(0, 4).map((b) => b.name).join(', ') +
                 (sharers.length > 4 ? ' and ' + (sharers.length - 4) + ' more'
                                     : ''));
    }
  } else {
    lines.push(root.kind);
  }
  return lines.join('\n');
}

function stepFacts(number) {
  const step = steps[number];
  const list = (title, numbers) => numbers.map((b) =>
      title + '  ' + buffers[b].name + '  ' + buffers[b].type + '  ' +
      bytesText(buffers[b].bytes));
  const lines = ['step ' + number + '  ' + step.name, 'kernel  ' + step.kernel];
  if (step.flops > 0) lines.push('arithmetic  ' + flopsText(step.flops));
  lines.push('reads and writes  ' + bytesText(step.bytes));
  if (step.scratch > 0) lines.push('workspace  ' + bytesText(step.scratch));
  if (step.tasks > 0) lines.push('tasks  ' + step.tasks);
  return lines.concat(list('reads', step.inputs), list('writes', step.outputs))
      .join('\n');
}

function sum(numbers, key) {
  return numbers.reduce((total, s) => total + steps[s][key], 0);
}

function blockFacts(node) {
  const inside = node.members.map((b) => boxes[b].step).filter((s) => s >= 0);
  return [node.title + ': ' + inside.length + ' steps', node.detail,
          'arithmetic  ' + flopsText(sum(inside, 'flops')),
          'reads and writes  ' + bytesText(sum(inside, 'bytes')),
          'click to unfold'].join('\n');
}

function boxFacts(node) {
  if (node.group !== undefined) return blockFacts(node);
  if (node.step >= 0 && steps.length > 0) return stepFacts(node.step);
  return node.full + '\n' + node.detail;
}

// --- what is seen: boxes, and folded groups in their place

function foldedAround(group) {
  let outermost = -1;
  for (let g = group; g >= 0; g = groups[g].parent) {
    if (groups[g].folded) outermost = g;
  }
  return outermost;
}

function nodeOfBox(number) {
  const box = boxes[number];
  const kernel = box.step >= 0 ? box.step + ' · ' + box.detail : box.detail;
  const shape = box.shape ? box.shape.replaceAll('x', '×') : '';
  return {title: box.short_name || box.name, full: box.name, parent: box.group,
          detail: [kernel, shape].filter((text) => text).join(' · '),
          kind: box.kind, phase: box.phase, step: box.step, members: [number]};
}

function nodeOfGroup(number, box) {
  return {title: groups[number].title, full: groups[number].title,
          parent: groups[number].parent, detail: '', kind: 'block',
          phase: boxes[box].phase, step: -1, group: number, members: []};
}

function stretchText(node) {
  const inside = node.members.map((b) => boxes[b].step).filter((s) => s >= 0);
  if (inside.length === 0) return node.members.length + ' operators';
  if (inside.length === 1) return 'step ' + inside[0];
  const last = inside[inside.length - 1];
  const all = last - inside[0] + 1 === inside.length;
  return (all ? 'steps ' : inside.length + ' of steps ') + inside[0] + ' to ' +
         last;
}

function look() {
  const nodes = new Map(), edges = new Map(), keys = [];
  boxes.forEach((box, number) => {
    const group = foldedAround(box.group);
    const key = group >= 0 ? 'g' + group : 'b' + number;
    keys.push(key);
    if (!nodes.has(key)) {
      nodes.set(key, group >= 0 ? nodeOfGroup(group, number)
                                : nodeOfBox(number));
    }
    if (group >= 0) nodes.get(key).members.push(number);
  });
  for (const node of nodes.values()) {
    if (node.group !== undefined) node.detail = stretchText(node);
  }
  for (const arrow of arrows) {
    const from = keys[arrow.from], to = keys[arrow.to];
    if (from === to) continue;
    const key = from + ' ' + to;
    if (!edges.has(key)) edges.set(key, {from, to, values: []});
    const values = edges.get(key).values;
    if (arrow.buffer >= 0 && !values.includes(arrow.buffer)) {
      values.push(arrow.buffer);
    }
  }
  return {nodes, edges: [...edges.values()]};
}

// --- where it stands

const PHASES = ['forward', 'backward', 'update'];
const GAP = 110;        // between phases
const MOST_IN_COLUMN = 22;

function measure(node) {
  node.rows = [shorten(node.title), shorten(node.detail)].filter((r) => r);
  const widths = node.rows.map((row, i) => {
    pen.font = FONTS[Math.min(i, 1)];
    return pen.measureText(row).width;
  });
  return {width: Math.max(...widths) + 2 * MARGIN,
          height: node.rows.length * ROW + MARGIN};
}

// `edges` are those between `keys`; `up`: against their direction.
function placePart(view, keys, edges, up, links) {
  const graph = new dagre.graphlib.Graph({compound: true});
  graph.setGraph({rankdir: 'TB', nodesep: 14, ranksep: 22, edgesep: 8,
                  ranker: keys.length > 300 ? 'longest-path'
                                            : 'network-simplex'});
  graph.setDefaultEdgeLabel(() => ({}));
  for (const key of keys) {
    const node = view.nodes.get(key);
    graph.setNode(key, measure(node));
    for (let child = key, g = node.parent; g >= 0; g = groups[g].parent) {
      if (!graph.hasNode('g' + g)) graph.setNode('g' + g, {});
      graph.setParent(child, 'g' + g);
      child = 'g' + g;
    }
  }
  for (const [from, to] of links) graph.setEdge(from, to, {weight: 1});
  for (const {from, to} of edges) {
    graph.setEdge(up ? to : from, up ? from : to, {weight: 2});
  }
  dagre.layout(graph);
  return graph;
}

// Boxes that nothing joins stand below each other.
function columnLinks(keys) {
  const links = [];
  const columns = Math.ceil(keys.length / MOST_IN_COLUMN);
  const rows = Math.ceil(keys.length / columns);
  for (let i = 1; i < keys.length; ++i) {
    if (i % rows !== 0) links.push([keys[i - 1], keys[i]]);
  }
  return links;
}

// An arrow from one phase to another.
function across(from, to) {
  const right = from.x < to.x ? 1 : -1;
  const a = from.x + right * from.width / 2, b = to.x - right * to.width / 2;
  return 'M' + a + ' ' + from.y + ' C' + (a + right * GAP / 2) + ' ' + from.y +
         ' ' + (b - right * GAP / 2) + ' ' + to.y + ' ' + b + ' ' + to.y;
}

function curve(points) {
  let path = 'M' + points[0].x + ' ' + points[0].y;
  for (let i = 1; i + 1 < points.length; ++i) {
    const last = i + 2 === points.length;
    const x = last ? points[i + 1].x : (points[i].x + points[i + 1].x) / 2;
    const y = last ? points[i + 1].y : (points[i].y + points[i + 1].y) / 2;
    path += ' Q' + points[i].x + ' ' + points[i].y + ' ' + x + ' ' + y;
  }
  return points.length === 2 ? path + ' L' + points[1].x + ' ' + points[1].y
                             : path;
}

// The phases of a training step side by side; a gradient's arrow runs up,
// beside the layer that it belongs to.
function place(view) {
  const placed = {at: new Map(), frames: [], width: 0, height: 0};
  for (const edge of view.edges) edge.path = '';
  for (const phase of data.trains ? PHASES : PHASES.slice(0, 1)) {
    const keys = [...view.nodes.keys()].filter(
        (key) => view.nodes.get(key).phase === phase);
    if (keys.length === 0) continue;
    const inside = view.edges.filter(
        (edge) => keys.includes(edge.from) && keys.includes(edge.to));
    const graph = placePart(view, keys, inside, phase === 'backward',
                            phase === 'update' ? columnLinks(keys) : []);
    const right = placed.width > 0 ? placed.width + GAP : 0;
    const shift = (p) => ({...p, x: p.x + right});
    for (const key of graph.nodes()) {
      placed.at.set(key, shift(graph.node(key)));
      if (graph.children(key).length > 0) placed.frames.push(key);
    }
    for (const edge of inside) {
      const points = phase === 'backward'
          ? [...graph.edge(edge.to, edge.from).points].reverse()
          : graph.edge(edge.from, edge.to).points;
      edge.path = curve(points.map(shift));
    }
    placed.width = right + graph.graph().width;
    placed.height = Math.max(placed.height, graph.graph().height);
  }
  for (const edge of view.edges) {
    if (edge.path) continue;
    edge.across = true;
    edge.path = across(placed.at.get(edge.from), placed.at.get(edge.to));
  }
  return placed;
}

// --- drawing

function add(parent, name, attributes, text) {
  const element =
      document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function describe(element, facts) {
  element.addEventListener('pointermove', (event) => {
    tip.textContent = facts();
    tip.hidden = false;
    const right = event.clientX + tip.offsetWidth + 24 > innerWidth;
    const low = event.clientY + tip.offsetHeight + 24 > innerHeight;
    tip.style.left =
        event.clientX + (right ? -tip.offsetWidth - 12 : 14) + 'px';
    tip.style.top = event.clientY + (low ? -tip.offsetHeight - 8 : 14) + 'px';
  });
  element.addEventListener('pointerleave', () => { tip.hidden = true; });
}

function drawGroup(scene, placed, key) {
  const at = placed.at.get(key), group = groups[key.slice(1)];
  const frame = add(scene, 'g', {class: group.is_phase ? 'phase' : 'group',
                                 'data-title': group.title});
  const top = at.y - at.height / 2 - TITLE;
  add(frame, 'rect', {x: at.x - at.width / 2, y: top, width: at.width,
                      height: at.height + TITLE, rx: 6});
  add(frame, 'text', {x: at.x - at.width / 2 + 6, y: top + 10},
      (group.is_phase ? '' : '− ') + group.title);
  if (group.is_phase) return;
  frame.addEventListener('click', () => { group.folded = true; redraw(); });
}

function drawEdge(scene, view, edge) {
  const line = add(scene, 'g', {class: edge.across ? 'arrow across' : 'arrow',
                                'data-from': edge.from, 'data-to': edge.to});
  add(line, 'path', {d: edge.path, 'marker-end': 'url(#head)'});
  add(line, 'path', {d: edge.path, class: 'reach'});
  describe(line, () => edge.values.length > 0
      ? edge.values.slice(0, 5).map(bufferFacts).join('\n\n')
      : view.nodes.get(edge.from).title + ' → ' + view.nodes.get(edge.to).title);
}

function drawNode(scene, placed, key, node) {
  const at = placed.at.get(key);
  const box = add(scene, 'g', {class: 'box ' + node.kind + ' ' +
                                      (data.trains ? node.phase : ''),
                               'data-key': key});
  const rect = {x: at.x - at.width / 2, y: at.y - at.height / 2,
                width: at.width, height: at.height,
                rx: node.kind === 'input' || node.kind === 'output' ? 12 : 4};
  if (node.kind === 'block') {
    add(box, 'rect', {...rect, x: rect.x + 3, y: rect.y + 3});
  }
  add(box, 'rect', rect);
  node.rows.forEach((row, i) => add(box, 'text', {
    x: at.x, y: at.y - (node.rows.length / 2 - i) * ROW + 10.5,
    class: i === 0 ? 'name' : 'detail'}, row));
  describe(box, () => boxFacts(node));
  box.addEventListener('pointerenter', () => mark(key, true));
  box.addEventListener('pointerleave', () => mark(key, false));
  if (node.group === undefined) return;
  box.addEventListener('click', () => {
    groups[node.group].folded = false;
    redraw();
  });
}

// The arrows of the box that the pointer is over.
function mark(key, near) {
  for (const line of svg.querySelectorAll('.arrow')) {
    if (line.dataset.from === key || line.dataset.to === key) {
      line.classList.toggle('near', near);
    }
  }
}

// The way of execution through all steps that are seen.
function drawOrder(scene, placed, view) {
  const first = (node) => Math.min(...node.members.map(
      (b) => boxes[b].step < 0 ? Infinity : boxes[b].step));
  const way = [...view.nodes].map(([key, node]) => [first(node), placed.at.get(key)])
      .filter(([step]) => step < Infinity).sort((a, b) => a[0] - b[0]);
  add(scene, 'polyline', {class: 'order', points: way.map(
      ([, at]) => at.x + ',' + at.y).join(' ')});
}

let size = {width: 1, height: 1}, camera = {x: 0, y: 0, width: 1, height: 1};
let ordered = false, current = null, placedNow = null;

function redraw() {
  tip.hidden = true;
  const view = look(), placed = place(view);
  current = view, placedNow = placed;
  svg.querySelector('#scene')?.remove();
  const scene = add(svg, 'g', {id: 'scene'});
  const area = (key) => placed.at.get(key).width * placed.at.get(key).height;
  placed.frames.sort((a, b) => area(b) - area(a));
  for (const key of placed.frames) drawGroup(scene, placed, key);
  for (const edge of view.edges) drawEdge(scene, view, edge);
  if (ordered) drawOrder(scene, placed, view);
  for (const [key, node] of view.nodes) drawNode(scene, placed, key, node);
  size = {width: placed.width, height: placed.height};
  Object.assign(svg.dataset, {boxes: view.nodes.size, arrows: view.edges.length,
                              width: Math.round(size.width),
                              height: Math.round(size.height)});
  lookFor(search.value);
  fit();
}

// --- the camera

function aim() {
  svg.setAttribute('viewBox', [camera.x, camera.y, camera.width,
                               camera.height].join(' '));
}

function fit() {
  camera = {x: -12, y: -22, width: size.width + 24, height: size.height + 34};
  aim();
}

// Keeps the point that is `x`, `y` of the window in its place.
function zoom(factor, x, y) {
  const matrix = svg.getScreenCTM();
  if (!matrix) return;
  const at = new DOMPoint(x, y).matrixTransform(matrix.inverse());
  camera = {x: at.x - (at.x - camera.x) * factor,
            y: at.y - (at.y - camera.y) * factor,
            width: camera.width * factor, height: camera.height * factor};
  aim();
}

function zoomMiddle(factor) {
  const frame = svg.getBoundingClientRect();
  zoom(factor, frame.x + frame.width / 2, frame.y + frame.height / 2);
}

svg.addEventListener('wheel', (event) => {
  event.preventDefault();
  zoom(Math.exp(event.deltaY * 0.0012), event.clientX, event.clientY);
}, {passive: false});

svg.addEventListener('pointermove', (event) => {
  if (event.buttons !== 1) return;
  const scale = svg.getScreenCTM()?.a || 1;
  camera.x -= event.movementX / scale;
  camera.y -= event.movementY / scale;
  aim();
});

// --- search and buttons

function lookFor(text) {
  const wanted = text.trim().toLowerCase();
  let count = 0;
  for (const element of svg.querySelectorAll('.box')) {
    const node = current.nodes.get(element.dataset.key);
    const hits = wanted === '' ? [] : node.members.filter(
        (b) => boxes[b].name.toLowerCase().includes(wanted));
    count += hits.length;
    element.classList.toggle('hit', hits.length > 0);
  }
  found.textContent = wanted === '' ? '' : count + ' found';
}

let next = 0;
// Unfolds what is around the next match, and shows it.
function goToNext() {
  const wanted = search.value.trim().toLowerCase();
  const hits = boxes.map((box, b) => b).filter(
      (b) => wanted !== '' && boxes[b].name.toLowerCase().includes(wanted));
  if (hits.length === 0) return;
  const box = hits[next++ % hits.length];
  for (let g = boxes[box].group; g >= 0; g = groups[g].parent) {
    groups[g].folded = false;
  }
  redraw();
  const at = placedNow.at.get('b' + box);
  camera = {x: at.x - 400, y: at.y - 225, width: 800, height: 450};
  aim();
}

function foldAll(folded) {
  for (const group of groups) group.folded = folded && !group.is_phase;
  redraw();
}

search.addEventListener('input', () => { next = 0; lookFor(search.value); });
search.addEventListener('keydown', (event) => {
  if (event.key === 'Enter') goToNext();
});
const buttons = {
  fold: () => foldAll(true),
  unfold: () => foldAll(false),
  order: () => { ordered = !ordered; redraw(); },
  fit,
  in: () => zoomMiddle(0.8),
  out: () => zoomMiddle(1.25),
};
for (const id in buttons) {
  document.getElementById(id).addEventListener('click', buttons[id]);
}
redraw();
})();
