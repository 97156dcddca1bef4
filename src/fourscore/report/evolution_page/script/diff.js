// The changes from the parent version: a sign before each line, a word for screen readers, and
// changed words underlined or struck through.

const SIGN_WORDS = { '+': 'added: ', '-': 'removed: ' };

function changeParts(found, parent) {
  const title = el('h3', {}, `What it changed in version ${parent}`, el('span', { class: 'tally' }, ` +${found.added} −${found.removed} lines`));
  if (!found.lines.some(([sign]) => sign === '+' || sign === '-')) return [title, el('p', { class: 'soft' }, 'No changed line is shown.')];
  const body = el('div', { class: 'diff', role: 'group', 'aria-label': 'Changed lines' });
  for (const [sign, pieces_] of found.lines) {
    if (sign === '@') {
      body.append(el('p', { class: 'same' }, `${plural(Number(pieces_[0][0]), 'line')} unchanged`));
      continue;
    }
    const kind = { '+': 'add', '-': 'del' }[sign] || 'stay';
    const words = el('span', { class: 'words' }, SIGN_WORDS[sign] ? el('span', { class: 'unseen' }, SIGN_WORDS[sign]) : null);
    for (const [text, differs] of pieces_) words.append(differs ? safeText(text, { class: 'part' }) : safeText(text));
    body.append(el('p', { class: kind }, el('span', { class: 'sign', 'aria-hidden': 'true' }, sign === '-' ? '−' : sign), words));
  }
  const rest = found.left_out ? el('p', { class: 'cut' }, `${plural(found.left_out, 'more line')} left out here; the files have them all.`) : null;
  return [title, body, rest];
}
