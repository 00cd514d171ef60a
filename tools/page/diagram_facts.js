// SPDX-License-Identifier: Apache-2.0
// What the page knows: the diagram, which stands in it as JSON
// (diagram_json.h), and what each step and each buffer is told to be.

const data = JSON.parse(document.getElementById('diagram').textContent);
const {boxes, arrows, groups, steps, buffers} = data;

const LONGEST = 46;

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
  if (flops >= 1e3) return (flops / 1e3).toFixed(1) + ' kFLOP';
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

function stepFacts(number, operators) {
  const step = steps[number];
  const list = (title, numbers) => numbers.map((b) =>
      title + '  ' + buffers[b].name + '  ' + buffers[b].type + '  ' +
      bytesText(buffers[b].bytes));
  const lines = ['step ' + number + '  ' + step.name, ...operators,
                 'kernel  ' + step.kernel];
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
  if (node.step >= 0 && steps.length > 0) {
    return stepFacts(node.step, boxes[node.members[0]].operators);
  }
  return node.full + '\n' + node.detail;
}
