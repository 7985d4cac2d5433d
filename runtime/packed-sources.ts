// Where a place in the packed program was written (scripts/pack.js): for stacks, log lines and profiles, which name files that
// a reader can open. Reads of its table what the places asked for need, since a start logs a line or two; changes nothing where the
// modules run as they are.
import { openSync, readSync } from 'node:fs';

/** What scripts/line-table.js makes: how long the two parts that follow are, then each, then the spans to the end. */
const HEADER_NUMBERS = 2;

/** A stretch of a line that was written on one line of a file. */
interface Span {
  /** Where it begins, counted from 0. */
  readonly column: number;
  readonly file: number;
  readonly line: number;
}

interface Sources {
  /** Paths in the project. In the table as JSON, filled up with spaces to whole numbers of 32 bits. */
  readonly files: readonly string[];
  /** For each line of the program the number of its first span, in this machine's order; behind the last the number of all. */
  readonly starts: Uint32Array;
  /** Some spans, by the number of the first and of the one behind the last: in the table the three numbers of each. */
  readonly spans: (from: number, to: number) => Span[];
  /** Of each line that was asked about. */
  readonly known: Map<number, Span[]>;
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
const UNKNOWN: Sources = { files: [], starts: new Uint32Array(), spans: () => [], known: new Map() };

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
  const span = spansOf(sources, line).findLast((one) => one.column < column);
  return span && { file: sources.files[span.file]!, line: span.line };
}

/**
 * The spans of a line. What it begins with before its first goes on from the line before, whose last comes before all others here: the
 * packer breaks lines within texts.
 */
function spansOf({ starts, spans, known }: Sources, line: number): Span[] {
  const found = known.get(line);
  if (found !== undefined) return found;
  const first = starts[line - 1] ?? 0;
  const before = first === 0 ? [] : spans(first - 1, first).map((span) => ({ ...span, column: -1 }));
  const all = [...before, ...spans(first, starts[line] ?? first)];
  known.set(line, all);
  return all;
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

/** Nothing is known where the table is not there, or is none: stacks stay as they are. The file stays open for what is asked later. */
function readSources(program: URL): Sources {
  try {
    const table = openSync(new URL(program.href.replace(/\.cjs$/, '.lines')), 'r');
    const read = <T extends Uint8Array | Uint16Array | Uint32Array>(numbers: T, at: number): T => {
      readSync(table, numbers, 0, numbers.byteLength, at);
      return numbers;
    };
    const [namesBytes = 0, lines = 0] = read(new Uint32Array(HEADER_NUMBERS), 0);
    const names = HEADER_NUMBERS * Uint32Array.BYTES_PER_ELEMENT;
    const files = JSON.parse(Buffer.from(read(new Uint8Array(namesBytes), names)).toString()) as string[];
    const starts = read(new Uint32Array(lines), names + namesBytes);
    const spansAt = names + namesBytes + starts.byteLength;
    const spans = (from: number, to: number): Span[] => {
      const size = SPAN_NUMBERS * Uint16Array.BYTES_PER_ELEMENT;
      const numbers = read(new Uint16Array((to - from) * SPAN_NUMBERS), spansAt + from * size);
      return Array.from({ length: to - from }, (_, index) => {
        const [column = 0, file = 0, line = 0] = numbers.subarray(index * SPAN_NUMBERS);
        return { column, file, line };
      });
    };
    return { files, starts, spans, known: new Map() };
  } catch {
    return UNKNOWN;
  }
}
