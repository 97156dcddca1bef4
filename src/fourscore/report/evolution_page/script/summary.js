// The figures above the tree and the lists below it.

function fact(label, value, more, drawing) {
  return el('div', { class: 'figure' }, el('p', { class: 'label' }, label), el('p', { class: 'value' }, value), drawing || null, el('p', { class: 'more' }, ...more));
}

function heldOut(held, active) {
  if (!held) return fact('On held-out cases', 'not measured', ['they are run when a step ends']);
  const late = held.active === active ? '' : ` It is about version ${held.active}, which is not active now.`;
  if (held.delta === undefined || held.delta === null) {
    return fact('On held-out cases', held.new === undefined ? 'not measured' : points(held.new), [safeText(held.words), late]);
  }
  const drawing = gauge(held.new, { old: held.old, low: held.low ?? null, high: held.high ?? null, accepted: held.delta > 0 });
  return fact('Gain on held-out cases', signed(held.delta), [safeText(held.words), late], drawing);
}

function showSummary(head) {
  document.title = `Lineage of ${plain(head.name)}`;
  byId('name').append(safeText(head.name));
  byId('sub').append(`${plural(head.versions, 'version')}, from ${formatMinute(head.begun)} to ${formatMinute(head.newest)}`, head.source ? '; begun with ' : '', head.source ? safeText(head.source) : '');
  const active = head.active;
  const chance = head.without_level ? `; ${count(head.without_level)} more by a rule that ignores chance` : '';
  byId('figures').append(
    fact('Active', `version ${active.number}`, [active.score === null ? 'not measured yet' : `mean score ${points(active.score)}, n = ${count(active.n)}`,
      head.best === active.number ? '; the best so far' : `; the best is version ${head.best}`]),
    heldOut(head.held_out, active.number),
    fact('Accepted', `${count(head.accepted)} of ${count(head.decisions)}`, [
      head.accepted === head.promoted ? '' : `${plural(head.accepted - head.promoted, 'time')} to a branch; `, head.refused ? `${plural(head.refused, 'proposal')} refused before trial` : 'no proposal was refused before trial']),
    fact('Expected by chance', `≤ ${head.expected_false.toFixed(2)}`, [`false acceptances, if no candidate were better${chance}`]));
  byId('course').append(...decisionChart(head.course, head.decisions));
  if (head.left_out) note(`${plural(head.left_out, 'older version')} left out to keep the file small; ‘fourscore evolve versions’ lists all.`);
  if (head.lacking) note(`${plural(head.lacking, 'line')} of the tree left out to keep the file small.`);
  if (head.without) note(`${plural(head.without, 'version')} shown without details to keep the file small.`);
  byId('rollbacks').append(rollbacks(head));
  byId('strategies').append(strategies(head.strategies));
  byId('refused').append(refused(head));
  about(head);
}

const note = (text) => byId('notes').append(el('p', { class: 'note' }, text));

function rollbacks(head) {
  if (!head.returned) return el('p', { class: 'soft' }, 'None.');
  const list = el('ul', { class: 'log' }, ...head.rollbacks.map((one) => el('li', {},
    el('b', {}, `↩ ${one.left} to ${one.to}`), ' ', one.rule ? el('span', { class: 'tag' }, safeText(one.rule)) : '', el('span', { class: 'soft' }, ` ${formatMinute(one.at)}`),
    one.why ? el('p', {}, safeText(one.why)) : null)));
  const more = head.returned - head.rollbacks.length;
  return el('div', {}, list, more ? el('p', { class: 'soft' }, `and ${count(more)} earlier`) : null);
}

function strategies(list) {
  if (!list.length) return el('p', { class: 'soft' }, 'No strategy has a decision yet.');
  const body = el('tbody', {}, ...list.map(([name, tried, accepted]) => el('tr', {}, el('th', { scope: 'row' }, breakableName(name)),
    el('td', { class: 'meter' }, meter(accepted / tried, null, `${accepted} of ${tried} accepted`)), el('td', { class: 'num' }, `${count(accepted)} of ${count(tried)}`))));
  return el('table', { class: 'plain' }, el('caption', { class: 'unseen' }, 'Accepted of the decisions about each strategy'),
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, 'Strategy'), el('td', {}), el('th', { scope: 'col', class: 'num' }, 'accepted'))), body);
}

function refused(head) {
  if (!head.refused) return el('p', { class: 'soft' }, 'None.');
  const list = el('ul', { class: 'log' }, ...head.refusals.map((one) => el('li', {}, breakableName(one.strategy), el('span', { class: 'soft' }, ` ${formatMinute(one.at)}`), el('p', {}, safeText(one.reason)))));
  const more = head.refused - head.refusals.length;
  const rest = more ? el('p', { class: 'soft' }, `and ${count(more)} earlier`) : null;
  if (head.refused <= 5) return el('div', {}, list, rest);
  return el('details', { class: 'fold' }, el('summary', {}, `${plural(head.refused, 'proposal')} refused before they were tried`), list, rest);
}

function about(head) {
  const rule = head.rule, list = byId('about');
  const rows = rule.rule === 'paired' ? [
    ['Rule', 'paired: candidate and active version on the same cases'],
    ['Looks', `after ${rule.looks.map(count).join(', ')} pairs`],
    ['Accepted', 'where the lower bound of the difference is above 0'],
    ['Rejected', `where the upper bound is below the margin of ${rule.margin} points; undecided after the last look is not accepted`],
    ['Level', `${rule.level} for each mutation: the chance of accepting one that is no better. Over all decisions they add up to ${head.expected_false.toFixed(2)}`],
  ] : [['Rule', 'literal: compares two mean scores and ignores chance']];
  rows.push(['Whiskers', 'the interval of a candidate’s score: the other version’s score plus the bounds of the difference']);
  for (const [name, words] of rows) list.append(el('dt', {}, name), el('dd', {}, words));
}
