// SPDX-License-Identifier: Apache-2.0
// Draws the diagram: a click folds and unfolds, the wheel zooms, dragging pans,
// hovering tells the facts.

const svg = document.getElementById('picture');
const tip = document.getElementById('tip');
const found = document.getElementById('found');
const search = document.getElementById('search');
const TITLE = 9;

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
  frame.addEventListener('click', () => toggle(key));
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
  box.addEventListener('click', () => toggle(key));
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
}

// Folds or unfolds a block, which stays where it is seen.
function toggle(key) {
  const before = placedNow.at.get(key);
  const group = groups[key.slice(1)];
  group.folded = !group.folded;
  redraw();
  const after = placedNow.at.get(key);
  camera.x += after.x - before.x;
  camera.y += after.y - after.height / 2 - (before.y - before.height / 2);
  aim();
}

// --- the camera

function aim() {
  svg.setAttribute('viewBox', [camera.x, camera.y, camera.width,
                               camera.height].join(' '));
}

const LARGEST = 1.3;  // A small picture is not blown up.

function whole() {
  return {x: -12, y: -22, width: size.width + 24, height: size.height + 34};
}

// As wide as the window, from the top, with letters that can be read.
function open() {
  const LOWEST = 240, SHARE = 0.86;  // of the window's height
  const all = whole();
  const scale =
      Math.min(Math.max(svg.clientWidth / all.width, 1), LARGEST);
  const height = Math.min(Math.max(all.height * scale, LOWEST),
                          SHARE * innerHeight);
  svg.style.height = height + 'px';
  const width = svg.clientWidth / scale;
  const middle = width < all.width ? firstBox().x : all.x + all.width / 2;
  camera = {x: middle - width / 2, y: all.y, width, height: height / scale};
  aim();
}

// The whole picture.
function fit() {
  camera = whole();
  aim();
}

function firstBox() {
  return [...current.nodes.keys()].map((key) => placedNow.at.get(key))
      .reduce((first, at) => at.y < first.y ? at : first);
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
  open();
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
open();
