// Everything above the table of cases.

function figure(label, value, more, extra, main) {
  return el('div', { class: main ? 'figure main' : 'figure' },
    el('p', { class: 'label' }, label), el('p', { class: 'value' }, value), extra || null, el('p', { class: 'more' }, more));
}

function figures(head) {
  const s = head.summary, level = `${Math.round(100 * s.level)}% interval`;
  const rate = s.pass_rate, ends = s.pass_rate_interval, mean = s.average_score, range = s.average_score_interval;
  const rateMore = rate === null ? 'nothing was measured' :
    `${ends ? `${level} ${percent(ends[0])} to ${percent(ends[1])}, ` : ''}${count(s.passed)} of n = ${count(s.total_tests)}`;
  byId('figures').append(figure('Pass rate', rate === null ? 'not measured' : percent(rate), rateMore,
    rate === null ? null : meter(rate, ends, `Pass rate ${percent(rate)}`), true));
  const fixed = s.pass_rate_corrected;
  if (head.corrected) {
    byId('figures').append(figure('Corrected for the judge’s errors', fixed ? percent(fixed.value) : 'not corrected', safeText(head.corrected),
      fixed ? meter(fixed.value, fixed.interval, `Corrected pass rate ${percent(fixed.value)}`) : null));
  }
  byId('figures').append(figure('Average score', score3(mean),
    mean === null ? 'nothing was measured' : `${range ? `${score3(range[0])} to ${score3(range[1])}, ` : ''}n = ${count(s.average_score_n)}`));
  const spent = [s.cost.agent, s.cost.judges], dollars = spent[0].dollars + spent[1].dollars;
  const calls = spent[0].calls + spent[1].calls;
  byId('figures').append(figure('Cost', money(dollars),
    calls || dollars ? `agent ${money(spent[0].dollars)}, judges ${money(spent[1].dollars)}; ${large(calls, 0)} model calls` : 'no model calls recorded'));
  const time = s.time;
  byId('figures').append(figure('Time of the agent', time.n ? formatSeconds(time.seconds) : '–',
    time.n ? `mean ${formatSeconds(time.mean)}, longest ${formatSeconds(time.longest)}, n = ${count(time.n)}` : 'not recorded'));
  const parts = Object.entries(s.statuses).filter(([, n]) => n).map(([status, n]) => `${count(n)} ${status}`);
  byId('planned').append(el('b', {}, `${count(s.planned)} planned`), ` = ${parts.join(' + ') || 'nothing'}`,
    s.repeats > 1 ? `, ${count(s.cases)} cases × ${count(s.repeats)} repeats` : '');
  for (const kind of ['pass@k', 'pass^k']) {
    if (!s[kind]) continue;
    const rates = Object.entries(s[kind]).map(([k, of]) => `${k}: ${of.rate === null ? '–' : score3(of.rate)}`);
    byId('gates').append(el('li', { class: 'soft' }, `${kind}  ${rates.join(', ')}`));
  }
  for (const [fine, name, words] of head.canaries) {
    byId('gates').append(el('li', {}, el('span', { class: fine ? 'verdict yes' : 'verdict no' }, fine ? '✓ judge ' : '✗ judge compromised: '), safeText(name), ` ${words}`));
  }
  for (const [met, reason] of head.gates) {
    byId('gates').append(el('li', {}, el('span', { class: met ? 'verdict yes' : 'verdict no' }, met ? '✓ gate passed ' : '✗ gate failed '), safeText(reason)));
  }
}

function dimensions(list) {
  if (!list.length) return el('p', { class: 'soft' }, 'No dimension was measured.');
  const body = el('tbody');
  for (const each of list) {
    const label = each.mean === null ? each.missing : `mean ${score3(each.mean)}`;
    const range = each.interval ? `${score3(each.interval[0])} to ${score3(each.interval[1])}` : '';
    body.append(el('tr', {},
      el('th', { scope: 'row' }, breakableName(each.name), el('span', { class: 'level' }, ...(each.level ? ['level: ', safeText(each.level)] : each.mean === null ? [each.missing] : []))),
      el('td', { class: 'meter' }, meter(each.mean, each.interval, label, each.mean !== null && each.mean < 0.5)),
      el('td', { class: 'num' }, el('span', {}, score3(each.mean)), ' ', el('span', { class: 'range' }, range)),
      el('td', { class: 'num' }, count(each.n), each.mean !== null && each.missing ? el('span', { class: 'range' }, ` ${each.missing}`) : '')));
  }
  return grid(['Dimension', '', 'Mean and interval', 'n'], ['', 'meter', 'num', 'num'], body, 'Mean of each dimension');
}

// A table of how many rows have each level, by dimension.
function levels(list) {
  const words = [...new Set(list.flatMap((each) => each.levels.map(([word]) => word)))];
  if (!words.length) return '';
  const body = el('tbody', {}, ...list.filter((each) => each.levels.length).map((each) => {
    const counts = new Map(each.levels);
    return el('tr', {}, el('th', { scope: 'row' }, breakableName(each.name)),
      ...words.map((word) => el('td', { class: 'num' }, counts.has(word) ? count(counts.get(word)) : '–')));
  }));
  const table = grid(['Dimension', ...words.map((word) => safeText(word))], ['', ...words.map(() => 'num')], body, 'Rows of each level');
  return el('details', { class: 'fold' }, el('summary', {}, 'Levels of each dimension'), el('div', { class: 'sideways', tabindex: '0', role: 'region', 'aria-label': 'Levels of each dimension' }, table));
}

function grid(titles, classes, body, caption) {
  const head = el('tr', {}, ...titles.map((title, at) => (title ? el('th', { scope: 'col', class: classes[at] || null }, title) : el('td', { class: classes[at] || null }))));
  return el('table', { class: 'plain' }, el('caption', { class: 'unseen' }, caption), el('thead', {}, head), body);
}

// A table of pass rates by group; a click on a name filters the table of cases.
function groups(list, word, choose) {
  if (!list.length) return [el('p', { class: 'soft' }, `No case has a ${word}.`)];
  const rows = list.map(([name, rate, interval, n]) => {
    const button = el('button', { type: 'button', class: 'link', 'aria-label': `Show the cases of ${plain(name)}` }, breakableName(name));
    button.addEventListener('click', () => choose(name));
    return el('tr', {},
      el('th', { scope: 'row' }, button),
      el('td', { class: 'meter' }, meter(rate, interval, rate === null ? 'not measured' : `pass rate ${percent(rate)}`, rate !== null && rate < 0.5)),
      el('td', { class: 'num' }, el('span', {}, rate === null ? 'not measured' : percent(rate)), ' ',
        el('span', { class: 'range' }, interval ? `${percent(interval[0])} to ${percent(interval[1])}` : '')),
      el('td', { class: 'num' }, count(n)));
  });
  const first = 12, body = el('tbody', {}, ...rows.slice(0, first));
  const title = word[0].toUpperCase() + word.slice(1);
  const parts = [grid([title, '', 'Pass rate and interval', 'n'], ['', 'meter', 'num', 'num'], body, `Pass rate by ${word}`)];
  if (rows.length > first) {
    const more = el('button', { type: 'button', class: 'quiet more-rows' }, `Show all ${count(rows.length)}`);
    more.addEventListener('click', () => { body.append(...rows.slice(first)); more.remove(); rows[first].querySelector('button').focus(); });
    parts.push(more);
  }
  return parts;
}

function about(run, summary) {
  const list = byId('about');
  const put = (name, ...what) => list.append(el('dt', {}, name), el('dd', {}, ...what));
  const word = (name, text) => { if (text) put(name, safeText(text, { class: 'mono' })); };
  put('Run', safeText(run.id, { class: 'mono' }));
  if (run.agent) put('Agent', safeText(run.agent));
  word('Agent version', run.agent_version);
  word('Git commit', run.git_commit);
  word('Test set digest', run.cases_digest);
  word('Test set', run.cases_path);
  word('Rubric', run.rubric);
  word('Judged by', run.judged_by);
  if (run.labels.length) {
    const labels = el('span', {});
    for (const [key, value] of run.labels) labels.append(safeText(`${key} = ${value}`, { class: 'tag' }), ' ');
    put('Labels', labels);
  }
  put('Started', formatTime(run.created));
  put('Finished', run.finished ? `${formatTime(run.finished)}, after ${formatSeconds(Math.max(0, run.finished - run.created))}` : 'not recorded');
  if (summary.coverage !== null && summary.coverage !== undefined) put('Coverage', `${percent(summary.coverage)} of the rubric’s weight was measured`);
}

function headline(head, choose) {
  const run = head.run, title = run.name || run.id;
  document.title = `${plain(title)} – Fourscore report`;
  byId('name').append(safeText(title));
  const parts = [];
  if (run.agent) parts.push(safeText(run.agent));
  if (run.agent_version) parts.push(safeText(run.agent_version));
  parts.push(formatTime(run.created));
  parts.forEach((part, at) => byId('sub').append(at ? ' · ' : '', part));
  figures(head);
  byId('histogram').append(...histogram(head.bins));
  byId('dimensions').append(dimensions(head.dimensions), levels(head.dimensions));
  byId('complexities').append(...groups(head.complexities, 'complexity', (name) => choose('by-complexity', name)));
  byId('tags').append(...groups(head.tags, 'tag', (name) => choose('by-tag', name)));
  if (head.notes.length) byId('notes').append(el('p', { class: 'note' }, head.notes.join(' ')));
  about(run, head.summary);
}
