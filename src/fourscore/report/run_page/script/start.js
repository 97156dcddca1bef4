// Fill the page: headline and table; then open the case that the address names (`#case=ID`).

function setAddress(row) {
  try {
    const to = row ? `#case=${encodeURIComponent(row.id)}&repeat=${row.repeat}` : '#';
    history.replaceState(null, '', to);
  } catch { /* a sandbox may not change the address */ }
}

async function start() {
  setUpTheme();
  const head = JSON.parse(byId('head').textContent);
  let table = null;
  headline(head, (id, name) => { if (table) table.choose(id, name); });
  const lines = (await Promise.all([...document.querySelectorAll('script.line')].map(readBlock))).flat();
  lines.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const rows = lines.map((each) => fromLine(each, head.summary.repeats > 1));
  const open = (row) => { setAddress(row); updateArrows(row); return showCase(row, head); };
  const updateArrows = (row) => {
    const at = table.shown.indexOf(row);
    byId('d-back').disabled = at <= 0;
    byId('d-next').disabled = at < 0 || at + 1 >= table.shown.length;
  };
  const openNeighbour = (by) => {
    const to = table.shown[table.shown.indexOf(dialog.row) + by];
    if (!to) return;
    const at = table.shown.indexOf(to), page = Math.floor(at / PAGE);
    if (page !== table.page) { table.page = page; table.draw(); }
    open(to);
  };
  table = new Table(head, rows, open);
  byId('d-close').addEventListener('click', () => byId('detail').close());
  byId('d-back').addEventListener('click', () => openNeighbour(-1));
  byId('d-next').addEventListener('click', () => openNeighbour(1));
  byId('detail').addEventListener('keydown', (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest('pre')) return; // arrow keys scroll it
    if (event.key === 'ArrowLeft') openNeighbour(-1);
    else if (event.key === 'ArrowRight') openNeighbour(1);
  });
  byId('detail').addEventListener('click', (event) => { if (event.target === byId('detail')) byId('detail').close(); });
  byId('detail').addEventListener('close', () => {
    setAddress(null);
    dialog.request += 1;
    const line = [...byId('table').tBodies[0].rows].find((each) => each.fourscoreRow === dialog.row);
    if (line) table.focus(line);
  });
  performance.mark('rows');
  document.documentElement.dataset.ready = 'yes';
  const params = new URLSearchParams(location.hash.slice(1));
  const linked = params.get('case') !== null && rows.find((row) => row.id === params.get('case') && String(row.repeat) === (params.get('repeat') || '1'));
  if (linked) open(linked);
}

start().catch((error) => {
  byId('shown').textContent = String(error.message || error);
  document.documentElement.dataset.ready = 'failed';
});
