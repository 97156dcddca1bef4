// A chart of all decisions: the score of the active version as steps, candidates above or below.

function decisionChart(decisions, total) {
  if (!decisions.length) return [el('p', { class: 'soft' }, 'Nothing was decided yet.')];
  const tall = 230, top = 16, y = (value) => top + tall * (1 - Math.min(100, Math.max(0, value)) / 100);
  const at = (place) => `${(4.5 + (95 * place) / decisions.length).toFixed(3)}%`;
  const accepted = decisions.filter((each) => each.result === 'promoted').length;
  const drawing = svg('svg', { class: 'course', role: 'img', 'aria-label':
    `${plural(decisions.length, 'decision')}, ${accepted} accepted; the lineage below explains each` });
  for (const value of [0, 25, 50, 75, 100]) {
    drawing.append(svg('line', { class: 'grid', x1: 0, x2: '100%', y1: y(value), y2: y(value) }));
    drawing.append(svg('text', { x: 0, y: y(value) - 4 }, String(value)));
  }
  let level = null;
  decisions.forEach((each, place) => {
    if (each.old === null) return;
    if (level !== null && level !== each.old) {
      drawing.append(svg('line', { class: 'stair', x1: at(place), x2: at(place), y1: y(level), y2: y(each.old) }));
    }
    const end = each.result === 'promoted' ? each.new : each.old;
    drawing.append(svg('line', { class: 'stair', x1: at(place), x2: at(place + 1), y1: y(each.old), y2: y(each.old) }));
    if (end !== each.old && end !== null) drawing.append(svg('line', { class: 'stair', x1: at(place + 1), x2: at(place + 1), y1: y(each.old), y2: y(end) }));
    level = end;
  });
  decisions.forEach((each, place) => {
    if (each.new === null) return;
    const x = at(place + 0.5), words = `version ${each.version}: ${RESULTS[each.result]}, ${points(each.old)} to ${points(each.new)}`;
    if (each.low !== null && each.high !== null && each.old !== null) {
      drawing.append(svg('line', { class: 'whisker', x1: x, x2: x, y1: y(each.old + each.low), y2: y(each.old + each.high) }));
    }
    const kind = { promoted: 'won', branched: 'aside', rejected: 'lost' }[each.result];
    const small = decisions.length > 80;
    drawing.append(svg('circle', { class: kind, cx: x, cy: y(each.new), r: small ? 2.5 : 4.5 }, svg('title', {}, words)));
    if (each.result === 'promoted' && (!small || accepted < 40)) {
      drawing.append(svg('text', { class: 'name', x, y: y(Math.max(each.new, each.old + (each.high || 0))) - 6, 'text-anchor': 'middle' }, String(each.version)));
    }
  });
  drawing.append(svg('text', { x: 0, y: top + tall + 20 }, decisions.length < total ? `the newest ${count(decisions.length)} of ${count(total)} decisions` : 'first decision'));
  drawing.append(svg('text', { x: '100%', y: top + tall + 20, 'text-anchor': 'end' }, 'newest'));
  const sample = (kind) => svg('svg', { 'aria-hidden': 'true' }, svg('circle', { class: kind, cx: 6, cy: 6, r: 4.5 }));
  const stair = svg('svg', { 'aria-hidden': 'true', class: 'long' }, svg('line', { class: 'stair', x1: 0, x2: 22, y1: 6, y2: 6 }));
  const whisker = svg('svg', { 'aria-hidden': 'true' }, svg('line', { class: 'whisker', x1: 6, x2: 6, y1: 0, y2: 12 }));
  return [drawing, el('p', { class: 'key' },
    el('span', {}, stair, 'active version, on the same cases'), el('span', {}, sample('won'), 'accepted'),
    el('span', {}, sample('aside'), 'to a branch'), el('span', {}, sample('lost'), 'not accepted'),
    el('span', {}, whisker, 'interval of the candidate’s score'), el('span', {}, 'scores from 0 to 100'))];
}
