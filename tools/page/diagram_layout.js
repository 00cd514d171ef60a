// SPDX-License-Identifier: Apache-2.0
// Which boxes and arrows are seen, and where dagre places them.

const pen = document.createElement('canvas').getContext('2d');
const ROW = 14, MARGIN = 7;
const FONTS = ['600 11.5px system-ui, sans-serif', '10px system-ui, sans-serif'];

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
    if (!edges.has(key)) edges.set(key, {from, to, values: [], again: true});
    const {values} = edges.get(key);
    edges.get(key).again &&= arrow.again;
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
const MOST_READERS_OF_CHAIN = 3;

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
  const readers = new Map();
  for (const {from} of edges) readers.set(from, (readers.get(from) || 0) + 1);
  for (const {from, to} of edges) {
    // What many boxes read, such as a mask, does not bend their chain.
    const weight = readers.get(from) > MOST_READERS_OF_CHAIN ? 0 : 2;
    graph.setEdge(up ? to : from, up ? from : to, {weight});
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

// An arrow from one phase to another, or of a value that is computed again,
// which passes by on the left.
function across(from, to) {
  if (Math.abs(from.x - to.x) < (from.width + to.width) / 2) {
    const a = from.x - from.width / 2, b = to.x - to.width / 2;
    const aside = Math.min(a, b) - GAP / 4;
    return 'M' + a + ' ' + from.y + ' C' + aside + ' ' + from.y + ' ' + aside +
           ' ' + to.y + ' ' + b + ' ' + to.y;
  }
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
        (edge) => keys.includes(edge.from) && keys.includes(edge.to) &&
                  !edge.again);
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
