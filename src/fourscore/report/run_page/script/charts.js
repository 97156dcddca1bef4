// Charts in SVG. Positions are shares of the width, so that a chart fits any column.

function svg(name, attributes, ...children) {
  const node = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes || {})) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

const share = (value) => `${(100 * Math.min(1, Math.max(0, value))).toFixed(2)}%`;

// A bar from 0 to 1 with a whisker for its interval.
function meter(value, interval, label, low) {
  const drawing = svg('svg', { role: 'img', 'aria-label': label });
  drawing.append(svg('rect', { class: 'track', width: '100%', height: 4, y: 4, rx: 2 }));
  if (value !== null) {
    drawing.append(svg('rect', { class: low ? 'no' : 'ok', width: share(value), height: 4, y: 4, rx: 2 }));
  }
  if (interval) {
    const [from, to] = interval.map(share);
    drawing.append(
      svg('line', { class: 'whisker', x1: from, x2: to, y1: 6, y2: 6 }),
      svg('line', { class: 'whisker', x1: from, x2: from, y1: 1.5, y2: 10.5 }),
      svg('line', { class: 'whisker', x1: to, x2: to, y1: 1.5, y2: 10.5 }),
    );
  }
  if (value !== null) drawing.append(svg('circle', { class: 'dot', cx: share(value), cy: 6, r: 2.75 }));
  return drawing;
}

function valueBar(value) {
  const drawing = svg('svg', { 'aria-hidden': 'true' });
  drawing.append(svg('rect', { class: 'track', width: '100%', height: 5, rx: 2.5 }));
  drawing.append(svg('rect', { class: value >= 0.5 ? 'ok' : 'no', width: share(value), height: 5, rx: 2.5 }));
  return drawing;
}

function hatch() {
  const stripes = svg('pattern', { id: 'hatch', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' });
  stripes.append(svg('rect', { class: 'no', width: 5, height: 5 }));
  stripes.append(svg('line', { x1: 0, x2: 0, y1: 0, y2: 5, stroke: 'rgb(255 255 255 / .45)', 'stroke-width': 2 }));
  return svg('defs', {}, stripes);
}

// A histogram of scores from 0 to 1: passed rows are stacked on failed ones.
function histogram([failed, passed]) {
  const bins = failed.length, tall = 165, top = 18;
  const most = Math.max(1, ...failed.map((n, i) => n + passed[i]));
  const n = failed.reduce((sum, each, i) => sum + each + passed[i], 0);
  const labels = failed
    .map((each, i) => [i, each + passed[i]])
    .filter(([, all]) => all)
    .map(([i, all]) => `${(i / bins).toFixed(2)} to ${((i + 1) / bins).toFixed(2)}: ${all}`);
  const drawing = svg('svg', { class: 'histogram', role: 'img', 'aria-label': `Scores of ${count(n)} rows. ${labels.join('; ')}` });
  drawing.append(hatch());
  for (let i = 0; i < bins; i += 1) {
    const x = `${(100 * i) / bins + 0.4}%`, width = `${100 / bins - 0.8}%`;
    let y = top + tall;
    for (const [number, kind] of [[failed[i], 'hatch'], [passed[i], 'ok']]) {
      if (!number) continue;
      const height = Math.max(1, (tall * number) / most);
      y -= height;
      const words = `${(i / bins).toFixed(2)} to ${((i + 1) / bins).toFixed(2)}: ${count(number)} ${kind === 'ok' ? 'passed' : 'failed'}`;
      drawing.append(svg('rect', { class: kind, x, y, width, height }, svg('title', {}, words)));
    }
    if (failed[i] + passed[i] === most) {
      drawing.append(svg('text', { x: `${(100 * (i + 0.5)) / bins}%`, y: y - 5, 'text-anchor': i === 0 ? 'start' : i === bins - 1 ? 'end' : 'middle' }, count(most)));
    }
  }
  drawing.append(svg('line', { class: 'axis', x1: 0, x2: '100%', y1: top + tall + 0.5, y2: top + tall + 0.5 }));
  for (const [at, anchor] of [[0, 'start'], [0.25, 'middle'], [0.5, 'middle'], [0.75, 'middle'], [1, 'end']]) {
    drawing.append(svg('text', { x: share(at), y: top + tall + 17, 'text-anchor': anchor }, String(at)));
  }
  const sample = (kind) => svg('svg', { 'aria-hidden': 'true' }, svg('rect', { class: kind, width: 12, height: 12, rx: 2 }));
  const key = el('p', { class: 'key' },
    el('span', {}, sample('ok'), 'passed'), el('span', {}, sample('hatch'), 'failed'), el('span', {}, `n = ${count(n)}`));
  return [drawing, key];
}
