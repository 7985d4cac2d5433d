// Where a place in the packed program was written (scripts/pack.js): for stacks, log lines and profiles, which name files that
// a reader can open. Reads its table with the first such place, and changes nothing where the modules run as they are.
import { readFileSync } from 'node:fs';

/** What scripts/line-table.js makes. Numbers are in base 64, in this machine's order. */
interface LineTable {
  /** Paths in the project. */
  readonly files: readonly string[];
  /** For each line of the program the number of its first span, 32 bits; behind the last line the number of all spans. */
  readonly starts: string;
  /** Three times 16 bits: the column where it begins, counted from 0; the number of the file; the line there, from 1. */
  readonly spans: string;
}

interface Sources {
  readonly files: readonly string[];
  readonly starts: Uint32Array;
  readonly spans: Uint16Array;
}

/** A line that was written. */
interface SourcePosition {
  /** Path in the project. */
  readonly file: string;
  readonly line: number;
}

const PROGRAM = '/packed/program.cjs';
const PLACE = /([^\s()]*\/packed\/program\.cjs):(\d+):(\d+)/g;
const SPAN_NUMBERS = 3;
const UNKNOWN: Sources = { files: [], starts: new Uint32Array(), spans: new Uint16Array() };

let sources: Sources | undefined;

/** The source of a place, whose line and column count from 1; undefined where `url` is no packed program. */
export function sourceOf(url: string, line: number, column: number): SourcePosition | undefined {
  if (!url.endsWith(PROGRAM)) return undefined;
  sources ??= readSources(new URL('./program.lines.json', url.startsWith('file:') ? url : `file://${url}`));
  const { files, starts, spans } = sources;
  const first = starts[line - 1] ?? 0;
  let span = (starts[line] ?? 0) - 1;
  while (span >= first && spans[span * SPAN_NUMBERS]! > column - 1) span -= 1;
  // What a line begins with before its first span goes on from the line before: the packer breaks lines within texts.
  if (span < 0) return undefined;
  return { file: files[spans[span * SPAN_NUMBERS + 1]!]!, line: spans[span * SPAN_NUMBERS + 2]! };
}

/** A stack with the places in the sources in place of those in the packed program. */
export function inSources(stack: string): string {
  if (!stack.includes(PROGRAM)) return stack;
  return stack.replace(PLACE, (place, url: string, line: string, column: string) => {
    const source = sourceOf(url, Number(line), Number(column));
    return source === undefined ? place : `${source.file}:${source.line}:1`;
  });
}

/** Nothing is known where the table is not there, or is none: stacks stay as they are. */
function readSources(url: URL): Sources {
  try {
    const { files, starts, spans } = JSON.parse(readFileSync(url, 'utf8')) as LineTable;
    return { files, starts: new Uint32Array(bytesOf(starts)), spans: new Uint16Array(bytesOf(spans)) };
  } catch {
    return UNKNOWN;
  }
}

function bytesOf(base64: string): ArrayBuffer {
  const bytes = Buffer.from(base64, 'base64');
  return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
}
