// Elements and text. Text from agents, models and people passes through `safeText`: text nodes in a
// `bdi` element, with a visible code for each character that is hidden or reorders text.

const HIDDEN = new RegExp([
  '\\r\\n',
  '[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]',
  '[\\u00ad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b\\u200e\\u200f]',
  '[\\u2028-\\u202e\\u2060-\\u206f\\u2800\\u3164\\ufeff\\uffa0\\ufff0-\\ufffb]',
  '[\\ud800-\\udfff]',
  // Joiners and variation selectors are legitimate after letters and emoji beyond ASCII.
  '(?<![^\\u0000-\\u007f\\ufe00-\\ufe0f\\u200b-\\u200f])[\\u200c\\u200d]',
  '(?<![^\\u0000-\\u0022\\u0024-\\u0029\\u002b-\\u002f\\u003a-\\u007f\\ufe00-\\ufe0f])[\\ufe00-\\ufe0f]',
  '[\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{e0000}-\\u{e0fff}]',
].join('|'), 'gu');

const code = (sign) => 'U+' + sign.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');

function el(name, attributes, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === true) node.setAttribute(key, '');
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined && child !== ''));
  return node;
}

function pieces(text, parent) {
  let at = 0;
  for (const found of text.matchAll(HIDDEN)) {
    if (found.index > at) parent.append(text.slice(at, found.index));
    at = found.index + found[0].length;
    if (found[0] === '\r\n') parent.append('\n');
    else parent.append(el('span', { class: 'ctl' }, code(found[0])));
  }
  if (at < text.length) parent.append(text.slice(at));
  return parent;
}

const safeText = (text, attributes) => pieces(String(text), el('bdi', { dir: 'auto', ...attributes }));

// A name that may end a line at its underscores.
function breakableName(name) {
  const box = el('bdi', { dir: 'auto' });
  name.split('_').forEach((part, at) => { if (at) box.append('_', el('wbr')); pieces(part, box); });
  return box;
}

// The same as a plain string: for titles, options and labels.
const plain = (text) => String(text).replace(HIDDEN, (sign) => (sign === '\r\n' ? ' ' : `⟨${code(sign)}⟩`));

const byId = (id) => document.getElementById(id);
const whole = new Intl.NumberFormat('en');
const count = (number) => whole.format(number);
const percent = (share) => (share * 100).toFixed(1) + '%';
const score3 = (value) => (value === null || value === undefined ? '–' : value.toFixed(3));
const large = (number, digits) =>
  Math.abs(number) >= 1e9 ? number.toExponential(2) : number.toLocaleString('en', { maximumFractionDigits: digits });

const money = (dollars) => `$${large(dollars, dollars < 1 ? 4 : 2)}`;

function formatSeconds(seconds) {
  if (seconds < 1) return `${large(seconds * 1000, 0)} ms`;
  if (seconds < 120) return `${large(seconds, 1)} s`;
  if (seconds < 7200) return `${large(seconds / 60, 1)} min`;
  return `${large(seconds / 3600, 1)} h`;
}

function formatTime(seconds) {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 16).replace('T', ' ') + ' UTC';
}

function verdict(passed) {
  if (passed === 1 || passed === true) return el('span', { class: 'verdict yes' }, '✓ passed');
  if (passed === 0 || passed === false) return el('span', { class: 'verdict no' }, '✗ failed');
  return el('span', { class: 'verdict none' }, '– not measured');
}

// The colour class of a value: good from 0.7 on, bad below 0.5.
const tone = (value) =>
  value === null || value === undefined ? 'none' : value >= 0.7 ? 'good' : value >= 0.5 ? 'mid' : 'bad';
