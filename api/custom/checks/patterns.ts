// The regular expressions in schemas: RE2, the syntax that Kubernetes reads them in, which takes time in proportion to the
// text however the author wrote them. Loaded with the first write of a custom object: most servers' start does without. Compiled
// when a text first has to match, and kept within bounds: a schema may have tens of thousands.
import type { RE2JS } from 're2js';
import { EFFORT, spend } from './effort.ts';
import { patternSize } from './pattern-size.ts';

let engine: { readonly RE2JS: typeof RE2JS } | undefined;

/** Instructions of all patterns that are kept: of a hundred bytes as a rule, of a thousand at most. */
const KEPT_SIZE_MAX = 30_000;

interface Compiled {
  readonly size: number;
  /** A text: it is no pattern, and that is why. */
  readonly pattern: RE2JS | string;
}

/** The one that was used longest ago comes first. */
const kept = new Map<string, Compiled>();
let keptSize = 0;

/** Loads the engine; undefined where it is loaded. Validation of custom objects needs it. */
export function loadPatterns(): Promise<void> | undefined {
  return engine === undefined ? load() : undefined;
}

async function load(): Promise<void> {
  engine = await import('re2js');
}

/** True where values can be checked. */
export function arePatternsLoaded(): boolean {
  return engine !== undefined;
}

/** What keeps a text from being a regular expression, in the words of Go's; empty where nothing does, or the engine is not loaded. */
export function patternProblem(text: string): string {
  const pattern = engine === undefined ? '' : compiledOf(text).pattern;
  return typeof pattern === 'string' ? pattern : '';
}

/** Whether any part of a text matches. Undefined for a pattern that is no regular expression. Throws before `loadPatterns`. */
export function matches(pattern: string, text: string): boolean | undefined {
  const compiled = compiledOf(pattern);
  if (typeof compiled.pattern === 'string') return undefined;
  spend((compiled.size * text.length) / EFFORT.instructionsTried);
  return compiled.pattern.matcher(text).find();
}

function compiledOf(text: string): Compiled {
  const known = kept.get(text);
  if (known !== undefined) {
    // What is looked up again and again moves to the end: it is kept.
    if (keptSize > KEPT_SIZE_MAX / 2) {
      kept.delete(text);
      kept.set(text, known);
    }
    return known;
  }
  const size = patternSize(text);
  spend(EFFORT.pattern + size * EFFORT.instruction);
  const compiled = { size, pattern: newPattern(text) };
  kept.set(text, compiled);
  keptSize += size;
  makeRoom();
  return compiled;
}

function makeRoom(): void {
  for (const [text, { size }] of kept) {
    if (keptSize <= KEPT_SIZE_MAX || kept.size === 1) return;
    kept.delete(text);
    keptSize -= size;
  }
}

function newPattern(text: string): RE2JS | string {
  if (engine === undefined) throw new Error('the engine of patterns is not loaded');
  try {
    return engine.RE2JS.compile(text);
  } catch (error) {
    return (error as Error).message;
  }
}
