// Read the blocks of JSON in the script elements, and decompress those that are compressed.

async function readBlock(element) {
  const text = element.textContent;
  if (element.type === 'application/json') return JSON.parse(text);
  if (typeof DecompressionStream === 'undefined') {
    throw new Error('This browser cannot decompress the cases. Use Chrome 80, Firefox 113, Safari 16.4 or newer.');
  }
  const packed = atob(text), bytes = new Uint8Array(packed.length);
  for (let at = 0; at < packed.length; at += 1) bytes[at] = packed.charCodeAt(at);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Response(stream).json();
}

const pageLoaded = new Promise((resolve) => {
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', resolve);
  else resolve();
});

const isNotAfter = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] <= b[1]);

// Find the details of a row, which are in the last block that does not start after it.
async function readDetails(row, firsts) {
  await pageLoaded;
  const key = [row.position, row.repeat];
  let low = 0, high = firsts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isNotAfter(firsts[middle], key)) low = middle + 1;
    else high = middle;
  }
  if (!low) return null;
  const lines = await readBlock(byId(`case-${low - 1}`));
  const found = lines.find((each) => each[0] === row.position && each[1] === row.repeat && each[2] === row.id);
  return found ? found[3] : null;
}
