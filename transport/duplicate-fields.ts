// Which fields a JSON text names more than once in the same object. The parser keeps the last of them without a word; a
// client that asks for strict reading wants to know. Reads texts that have been parsed before, and nothing else.

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OBJECT_OPEN = 0x7b;
const OBJECT_CLOSE = 0x7d;
const LIST_OPEN = 0x5b;
const LIST_CLOSE = 0x5d;
const COMMA = 0x2c;

/** Paths that are told of one text. */
const PATHS_MAX = 100;

interface Level {
  /** Names so far; undefined for a list. */
  readonly names: Set<string> | undefined;
  /** The name or index of the member being read. */
  at: string | number;
}

/**
 * The paths (`spec.containers[0].image`) of fields that come again, each once, at most 100. `text` must be valid JSON; its
 * nesting is the parser's to bound.
 */
export function duplicateFields(text: string): readonly string[] {
  const found = new Set<string>();
  const levels: Level[] = [];
  let expectsName = false;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const level = levels.at(-1);
    if (code === QUOTE) {
      const end = stringEnd(text, i);
      if (expectsName) {
        enter(level!, text.slice(i, end + 1), levels, found);
        expectsName = false;
      }
      i = end;
    } else if (code === OBJECT_OPEN) {
      levels.push({ names: new Set(), at: '' });
      expectsName = true;
    } else if (code === LIST_OPEN) {
      levels.push({ names: undefined, at: 0 });
      expectsName = false;
    } else if (code === OBJECT_CLOSE || code === LIST_CLOSE) {
      levels.pop();
      expectsName = false;
    } else if (code === COMMA && level !== undefined) {
      if (level.names === undefined) level.at = (level.at as number) + 1;
      else expectsName = true;
    }
  }
  return [...found];
}

function enter(level: Level, quoted: string, levels: readonly Level[], found: Set<string>): void {
  const name = quoted.includes('\\') ? (JSON.parse(quoted) as string) : quoted.slice(1, -1);
  level.at = name;
  if (!level.names!.has(name)) level.names!.add(name);
  else if (found.size < PATHS_MAX) found.add(pathOf(levels));
}

/** Where a string ends that begins at a quote. */
function stringEnd(text: string, start: number): number {
  let end = start + 1;
  while (text.charCodeAt(end) !== QUOTE) end += text.charCodeAt(end) === BACKSLASH ? 2 : 1;
  return end;
}

function pathOf(levels: readonly Level[]): string {
  let path = '';
  for (const { at } of levels) {
    if (typeof at === 'number') path += `[${at}]`;
    else path += path === '' ? at : `.${at}`;
  }
  return path;
}
