// The dialog with one case.

const splitCut = (kept) => (typeof kept === 'string' ? [kept, null] : kept ? [kept.cut, kept.of] : ['', null]);

// The text with its marks, which may overlap: it is split where a mark starts or ends.
function markedText(text, marks, tones) {
  const box = el('pre', { class: 'raw', dir: 'auto' });
  if (!marks.length) return pieces(text, box);
  const ends = [...new Set([0, text.length, ...marks.flatMap(([from, to]) => [from, to])])].sort((a, b) => a - b);
  const order = ['bad', 'mid', 'good', 'none'];
  for (let at = 0; at + 1 < ends.length; at += 1) {
    const [from, to] = [ends[at], ends[at + 1]];
    const over = marks.filter((mark) => mark[0] <= from && mark[1] >= to);
    const piece = text.slice(from, to);
    if (!over.length) { pieces(piece, box); continue; }
    const worst = order.find((word) => over.some((mark) => tones[mark[2]] === word));
    const node = el('mark', { class: worst, tabindex: '-1', 'data-k': over.map((mark) => mark[2]).join(' ') });
    const begun = over.filter((mark) => mark[0] === from).map((mark) => mark[2]);
    if (begun.length) node.append(el('sup', {}, begun.join(',')));
    box.append(pieces(piece, node));
  }
  return box;
}

function textSection(title, kept, marks, tones, code) {
  const [text, of] = splitCut(kept);
  const box = markedText(text, marks || [], tones || {});
  if (code || /^[{[]/.test(text)) box.classList.add('code');
  box.tabIndex = 0;
  box.setAttribute('role', 'region');
  box.setAttribute('aria-label', title);
  return el('section', {}, el('h3', {}, title),
    text || of ? box : el('p', { class: 'soft' }, 'empty'),
    of ? el('p', { class: 'cut' }, `Cut: the first ${count(text.length)} of ${count(of)} characters.`) : null);
}

function evidenceItem(piece, found) {
  const item = el('li', {});
  if (piece.in) {
    const [text] = splitCut(found[piece.in]);
    const [from, to] = found.marks[piece.in].find((mark) => mark[2] === piece.k);
    const quote = text.slice(from, Math.min(to, from + 300)) + (to - from > 300 ? '…' : '');
    const jump = el('button', { type: 'button', class: 'link', 'aria-label': `Show evidence ${piece.k} in the ${piece.in}` }, String(piece.k));
    jump.addEventListener('click', () => highlight(piece.k));
    item.append(jump, el('q', {}, safeText(quote)));
    return item;
  }
  const where = piece.step === null || piece.step === undefined ? piece.field : `step ${piece.step}`;
  const quotation = el('span', {}, el('q', {}, safeText(piece.text)), el('span', { class: 'soft' }, ' – ', safeText(where), piece.why ? `, ${piece.why}` : ''));
  if (byStep(piece.step)) {
    const jump = el('button', { type: 'button', class: 'link', 'aria-label': `Show step ${piece.step}` }, String(piece.k));
    jump.addEventListener('click', () => { const box = byStep(piece.step)(); if (box) { box.open = true; box.querySelector('summary').focus(); } });
    item.append(jump, quotation);
  } else {
    item.append(el('span', { class: 'soft' }, String(piece.k)), quotation);
  }
  return item;
}

const byStep = (step) => (step === null || step === undefined ? null : () => byId('d-body').querySelector(`[data-step="${Number(step)}"]`));

function highlight(number) {
  for (const node of byId('d-body').querySelectorAll('mark')) {
    const mine = node.dataset.k.split(' ').includes(String(number));
    node.classList.toggle('lit', mine);
  }
  const first = byId('d-body').querySelector('mark.lit');
  if (first) { first.scrollIntoView({ block: 'center' }); first.focus({ preventScroll: true }); }
}

function signalItem(each, found) {
  const valueTone = tone(each.value);
  const level = each.level ? safeText(each.level) : null;
  const value = each.value === undefined ? el('span', { class: 'soft' }, each.fault ? 'not measured' : 'not applicable')
    : el('span', { class: `v-${valueTone}` }, level, level ? ' ' : '', score3(each.value));
  const item = el('li', {}, el('div', { class: 's-head' }, el('strong', {}, safeText(each.name)), value));
  if (each.value !== undefined) item.append(valueBar(each.value));
  if (each.relative) item.append(el('p', { class: 'why' }, 'A rank inside its group; not part of the value.'));
  if (each.reward !== undefined) item.append(el('p', { class: 'why' }, `reward ${large(each.reward, 4)}`));
  if (each.reason) item.append(el('p', { class: 'why' }, safeText(splitCut(each.reason)[0]), splitCut(each.reason)[1] ? ' … (cut)' : ''));
  if (each.fault) item.append(el('p', { class: 'cut' }, safeText(each.fault[0]), ': ', safeText(splitCut(each.fault[1])[0])));
  if (each.evidence) item.append(el('ul', { class: 'evidence', 'aria-label': 'Evidence' }, ...each.evidence.map((piece) => evidenceItem(piece, found))));
  if (each.canary) item.append(el('p', { class: 'why' }, 'A canary (', safeText(each.canary[0]), each.canary[1] ? ') passed: this judge may be compromised.' : ') did not pass.'));
  if (each.more) item.append(el('p', { class: 'cut' }, `${count(each.more)} more pieces of evidence are left out.`));
  return item;
}

function stepItem(each, number, evidence) {
  const title = el('summary', {}, el('span', { class: 'n' }, String(number)), el('b', {}, safeText(each.name || each.role || '')));
  const [short] = splitCut(each.name ? each.arguments : each.content);
  const brief = short.replace(/\s+/g, ' ').slice(0, 70);
  if (brief) title.append(safeText(brief, { class: 'soft' }));
  if (each.error || each.exit_code) title.append(el('span', { class: 'flag' }, each.exit_code ? `exit ${each.exit_code}` : 'error'));
  if (evidence) title.append(el('span', { class: 'flag' }, `evidence ${evidence.join(', ')}`));
  const box = el('details', { 'data-step': number }, title);
  for (const [key, words] of [['arguments', 'Arguments'], ['result', 'Result'], ['error', 'Error'], ['content', 'Message']]) {
    if (each[key]) box.append(textSection(words, each[key], [], {}, true));
  }
  if (each.seconds !== undefined) box.append(el('p', { class: 'soft' }, formatSeconds(each.seconds)));
  return el('li', {}, box);
}

function stepsSection(found) {
  const evidence = {};
  for (const each of found.signals || []) {
    for (const piece of each.evidence || []) {
      if (piece.step !== null && piece.step !== undefined) (evidence[piece.step] ||= []).push(piece.k);
    }
  }
  const calls = found.steps.filter((each) => each.name).length;
  return el('section', { class: 'd-steps' }, el('h3', {}, `${count(found.steps.length + (found.more_steps || 0))} steps, ${count(calls)} tool calls${found.more_steps ? ' among those shown' : ''}`),
    el('ol', { class: 'steps' }, ...found.steps.map((each, number) => stepItem(each, number, evidence[number]))),
    found.more_steps ? el('p', { class: 'cut' }, `Cut: ${count(found.more_steps)} more steps are left out.`) : null);
}

function detailSections(found, row, names) {
  const tones = {}, marks = found.marks || {};
  for (const each of found.signals || []) for (const piece of each.evidence || []) tones[piece.k] = tone(each.value);
  const left = el('div', { class: 'd-texts' }), right = el('div', { class: 'd-signals' });
  if (found.fault) left.append(textSection(`The agent failed: ${plain(found.fault[0])}`, found.fault[1] || '', [], tones));
  left.append(textSection('Input', found.input, marks.input, tones));
  if (found.expected) left.append(textSection('Expected', found.expected, marks.expected, tones));
  left.append(textSection('Output', found.output, marks.output, tones));
  if (found.whole) left.append(textSection('Whole output; only the answer above was judged', found.whole, [], tones));
  if (found.reason) right.append(el('section', {}, el('h3', {}, 'Why'), el('p', {}, safeText(splitCut(found.reason)[0]))));
  const signals = el('section', {}, el('h3', {}, found.brief ? 'Values' : 'Signals'));
  if (found.signals) signals.append(el('ul', { class: 'signals' }, ...found.signals.map((each) => signalItem(each, found))));
  else if (found.brief) {
    const given = names.map((name, at) => ({ name, value: row.values[at] })).filter((each) => each.value !== null);
    signals.append(el('ul', { class: 'signals' }, ...given.map((each) => signalItem(each, found))),
      el('p', { class: 'cut' }, 'In brief: reasons, evidence and steps are left out to keep the file small. ‘fourscore show’ has them.'));
  } else signals.append(el('p', { class: 'soft' }, 'none'));
  if (found.more_signals) signals.append(el('p', { class: 'cut' }, `${count(found.more_signals)} more signals are left out.`));
  right.append(signals);
  for (const [who, given, note, stale] of found.labels || []) {
    right.append(el('section', {}, el('h3', {}, 'A person’s verdict'),
      el('p', {}, safeText(who), ' says ', safeText(given), note ? ': ' : '', note ? safeText(note) : '', stale ? ' (about an earlier output)' : '')));
  }
  return found.steps ? [left, right, stepsSection(found)] : [left, right];
}

const dialog = { row: null, request: 0 };

async function showCase(row, head) {
  const box = byId('detail'), body = byId('d-body'), request = (dialog.request += 1);
  dialog.row = row;
  byId('d-title').replaceChildren(safeText(row.id));
  byId('d-sub').replaceChildren(...[verdict(row.passed),
    el('span', {}, row.status), row.value === null ? null : el('span', {}, `value ${score3(row.value)}`),
    row.repeated ? el('span', {}, `repeat ${row.repeat}`) : null, safeText(row.complexity),
    ...row.tags.map((tag) => safeText(tag))].filter(Boolean));
  body.replaceChildren(el('p', { class: 'soft full' }, 'Reading …'));
  if (!box.open) box.showModal();
  byId('d-title').focus();
  let parts;
  try {
    const found = await readDetails(row, head.firsts);
    parts = found ? detailSections(found, row, head.dimensions.map((each) => each.name)) : [el('p', { class: 'note full' }, 'The details of this case are left out, to keep the file small. ‘fourscore show’ has them.')];
    if (found && request === dialog.request) {
      if (found.seconds !== undefined) byId('d-sub').append(el('span', {}, formatSeconds(found.seconds)));
      if (found.attempt) byId('d-sub').append(el('span', {}, `attempt ${found.attempt}`));
    }
  } catch (error) {
    parts = [el('p', { class: 'note full' }, String(error.message || error))];
  }
  if (request !== dialog.request) return;
  body.replaceChildren(...parts);
  body.scrollTop = 0;
}
