// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/class_section.h"

namespace mxc::train {

const char* const kClassStyle = R"(
h2 { font-size: 1.15em; margin: 1.4em 0 .4em }
.by-class { display: flex; flex-wrap: wrap; gap: 1em 3em;
  align-items: start; margin-bottom: 1em }
.box { overflow: auto; max-height: 85vh; width: fit-content; max-width: 100% }
.by-class > .box { max-height: 30em }
.box table { font-variant-numeric: tabular-nums; margin: 0 }
.box th { font-weight: 600; color: var(--soft); text-align: left;
  background: var(--paper); white-space: nowrap }
.box thead th { position: sticky; top: 0; z-index: 1 }
.classes th, .classes td { padding: .1em 1.2em .1em 0; text-align: right }
.classes th:first-child, .pairs th:nth-child(2) { text-align: left }
.classes tbody th, .classes tfoot th { color: var(--ink); font-weight: 400 }
.confusion { margin-bottom: 1.2em }
.classes.sorts thead th { cursor: pointer }
.classes tfoot { position: sticky; bottom: 0; background: var(--paper) }
.classes tfoot tr:first-child * { border-top: 1px solid var(--line) }
.matrix { border-collapse: separate; border-spacing: 1px }
.matrix td, .matrix td:first-child { text-align: center; vertical-align: middle;
  padding: 0; color: var(--ink); min-width: calc(var(--digits) * 1ch + 1.4em);
  height: 2.6em; background: color-mix(in srgb, var(--line) 35%, transparent) }
.matrix th { padding: 0 .5em 0 0 }
.matrix tbody th { position: sticky; left: 0; color: var(--ink);
  font-weight: 400 }
.matrix thead th { vertical-align: bottom; color: var(--ink);
  font-weight: 400; padding: 0 0 .3em }
.matrix thead th:first-child { left: 0; z-index: 2; color: var(--soft);
  padding-right: .8em }
.matrix:not(.many) thead th { text-align: center }
.matrix.many thead th:not(:first-child) span { writing-mode: vertical-rl;
  transform: rotate(180deg) }
.matrix.many { font-size: 11px }
.matrix.many td { height: 1.9em;
  min-width: calc(var(--digits) * 1ch + .7em) }
.matrix.small { border-spacing: 0 }
.matrix.small td { font-size: 0; height: var(--cell); min-width: 0;
  width: var(--cell) }
.matrix.small th { font-size: 0; padding: 0 }
.matrix td:hover { outline: 2px solid var(--ink) }
)";

const char* const kClassScript = R"js(
for (const table of document.querySelectorAll('table.matrix')) {
  const names = [...table.tHead.rows[0].cells].map(
      (cell) => cell.title || cell.textContent);
  table.addEventListener('pointermove', (event) => {
    const cell = event.target.closest('td');
    tip.hidden = cell === null;
    if (cell === null) return;
    const row = cell.parentElement;
    const counts = [...row.cells].slice(1).map((c) => Number(c.textContent));
    const all = counts.reduce((sum, count) => sum + count, 0);
    const count = counts[cell.cellIndex - 1];
    const share = all > 0 ? `, ${(100 * count / all).toFixed(1)} %` : '';
    tip.textContent = `is ${names[row.rowIndex]}, taken for ` +
        `${names[cell.cellIndex]}: ${count} of ${all}${share}`;
    tip.style.left = `${event.pageX + 14}px`;
    tip.style.top = `${event.pageY + 14}px`;
  });
  table.addEventListener('pointerleave', () => { tip.hidden = true; });
}

for (const box of document.querySelectorAll('input.whole')) {
  const table = box.closest('.confusion').querySelector('table');
  box.addEventListener('change', () => {
    const room = Math.min(document.body.clientWidth, window.innerHeight * 0.8);
    const cell = Math.max(3, Math.floor(room / table.rows.length));
    table.style.setProperty('--cell', `${cell}px`);
    table.classList.toggle('small', box.checked);
  });
}

for (const table of document.querySelectorAll('table.classes')) {
  table.classList.add('sorts');
  let last = -1, upwards = true;
  table.tHead.addEventListener('click', (event) => {
    const column = event.target.closest('th').cellIndex;
    upwards = column === last ? !upwards : true;
    last = column;
    const text = (row) => row.cells[column].textContent;
    const order = new Intl.Collator(undefined, {numeric: true});
    const rows = [...table.tBodies[0].rows].sort((a, b) =>
        (upwards ? 1 : -1) * order.compare(text(a), text(b)));
    table.tBodies[0].append(...rows);
  });
}
)js";

}  // namespace mxc::train
