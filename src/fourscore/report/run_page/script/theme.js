// Light or dark: as the system has it, until the reader says otherwise.

function themed() {
  const button = byId('theme'), root = document.documentElement, system = matchMedia('(prefers-color-scheme: dark)');
  const dark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const say = () => { button.textContent = dark() ? 'Light' : 'Dark'; button.setAttribute('aria-label', dark() ? 'Use light colours' : 'Use dark colours'); };
  try { const kept = localStorage.getItem('fourscore-theme'); if (kept === 'dark' || kept === 'light') root.dataset.theme = kept; } catch { /* not kept */ }
  button.addEventListener('click', () => {
    root.dataset.theme = dark() ? 'light' : 'dark';
    try { localStorage.setItem('fourscore-theme', root.dataset.theme); } catch { /* not kept */ }
    say();
  });
  system.addEventListener('change', say);
  say();
}
