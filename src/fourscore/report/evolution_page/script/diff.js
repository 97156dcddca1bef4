// What changed from the parent: a sign before each line, a word for those who hear the page, and
// lines under or through the words that differ.

const SAID = { '+': 'added: ', '-': 'removed: ' };

function changed(found, parent) {
  const title = el('h3', {}, `What it changed in version ${parent}`, el('span', { class: 'tally' }, ` +${found.added} −${found.removed} lines`));
  if (!found.lines.some(([sign]) => sign === '+' || sign === '-')) return [title, el('p', { class: 'soft' }, 'Nothing that is shown.')];
  const body = el('div', { class: 'diff', role: 'group', 'aria-label': 'Changed lines' });
  for (const [sign, pieces_] of found.lines) {
    if (sign === '@') {
      body.append(el('p', { class: 'same' }, `${many(Number(pieces_[0][0]), 'line')} as before`));
      continue;
    }
    const kind = { '+': 'add', '-': 'del' }[sign] || 'stay';
    const words = el('span', { class: 'words' }, SAID[sign] ? el('span', { class: 'unseen' }, SAID[sign]) : null);
    for (const [text, differs] of pieces_) words.append(differs ? foreign(text, { class: 'part' }) : foreign(text));
    body.append(el('p', { class: kind }, el('span', { class: 'sign', 'aria-hidden': 'true' }, sign === '-' ? '−' : sign), words));
  }
  const rest = found.left_out ? el('p', { class: 'cut' }, `${many(found.left_out, 'more line')} left out here; the files have them all.`) : null;
  return [title, body, rest];
}
