// Where a place in the packed program was written (scripts/pack.js): for stacks, log lines and profiles, which name files that
// a reader can open. Reads its table with the first such place, and changes nothing where the modules run as they are.
import { readFileSync } from 'node:fs';

/** What scripts/line-table.js makes: how long the two parts that follow are, then each, then the spans to the end. */
const HEADER_NUMBERS = 2;

interface Sources {
  /** Paths in the project. In the table as JSON, filled up with spaces to whole numbers of 32 bits. */
  readonly files: readonly string[];
  /** For each line of the program the number of its first span, in this machine's order; behind the last the number of all. */
  readonly starts: Uint32Array;
  /** Three numbers each: the column where it begins, counted from 0; the number of the file; the line there, from 1. */
  readonly spans: Uint16Array;
}

/** A line that was written. */
interface SourcePosition {
  /** Path in the project. */
  readonly file: string;
  readonly line: number;
}

/** There is one for each kind of thread. */
const PROGRAM = /\/packed\/[\w-]+\.cjs$/;
const PLACE = /([^\s()]*\/packed\/[\w-]+\.cjs):(\d+):(\d+)/g;
const SPAN_NUMBERS = 3;
const UNKNOWN: Sources = { files: [], starts: new Uint32Array(), spans: new Uint16Array() };

/** By the address of the program. A thread runs one, and may be asked about that of another. */
const known = new Map<string, Sources>();

/** The source of a place, whose line and column count from 1; undefined where `url` is no packed program. */
export function sourceOf(url: string, line: number, column: number): SourcePosition | undefined {
  if (!PROGRAM.test(url)) return undefined;
  let sources = known.get(url);
  if (sources === undefined) {
    sources = readSources(placeOf(url));
    known.set(url, sources);
  }
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
  return stack.replace(PLACE, (place, url: string, line: string, column: string) => {
    const source = sourceOf(url, Number(line), Number(column));
    return source === undefined ? place : `${source.file}:${source.line}:1`;
  });
}

/**
 * What V8 compiled at the build names the program where that ran, also in a copy that was installed elsewhere: the table that counts
 * is beside the program that runs.
 */
function placeOf(url: string): URL {
  const here = import.meta.url;
  if (PROGRAM.test(here)) return new URL(url.slice(url.lastIndexOf('/') + 1), here);
  return new URL(url.startsWith('file:') ? url : `file://${url}`);
}

/** Nothing is known where the table is not there, or is none: stacks stay as they are. */
function readSources(program: URL): Sources {
  try {
    const { buffer, byteOffset, byteLength } = readFileSync(new URL(program.href.replace(/\.cjs$/, '.lines')));
    const table = buffer.slice(byteOffset, byteOffset + byteLength);
    const [namesBytes = 0, lines = 0] = new Uint32Array(table, 0, HEADER_NUMBERS);
    const names = HEADER_NUMBERS * Uint32Array.BYTES_PER_ELEMENT;
    const starts = new Uint32Array(table, names + namesBytes, lines);
    const files = JSON.parse(Buffer.from(table, names, namesBytes).toString()) as string[];
    return { files, starts, spans: new Uint16Array(table, starts.byteOffset + starts.byteLength) };
  } catch {
    return UNKNOWN;
  }
}
