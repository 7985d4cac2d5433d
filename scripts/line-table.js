// Boils a source map (revision 3) down to what runtime/packed-sources.ts asks it: the file and line of a position, found
// without decoding anything. Columns in the sources, names and texts are left out.
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUES = new Map([...DIGITS].map((digit, value) => [digit, value]));

/** The numbers of one segment: six bits a digit, of which the highest says that another follows, the lowest of all the sign. */
function numbersIn(segment) {
  const numbers = [];
  let value = 0;
  let shift = 0;
  for (const digit of segment) {
    const bits = VALUES.get(digit);
    value += (bits & 31) << shift;
    shift += 5;
    if (bits & 32) continue;
    numbers.push(value & 1 ? -(value >> 1) : value >> 1);
    value = 0;
    shift = 0;
  }
  return numbers;
}

const inBase64 = (array) => Buffer.from(array.buffer).toString('base64');

/** `pathOf` makes a path in the project of one in the map. The form of what is returned is `LineTable` of packed-sources.ts. */
export function lineTable({ sources, mappings }, pathOf) {
  const starts = [];
  const spans = [];
  let [source, line] = [0, 0];
  for (const segments of mappings.split(';')) {
    starts.push(spans.length / 3);
    let column = 0;
    let last = '';
    for (const segment of segments === '' ? [] : segments.split(',')) {
      const [columns, sourcesOn = 0, linesOn = 0] = numbersIn(segment);
      column += columns;
      source += sourcesOn;
      line += linesOn;
      const place = `${source}:${line}`;
      if (place !== last) spans.push(column, source, line + 1);
      last = place;
    }
  }
  starts.push(spans.length / 3);
  return {
    files: sources.map(pathOf),
    starts: inBase64(Uint32Array.from(starts)),
    spans: inBase64(Uint16Array.from(spans)),
  };
}
