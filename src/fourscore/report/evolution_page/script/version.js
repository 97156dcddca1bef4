// The details of one version: why it was tried, its decisions, other events, its text.

function factList(pairs) {
  const list = el('dl', { class: 'facts' });
  for (const [name, ...value] of pairs) {
    if (value.every((each) => each === null || each === undefined || each === '')) continue;
    list.append(el('div', {}, el('dt', {}, name), el('dd', {}, ...value.filter((each) => each !== null))));
  }
  return list;
}

function decisionSection(one) {
  const sign = one.result === 'rejected' ? '✗' : one.result === 'branched' ? '◇' : '✓';
  const verdictClass = one.result === 'rejected' ? 'no' : 'yes';
  return el('section', { class: 'decision' },
    el('h3', {}, `Decision against version ${one.against}`),
    el('p', {}, el('span', { class: `verdict ${verdictClass}` }, `${sign} ${RESULTS[one.result]}`), one.why ? ': ' : '', one.why ? safeText(one.why) : ''),
    factList([
      ['rule', one.rule],
      ['reason', safeText(one.reason)],
      ['difference', one.delta === undefined ? 'not measured' : `${signed(one.delta)} ${signedInterval(one.low, one.high)}`],
      ['scores', one.old === undefined || one.new === undefined ? '' : `${points(one.old)} to ${points(one.new)}`],
      ['pairs', one.n ? count(one.n) : ''],
      ['look', one.looks ? `${one.look} of ${one.looks}` : ''],
      ['level', one.level === undefined ? 'none: this rule ignores chance' : String(one.level)],
      ['when', formatMinute(one.at)],
    ]));
}

function eventItem(one) {
  const why = one.why ? [': ', safeText(one.why)] : [];
  const rule = one.rule ? [' by ', safeText(one.rule)] : [];
  if (one.kind === 'rollback') return el('li', {}, `${formatMinute(one.at)}: rolled back to version ${one.to}`, ...rule, ...why);
  if (one.kind === 'return') return el('li', {}, `${formatMinute(one.at)}: active again after version ${one.left} was rolled back`, ...rule, ...why);
  if (one.kind === 'promotion') return el('li', {}, `${formatMinute(one.at)}: made active by a person`, ...why);
  return el('li', {}, `${formatMinute(one.at)}: withdrawn`, ...why);
}

function versionSections(line, found) {
  if (found === null) return [el('p', { class: 'note' }, 'The details of this version are left out, to keep the file small. ‘fourscore evolve history’ has them.')];
  const parts = [];
  if (line.parent !== null) {
    parts.push(el('p', { class: 'why' }, found.why ? safeText(found.why) : el('span', { class: 'soft' }, 'No reason was given.')));
  }
  for (const one of [...found.decisions].reverse()) parts.push(decisionSection(one));
  if (found.changes) parts.push(el('section', {}, ...changeParts(found.changes, line.parent).filter(Boolean)));
  if (found.others.length) parts.push(el('section', {}, el('h3', {}, 'What else happened'), el('ul', { class: 'log' }, ...found.others.map(eventItem))));
  if (found.executions.length) {
    const runs = found.executions.map(([, score, failed, n]) => `${points(score)} (n = ${count(n)}${failed ? `, ${percent(failed)} failed` : ''})`);
    parts.push(el('section', {}, el('h3', {}, 'Executions, the newest last'), el('p', {}, runs.join(', '))));
  }
  if (found.text !== undefined) {
    const box = el('pre', { class: 'raw code', tabindex: '0', 'aria-label': `Text of version ${line.number}` }, safeText(found.text));
    const cut = found.text.length < found.length ? el('p', { class: 'cut' }, `The first ${count(found.text.length)} of ${count(found.length)} characters.`) : null;
    parts.push(el('details', { class: 'fold' }, el('summary', {}, 'Full text'), box, cut));
  }
  const over = line.score === null ? 'not measured' : `${points(line.score)} over all n = ${count(line.n)}`;
  parts.push(el('p', { class: 'soft foot' }, `mean score ${over}; `, safeText(found.file), `; ${formatMinute(found.at)}`));
  return parts;
}
