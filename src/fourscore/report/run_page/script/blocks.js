// Read the blocks of JSON in the script elements, and decompress those that are compressed.

async function unpacked(element) {
  const text = element.textContent;
  if (element.type === 'application/json') return JSON.parse(text);
  if (typeof DecompressionStream === 'undefined') {
    throw new Error('This browser cannot unpack the cases: it takes Chrome 80, Firefox 113, Safari 16.4 or newer.');
  }
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at += 1) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}

const complete = new Promise((resolve) => {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', resolve);
  else resolve();
});

const before = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] <= b[1]);

// The details of a line: in the last block that does not begin behind it.
async function details(row, firsts) {
  await complete;
  const key = [row.position, row.repeat];
  let low = 0, high = firsts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (before(firsts[middle], key)) low = middle + 1;
    else high = middle;
  }
  if (!low) return null;
  const lines = await unpacked(byId(`case-${low - 1}`));
  const found = lines.find((each) => each[0] === row.position && each[1] === row.repeat && each[2] === row.id);
  return found ? found[3] : null;
}
