// The regular expressions in schemas: RE2, the syntax that Kubernetes reads them in, which takes time in proportion to the
// text however the author wrote them. Loaded with the first write of a custom object: most servers' start does without.
import type { RE2JS } from 're2js';

let engine: { readonly RE2JS: typeof RE2JS } | undefined;

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

/** True for a regular expression; of any text where the engine is not loaded. */
export function isPattern(text: string): boolean {
  return engine === undefined || patternOf(text) !== undefined;
}

/** Whether any part of a text matches. Undefined for a text that is no regular expression. Throws before `loadPatterns`. */
export function patternOf(text: string): ((value: string) => boolean) | undefined {
  if (engine === undefined) throw new Error('the engine of patterns is not loaded');
  try {
    const pattern = engine.RE2JS.compile(text);
    return (value) => pattern.matcher(value).find();
  } catch {
    return undefined;
  }
}
