// The origins that scripts in browsers may call from, as the operator's regular expressions. Matching takes time in proportion
// to the origin, whatever the pattern: RE2, the syntax of Kubernetes' own. Loaded only where there are patterns.
import { RE2JS } from 're2js';
import { messageOf, OrchError } from '../runtime/errors.ts';

/** A scheme, a host and a port; what is longer is no origin. */
const ORIGIN_LENGTH_MAX = 1024;

/** Whether an origin is among those of the patterns. As in Kubernetes a pattern may match any part of it. */
export class OriginPatterns {
  readonly #patterns: readonly RE2JS[];

  /** Throws BadConfiguration for a text that is no regular expression. */
  constructor(texts: readonly string[]) {
    this.#patterns = texts.map(compiled);
  }

  allow(origin: string): boolean {
    return origin.length <= ORIGIN_LENGTH_MAX && this.#patterns.some((pattern) => pattern.matcher(origin).find());
  }
}

function compiled(text: string): RE2JS {
  try {
    return RE2JS.compile(text);
  } catch (error) {
    const reason = messageOf(error);
    throw new OrchError('BadConfiguration', `--cors-allowed-origins ${JSON.stringify(text)} cannot be used: ${reason}`);
  }
}
