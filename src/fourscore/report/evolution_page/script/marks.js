// Words, signs and numbers of versions. A sign is never shown without its word.

const SIGNS = { active: '●', retired: '○', branch: '◇', candidate: '?', rejected: '×', withdrawn: '–' };
const STATUS = {
  active: 'active', retired: 'was active', branch: 'branch', candidate: 'waits for a decision', rejected: 'rejected', withdrawn: 'withdrawn',
};
const RESULTS = { promoted: 'accepted', branched: 'accepted to a branch', rejected: 'not accepted' };

const points = (value) => (value === null || value === undefined ? '–' : value.toFixed(1));
const signed = (value) => `${value < 0 ? '−' : '+'}${Math.abs(value).toFixed(1)}`;
const signedInterval = (low, high) => (low === null || low === undefined || high === null || high === undefined ? '' : `[${signed(low)}, ${signed(high)}]`);
const formatMinute = (at) => plain(at).replace('T', ' ').replace(/:\d\dZ$/, ' UTC');
const plural = (number, word) => `${count(number)} ${word}${number === 1 ? '' : 's'}`;

function badges(line) {
  const found = [el('span', { class: `badge ${line.status}` }, STATUS[line.status])];
  if (line.best) found.push(el('span', { class: 'badge best' }, '★ best'));
  if (line.rolled_back) found.push(el('span', { class: 'badge back' }, '↩ rolled back'));
  if (line.archived) found.push(el('span', { class: 'badge' }, 'archived'));
  return el('span', { class: 'badges' }, ...found);
}

// A score from 0 to 100: a tick for the version it was compared with, a dot for its own score, and
// a whisker for the interval: the other version's score plus the bounds of the difference.
function gauge(score, decision) {
  const compared = decision && decision.old !== null ? `, was ${points(decision.old)}` : '';
  const drawing = svg('svg', { class: 'gauge', role: 'img', 'aria-label': `score ${points(score)} of 100${compared}` });
  drawing.append(svg('rect', { class: 'track', width: '100%', height: 2, y: 9 }));
  if (decision && decision.old !== null && decision.low !== null && decision.high !== null) {
    const [from, to] = [decision.old + decision.low, decision.old + decision.high].map((value) => share(value / 100));
    drawing.append(
      svg('line', { class: 'whisker', x1: from, x2: to, y1: 10, y2: 10 }),
      svg('line', { class: 'whisker', x1: from, x2: from, y1: 6.5, y2: 13.5 }),
      svg('line', { class: 'whisker', x1: to, x2: to, y1: 6.5, y2: 13.5 }));
  }
  if (decision && decision.old !== null) {
    drawing.append(svg('line', { class: 'was', x1: share(decision.old / 100), x2: share(decision.old / 100), y1: 1, y2: 19 }));
  }
  if (score !== null) {
    const won = !decision || decision.accepted;
    drawing.append(svg('circle', { class: won ? 'won' : 'lost', cx: share(score / 100), cy: 10, r: 4 }));
  }
  return drawing;
}
