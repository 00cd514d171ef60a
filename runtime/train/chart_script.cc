// SPDX-License-Identifier: Apache-2.0
#include "runtime/train/chart_json.h"

namespace mxc::train {

const char* const kChartScript = R"js(
const charts = [...document.querySelectorAll('svg.chart')].map((svg) =>
    ({svg, ...JSON.parse(svg.dataset.chart)}));
const slider = document.getElementById('smoothing');
const tip = document.getElementById('tip');
const share = ([low, high], at) => (at - low) / (high - low);

function place(chart, [step, value]) {
  const at = chart.log ? Math.log10(value) : value;
  return [chart.left + share(chart.steps, step) * (chart.right - chart.left),
          chart.bottom - share(chart.values, at) * (chart.bottom - chart.top)];
}

// An exponential mean that does not start at zero.
function smoothed(points, keep) {
  let mean = 0, weight = 0;
  return points.map(([step, value, time]) => {
    mean = keep * mean + (1 - keep) * value;
    weight = keep * weight + 1 - keep;
    return [step, mean / weight, time];
  });
}

function drawLine(chart, points, css) {
  const line = document.createElementNS('http://www.w3.org/2000/svg',
                                        'polyline');
  line.setAttribute('class', 'curve ' + css);
  line.setAttribute('points', points.map((p) => place(chart, p).map(
      (at) => at.toFixed(1)).join(',')).join(' '));
  chart.svg.append(line);
}

function smooth(keep) {
  for (const chart of charts) {
    chart.svg.querySelectorAll('polyline.curve').forEach((l) => l.remove());
    chart.curves.forEach(({other, points}, i) => {
      if (points.length < 2) return;
      const css = `c${i % 6}${other ? ' other' : ''}`;
      if (keep > 0 && !other) drawLine(chart, points, `${css} faint`);
      drawLine(chart, smoothed(points, keep), css);
    });
  }
  slider.value = keep;
  document.getElementById('kept').textContent = keep.toFixed(2);
}

slider.addEventListener('input', () => {
  smooth(Number(slider.value));
  history.replaceState(null, '', `#smoothing=${slider.value}`);
});
const asked = /smoothing=([0-9.]+)/.exec(location.hash);
if (asked) smooth(Math.min(Number(asked[1]), 0.99));

function clock(seconds) {
  const two = (n) => String(Math.floor(n) % 60).padStart(2, '0');
  return `${Math.floor(seconds / 3600)}:${two(seconds / 60)}:${two(seconds)}`;
}

function nearest(points, step) {
  return points.reduce((best, p) => Math.abs(p[0] - step) <
      Math.abs(best[0] - step) ? p : best, points[0]);
}

function show(chart, event) {
  const box = chart.svg.getBoundingClientRect();
  const [, , width] = chart.svg.getAttribute('viewBox').split(' ').map(Number);
  const x = (event.clientX - box.left) * width / box.width;
  const step = chart.steps[0] + (chart.steps[1] - chart.steps[0]) *
      share([chart.left, chart.right], x);
  tip.replaceChildren();
  for (const {name, points} of chart.curves) {
    if (points.length === 0) continue;
    const [at, value, time] = nearest(points, step);
    const row = document.createElement('div');
    row.textContent = `${name}: ${Number(value.toPrecision(5))} at step ${at}` +
        (time === undefined ? '' : `, ${clock(time)}`);
    tip.append(row);
  }
  tip.style.left = `${event.pageX + 14}px`;
  tip.style.top = `${event.pageY + 14}px`;
  tip.hidden = false;
}

for (const chart of charts) {
  chart.svg.addEventListener('pointermove', (event) => show(chart, event));
  chart.svg.addEventListener('pointerleave', () => { tip.hidden = true; });
}
)js";

}  // namespace mxc::train
