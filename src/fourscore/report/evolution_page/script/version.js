// One version, opened: why it was tried, the decision with its evidence, what else happened, the text.

function facts(pairs) {
  const list = el('dl', { class: 'facts' });
  for (const [name, ...value] of pairs) {
    if (value.every((each) => each === null || each === undefined || each === '')) continue;
    list.append(el('div', {}, el('dt', {}, name), el('dd', {}, ...value.filter((each) => each !== null))));
  }
  return list;
}

function decided(one) {
  const sign = one.result === 'rejected' ? '✗' : one.result === 'branched' ? '◇' : '✓';
  const tone_ = one.result === 'rejected' ? 'no' : 'yes';
  return el('section', { class: 'decision' },
    el('h3', {}, `Decision against version ${one.against}`),
    el('p', {}, el('span', { class: `verdict ${tone_}` }, `${sign} ${RESULTS[one.result]}`), one.why ? ': ' : '', one.why ? foreign(one.why) : ''),
    facts([
      ['rule', one.rule],
      ['reason', foreign(one.reason)],
      ['difference', one.delta === undefined ? 'not measured' : `${signed(one.delta)} ${within(one.low, one.high)}`],
      ['scores', one.old === undefined || one.new === undefined ? '' : `${points(one.old)} to ${points(one.new)}`],
      ['pairs', one.n ? count(one.n) : ''],
      ['look', one.looks ? `${one.look} of ${one.looks}` : ''],
      ['level', one.level === undefined ? 'none: this rule knows nothing of chance' : String(one.level)],
      ['when', minute(one.at)],
    ]));
}

function happened(one) {
  const why = one.why ? [': ', foreign(one.why)] : [];
  const rule = one.rule ? [' by ', foreign(one.rule)] : [];
  if (one.kind === 'rollback') return el('li', {}, `${minute(one.at)}: rolled back to version ${one.to}`, ...rule, ...why);
  if (one.kind === 'return') return el('li', {}, `${minute(one.at)}: active again after version ${one.left} was rolled back`, ...rule, ...why);
  if (one.kind === 'promotion') return el('li', {}, `${minute(one.at)}: made active by a person`, ...why);
  return el('li', {}, `${minute(one.at)}: withdrawn`, ...why);
}

function opened(line, told) {
  if (told === null) return [el('p', { class: 'note' }, 'There was no room for this version in the page; fourscore evolve history tells of it.')];
  const parts = [];
  if (line.parent !== null) {
    parts.push(el('p', { class: 'why' }, told.why ? foreign(told.why) : el('span', { class: 'soft' }, 'No reason was given.')));
  }
  for (const one of [...told.decisions].reverse()) parts.push(decided(one));
  if (told.changes) parts.push(el('section', {}, ...changed(told.changes, line.parent).filter(Boolean)));
  if (told.others.length) parts.push(el('section', {}, el('h3', {}, 'What else happened'), el('ul', { class: 'log' }, ...told.others.map(happened))));
  if (told.executions.length) {
    const runs = told.executions.map(([, score, failed, n]) => `${points(score)} (n = ${count(n)}${failed ? `, ${percent(failed)} failed` : ''})`);
    parts.push(el('section', {}, el('h3', {}, 'Executions, the newest last'), el('p', {}, runs.join(', '))));
  }
  if (told.text !== undefined) {
    const box = el('pre', { class: 'raw code', tabindex: '0', 'aria-label': `Text of version ${line.number}` }, foreign(told.text));
    const cut = told.text.length < told.length ? el('p', { class: 'cut' }, `The first ${count(told.text.length)} of ${count(told.length)} characters.`) : null;
    parts.push(el('details', { class: 'fold' }, el('summary', {}, 'The text as it is'), box, cut));
  }
  const over = line.score === null ? 'not measured' : `${points(line.score)} over all n = ${count(line.n)}`;
  parts.push(el('p', { class: 'soft foot' }, `mean score ${over}; `, foreign(told.file), `; ${minute(told.at)}`));
  return parts;
}
