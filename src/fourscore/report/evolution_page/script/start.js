// Fill the page: theme, figures, tree; then open the version that the address names (`#v7`).

async function start() {
  setUpTheme();
  const head = JSON.parse(byId('head').textContent);
  showSummary(head);
  const lines = (await Promise.all([...document.querySelectorAll('script.line')].map(readBlock))).flat();
  const tree = byId('tree');
  const open = async (box, line) => {
    if (box.dataset.filled) return;
    box.dataset.filled = 'yes';
    const body = el('div', { class: 'version-detail' });
    box.append(body);
    try {
      body.append(...versionSections(line, await readDetails({ position: line.number, repeat: 1, id: '' }, head.firsts)));
    } catch (error) {
      body.append(el('p', { class: 'note' }, String(error.message || error)));
    }
    body.dataset.loaded = 'yes';
  };
  byId('key').append(...legend());
  appendTree(lines, tree, open);
  const folds = [...tree.querySelectorAll('.failures')];
  const unfold = byId('unfold'), all = byId('open');
  const updateLabel = () => { unfold.textContent = folds.some((each) => !each.open) ? 'Show failures' : 'Fold failures'; };
  unfold.hidden = !folds.length;
  unfold.addEventListener('click', () => { const to = folds.some((each) => !each.open); for (const each of folds) each.open = to; updateLabel(); });
  for (const each of folds) each.addEventListener('toggle', updateLabel);
  if (lines.length <= FEW) for (const each of folds) { each.fill(); each.open = true; }
  all.addEventListener('click', () => {
    const boxes = [...tree.querySelectorAll('.version')].filter((each) => !each.closest('.failures:not([open])'));
    const to = boxes.some((each) => !each.open);
    for (const each of boxes) each.open = to;
    all.textContent = to ? 'Close all' : 'Open all';
  });
  byId('state').textContent = `${plural(lines.length, 'version')} in the tree`;
  document.documentElement.dataset.ready = 'yes';
  openLinkedVersion(folds);
  addEventListener('hashchange', () => openLinkedVersion(folds));
}

function openLinkedVersion(folds) {
  const [, number] = /^#v(\d+)$/.exec(location.hash) || [];
  if (!number) return;
  if (!byId(`v${number}`)) for (const each of folds) { each.fill(); if (byId(`v${number}`)) { each.open = true; break; } }
  const box = byId(`v${number}`);
  if (!box) return;
  box.open = true;
  box.scrollIntoView();
}

start().catch((error) => {
  byId('state').classList.remove('unseen');
  byId('state').textContent = String(error.message || error);
  document.documentElement.dataset.ready = 'failed';
});
