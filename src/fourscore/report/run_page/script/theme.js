// Light or dark colours: those of the system, until the reader chooses.

function setUpTheme() {
  const button = byId('theme'), root = document.documentElement, system = matchMedia('(prefers-color-scheme: dark)');
  const dark = () => (root.dataset.theme ? root.dataset.theme === 'dark' : system.matches);
  const updateButton = () => { button.textContent = dark() ? 'Light' : 'Dark'; button.setAttribute('aria-label', dark() ? 'Use light colours' : 'Use dark colours'); };
  try { const saved = localStorage.getItem('fourscore-theme'); if (saved === 'dark' || saved === 'light') root.dataset.theme = saved; } catch { /* not saved */ }
  button.addEventListener('click', () => {
    root.dataset.theme = dark() ? 'light' : 'dark';
    try { localStorage.setItem('fourscore-theme', root.dataset.theme); } catch { /* not saved */ }
    updateButton();
  });
  system.addEventListener('change', updateButton);
  updateButton();
}
