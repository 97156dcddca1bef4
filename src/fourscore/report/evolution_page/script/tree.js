// The tree: a box for each version, opened by a click; failures of one parent are folded together.

// A tree of up to this many versions is shown unfolded.
const FEW = 20;

const arrow = () => el('span', { class: 'arrow', 'aria-hidden': 'true' }, '›');

// The first line that the version added; if it added none, the first that it removed.
function gist(found) {
  if (!found) return null;
  const [sign, text] = found, added = sign === '+';
  return el('span', { class: added ? 'gist add' : 'gist del' }, el('span', { class: 'unseen' }, SIGN_WORDS[sign]), el('span', { 'aria-hidden': 'true' }, added ? '+ ' : '− '), safeText(text));
}

function versionBox(line, open) {
  const decision = line.decision, score = decision && decision.new !== null ? decision.new : line.score;
  const numbers = el('span', { class: 'numbers' }, el('b', {}, points(score)));
  if (decision && decision.delta !== null) {
    numbers.append(' ', el('span', { class: 'delta' }, `${signed(decision.delta)} ${signedInterval(decision.low, decision.high)}`), ' ',
      el('span', { class: 'n' }, decision.n ? `n = ${count(decision.n)}` : ''));
  } else if (line.n) numbers.append(' ', el('span', { class: 'n' }, `n = ${count(line.n)}`));
  const origin = line.parent === null ? el('span', { class: 'origin' }, 'first version') :
    el('span', { class: 'origin' }, breakableName(line.strategy), el('span', { class: 'soft' }, `${line.risk ? ` ${line.risk} risk,` : ''} from ${line.parent}`));
  const summary = el('summary', {},
    el('span', { class: 'sign', 'aria-hidden': 'true' }, SIGNS[line.status]),
    el('span', { class: 'who' }, el('b', { class: 'number' }, el('span', { class: 'unseen' }, 'version '), String(line.number)), ' ', badges(line), ' ', origin, gist(line.gist)),
    gauge(score, decision), numbers, arrow());
  const box = el('details', { class: `version ${line.status}`, id: `v${line.number}` }, summary);
  box.addEventListener('toggle', () => { if (box.open) open(box, line); });
  return box;
}

function failureBox(lines, place, open) {
  const words = { rejected: 0, withdrawn: 0 };
  for (const line of lines) words[line.status] += 1;
  const counted = Object.entries(words).filter(([, number]) => number).map(([word, number]) => `${count(number)} ${word}`).join(', ');
  const numbers = formatRanges(lines.map((line) => line.number));
  const list = el('ol', {});
  const box = el('details', { class: 'failures' }, el('summary', {},
    el('span', { class: 'sign', 'aria-hidden': 'true' }, '×'), el('span', {}, counted, el('span', { class: 'soft' }, ` ${numbers}`)), arrow()), list);
  const fill = () => { if (!list.childElementCount) list.append(...lines.map((line) => el('li', { class: `d${place}` }, versionBox(line, open)))); };
  box.addEventListener('toggle', () => { if (box.open) fill(); });
  box.fill = fill;
  return box;
}

function formatRanges(numbers) {
  const found = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    if (found.length && found.at(-1)[1] === number - 1) found.at(-1)[1] = number;
    else found.push([number, number]);
  }
  return found.map(([from, to]) => (from === to ? String(from) : to === from + 1 ? `${from}, ${to}` : `${from} to ${to}`)).join(', ');
}

function appendTree(lines, tree, open) {
  for (let at = 0; at < lines.length;) {
    const first = lines[at], deep = Math.min(first.depth, 4);
    let end = at + 1;
    while (first.fold !== null && end < lines.length && lines[end].fold === first.fold) end += 1;
    const group = lines.slice(at, end);
    const alone = first.fold === null || group.length === 1;
    tree.append(el('li', { class: `d${deep}` }, alone ? versionBox(first, open) : failureBox(group, deep, open)));
    at = end;
  }
}

// The legend of the scores in the tree.
function legend() {
  const sample = svg('svg', { class: 'gauge', 'aria-hidden': 'true' }, ...gauge(66, { old: 34, low: 16, high: 50, accepted: true }).childNodes);
  return [el('span', {}, sample), el('span', {}, 'on a scale from 0 to 100: '), el('span', {}, '┆ the version it was compared with'), el('span', {}, '● its own score'),
    el('span', {}, '├┤ its interval, from the bounds of the difference')];
}
