// A flame graph as SVG: stacks as boxes, the callers below, as wide as the time that was spent in them. Needs no script: a
// viewer shows a box's words when it is pointed at. Pure.

/** Time spent in a stack. */
export interface StackTime {
  /** The leaf first, as profiles have it. */
  readonly stack: readonly string[];
  readonly time: number;
}

interface Box {
  readonly name: string;
  time: number;
  readonly callees: Map<string, Box>;
}

const WIDTH = 1200;
const ROW = 17;
const TITLE_ROWS = 2;
/** Narrower boxes cannot be pointed at. */
const WIDTH_MIN = 0.3;
const LETTER = 6.6;
/** Deeper callers are cut: nothing is that deep but recursion. */
const DEPTH_MAX = 120;

/** One picture of all graphs, each with its title, one above the other. */
export function flameGraph(
  graphs: readonly { readonly title: string; readonly stacks: readonly StackTime[] }[],
): string {
  const parts: string[] = [];
  let top = 0;
  for (const { title, stacks } of graphs) {
    const root = boxesOf(title, stacks);
    const rows = depthOf(root) + TITLE_ROWS;
    const bottom = top + rows * ROW;
    parts.push(text(4, top + ROW - 4, `${title}: ${(root.time / 1e9).toFixed(2)} s of CPU`));
    draw(parts, root, { left: 0, y: bottom - ROW, perUnit: WIDTH / Math.max(1, root.time), whole: root.time });
    top = bottom + ROW;
  }
  const size = `width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="monospace" font-size="11">\n${parts.join('\n')}\n</svg>\n`;
}

function boxesOf(title: string, stacks: readonly StackTime[]): Box {
  const root: Box = { name: title, time: 0, callees: new Map() };
  for (const { stack, time } of stacks) {
    let box = root;
    box.time += time;
    for (const name of stack.toReversed().slice(0, DEPTH_MAX)) {
      let callee = box.callees.get(name);
      if (callee === undefined) {
        callee = { name, time: 0, callees: new Map() };
        box.callees.set(name, callee);
      }
      callee.time += time;
      box = callee;
    }
  }
  return root;
}

function depthOf(box: Box): number {
  let deepest = 0;
  for (const callee of box.callees.values()) deepest = Math.max(deepest, depthOf(callee));
  return deepest + 1;
}

interface Place {
  readonly left: number;
  readonly y: number;
  readonly perUnit: number;
  /** The time of the whole graph. */
  readonly whole: number;
}

function draw(parts: string[], box: Box, place: Place): void {
  const { left, y, perUnit, whole } = place;
  const width = box.time * perUnit;
  if (width < WIDTH_MIN) return;
  const share = `${((100 * box.time) / Math.max(1, whole)).toFixed(1)} %`;
  const shape = `<rect x="${left.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${ROW - 1}" fill="${colorOf(box.name)}"/>`;
  parts.push(`<g><title>${escaped(`${box.name} ${share}`)}</title>${shape}${label(box.name, left, y, width)}</g>`);
  let at = left;
  for (const callee of [...box.callees.values()].sort((one, other) => (one.name < other.name ? -1 : 1))) {
    draw(parts, callee, { ...place, left: at, y: y - ROW });
    at += callee.time * perUnit;
  }
}

function label(name: string, left: number, y: number, width: number): string {
  const letters = Math.floor((width - 4) / LETTER);
  return letters < 3 ? '' : text(left + 2, y + ROW - 5, name.slice(0, letters));
}

function text(x: number, y: number, words: string): string {
  return `<text x="${x.toFixed(1)}" y="${y}">${escaped(words)}</text>`;
}

/** By the folder, so that a room has one color. */
function colorOf(name: string): string {
  const folder = / ([^ ]*)\//.exec(name)?.[1] ?? '';
  let hash = 0;
  for (let index = 0; index < folder.length; index += 1) hash = (hash * 31 + folder.charCodeAt(index)) % 360;
  return folder === '' ? 'hsl(0 0% 85%)' : `hsl(${hash} 55% 75%)`;
}

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };

function escaped(words: string): string {
  return words.replace(/[&<>"]/g, (one) => ESCAPES[one]!);
}
