// The table of cases: searched, filtered, sorted, shown one page at a time.

const PAGE = 50;

function fromLine(each, repeated) {
  const [position, repeat, id, question, tags, complexity, status, passed, value, values] = each;
  return { position, repeat, id, question, tags, complexity, status, passed, value, values, repeated,
    text: `${id}\n${question}\n${tags.join('\n')}`.toLowerCase() };
}

class Table {
  constructor(head, rows, open) {
    this.rows = rows;
    this.open = open;
    this.shown = rows;
    this.page = 0;
    this.sort = null;
    this.down = false;
    const repeated = head.summary.repeats > 1;
    this.columns = [
      { title: 'Case', kind: 'id', read: (row) => row.id },
      ...(repeated ? [{ title: 'Repeat', kind: 'num wide', read: (row) => row.repeat }] : []),
      { title: 'Verdict', kind: '', read: (row) => row.passed },
      { title: 'Value', kind: 'num', read: (row) => row.value },
      { title: 'Status', kind: 'wide', read: (row) => row.status },
      { title: 'Tags', kind: 'words wide', read: (row) => row.tags.join(' ') },
      { title: 'Complexity', kind: 'wide', read: (row) => row.complexity },
      ...head.dimensions.map((each, at) => ({ title: each.name, untrusted: true, kind: 'num dim wide', read: (row) => row.values[at] })),
    ];
    this.dimensions = head.dimensions.length;
    this.drawHead();
    this.fillFilters();
    this.addListeners();
    this.update();
  }

  drawHead() {
    const line = el('tr', {});
    this.columns.forEach((column, at) => {
      const title = column.untrusted ? breakableName(column.title) : column.title;
      const button = el('button', { type: 'button' }, title);
      button.addEventListener('click', () => this.sortBy(at));
      column.cell = el('th', { scope: 'col', class: column.kind || null }, button);
      line.append(column.cell);
    });
    byId('table').tHead.replaceChildren(line);
  }

  fillFilters() {
    const fill = (id, words, most = 500) => {
      const counts = new Map();
      for (const row of this.rows) for (const word of words(row)) counts.set(word, (counts.get(word) || 0) + 1);
      const names = [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a) || (a < b ? -1 : 1)).slice(0, most);
      byId(id).replaceChildren(el('option', { value: '' }, counts.size > most ? `all (the ${most} most common)` : 'all'),
        ...names.map((name) => el('option', { value: `=${name}` }, `${plain(name)} (${count(counts.get(name))})`)));
    };
    const words = { 1: 'passed', 0: 'failed', null: 'not measured' };
    fill('by-passed', (row) => [words[row.passed]]);
    fill('by-status', (row) => [row.status]);
    fill('by-tag', (row) => row.tags);
    fill('by-complexity', (row) => [row.complexity]);
    this.words = words;
  }

  addListeners() {
    const showFirstPage = () => { this.page = 0; this.update(); };
    byId('search').addEventListener('input', showFirstPage);
    for (const id of ['by-passed', 'by-status', 'by-tag', 'by-complexity']) byId(id).addEventListener('change', showFirstPage);
    byId('filters').addEventListener('submit', (event) => event.preventDefault());
    byId('filters').addEventListener('reset', () => setTimeout(showFirstPage));
    byId('all-columns').addEventListener('change', (event) => byId('table').classList.toggle('all', event.target.checked));
    const go = (to) => () => this.goTo(to());
    byId('first').addEventListener('click', go(() => 0));
    byId('back').addEventListener('click', go(() => this.page - 1));
    byId('next').addEventListener('click', go(() => this.page + 1));
    byId('last').addEventListener('click', go(() => this.pages - 1));
    const body = byId('table').tBodies[0];
    body.addEventListener('click', (event) => {
      const line = event.target.closest('tr');
      if (line && !String(getSelection())) { this.focus(line, true); this.open(line.fourscoreRow); }
    });
    body.addEventListener('keydown', (event) => this.key(event));
  }

  key(event) {
    const line = event.target.closest('tr');
    if (!line || event.altKey || event.ctrlKey || event.metaKey) return;
    const moves = {
      ArrowDown: () => line.nextElementSibling, ArrowUp: () => line.previousElementSibling,
      Home: () => line.parentNode.firstElementChild, End: () => line.parentNode.lastElementChild,
    };
    if (event.key === 'Enter' || event.key === ' ') this.open(line.fourscoreRow);
    else if (moves[event.key]) { const to = moves[event.key](); if (to) this.focus(to); }
    else if (event.key === 'PageDown') this.goTo(this.page + 1, true);
    else if (event.key === 'PageUp') this.goTo(this.page - 1, true);
    else return;
    event.preventDefault();
  }

  focus(line, quietly) {
    for (const each of line.parentNode.querySelectorAll('tr[tabindex="0"]')) each.tabIndex = -1;
    line.tabIndex = 0;
    line.focus({ preventScroll: Boolean(quietly) });
  }

  choose(id, name) {
    const select = byId(id);
    const value = `=${name}`;
    if (![...select.options].some((option) => option.value === value)) select.append(el('option', { value }, plain(name)));
    select.value = value;
    this.page = 0;
    this.update();
    byId('cases').scrollIntoView();
    byId('cases').focus({ preventScroll: true });
  }

  sortBy(at) {
    this.down = this.sort === at ? !this.down : false;
    this.sort = at;
    this.columns.forEach((column, each) => {
      if (each === at) column.cell.setAttribute('aria-sort', this.down ? 'descending' : 'ascending');
      else column.cell.removeAttribute('aria-sort');
    });
    this.page = 0;
    this.update();
  }

  update() {
    const words = byId('search').value.toLowerCase().split(/\s+/).filter(Boolean);
    const wanted = (id) => byId(id).value && byId(id).value.slice(1);
    const [passed, status, tag, complexity] = ['by-passed', 'by-status', 'by-tag', 'by-complexity'].map(wanted);
    const found = this.rows.filter((row) =>
      (!passed || this.words[row.passed] === passed) && (!status || row.status === status) &&
      (!tag || row.tags.includes(tag)) && (!complexity || row.complexity === complexity) &&
      words.every((word) => row.text.includes(word)));
    if (this.sort !== null) {
      const read = this.columns[this.sort].read, direction = this.down ? -1 : 1;
      const keyed = found.map((row, at) => [read(row), at, row]);
      const none = (value) => value === null || value === undefined;
      keyed.sort(([a, i], [b, j]) => {
        if (none(a) || none(b)) return none(a) - none(b) || i - j; // rows without a value come last
        return (a < b ? -direction : a > b ? direction : 0) || i - j;
      });
      this.shown = keyed.map((each) => each[2]);
    } else {
      this.shown = found;
    }
    this.draw();
  }

  get pages() { return Math.max(1, Math.ceil(this.shown.length / PAGE)); }

  goTo(to, focus) {
    if (to < 0 || to >= this.pages) return;
    this.page = to;
    this.draw();
    byId('scroll').scrollIntoView({ block: 'nearest' });
    if (focus) this.focus(byId('table').tBodies[0].firstElementChild);
  }

  draw() {
    const from = this.page * PAGE, rows = this.shown.slice(from, from + PAGE);
    byId('table').tBodies[0].replaceChildren(...rows.map((row, at) => this.line(row, at === 0)));
    const all = this.shown.length === this.rows.length ? '' : ` of ${count(this.rows.length)}`;
    byId('shown').textContent = this.shown.length
      ? `${count(this.shown.length)}${all} rows; shown are ${count(from + 1)} to ${count(from + rows.length)}` : `No rows${all} match.`;
    byId('page').textContent = `Page ${count(this.page + 1)} of ${count(this.pages)}`;
    byId('first').disabled = byId('back').disabled = this.page === 0;
    byId('next').disabled = byId('last').disabled = this.page + 1 >= this.pages;
  }

  line(row, first) {
    const open = el('button', { type: 'button', class: 'open', tabindex: '-1', 'aria-haspopup': 'dialog' }, safeText(row.id));
    const cells = this.columns.map((column) => {
      if (column.kind === 'id') return el('th', { scope: 'row', class: 'id' }, open, safeText(row.question, { class: 'question' }));
      const cell = el('td', { class: column.kind || null });
      if (column.title === 'Verdict' && !column.untrusted) cell.append(verdict(row.passed));
      else if (column.title === 'Tags' && !column.untrusted) cell.append(...row.tags.map((tag) => safeText(tag, { class: 'tag' })));
      else if (column.kind.startsWith('num') && column.title !== 'Repeat') {
        const value = column.read(row);
        cell.append(el('span', { class: `v-${tone(value)}` }, score3(value)));
      } else cell.append(breakableName(String(column.read(row))));
      return cell;
    });
    const line = el('tr', { tabindex: first ? '0' : '-1' }, ...cells);
    line.fourscoreRow = row;
    return line;
  }
}
