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

const bytesOf = (array) => Buffer.from(array.buffer);

/** `pathOf` makes a path in the project of one in the map. packed-sources.ts says what is in the bytes that are returned. */
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
  const names = Buffer.from(JSON.stringify(sources.map(pathOf)));
  const fill = Buffer.alloc(-names.length & 3, ' ');
  const header = Uint32Array.of(names.length + fill.length, starts.length);
  return Buffer.concat([
    bytesOf(header),
    names,
    fill,
    bytesOf(Uint32Array.from(starts)),
    bytesOf(Uint16Array.from(spans)),
  ]);
}
