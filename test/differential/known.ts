// What the two servers are known not to agree on, and why: each line that one of these fits is left out of the report.
import type { KnownType } from '../../api/resources/resource-table.ts';

interface Known {
  /** Of which types, as `plural.group`; all where nothing is said. */
  readonly types?: RegExp;
  readonly line: RegExp;
  readonly why: string;
}

const KNOWN: readonly Known[] = [
  {
    line: /^words: \S+ in version \S+ cannot be handled as a/,
    why: 'what cannot be read is told by its place, in words of our own',
  },
  { line: /^words: .*(?:DNS|RFC) ?1[01]\d\d/, why: 'what a name may be is said in our own words' },
];

export function isKnown({ plural, group }: KnownType, line: string): boolean {
  const type = `${plural}${group === '' ? '' : `.${group}`}`;
  return KNOWN.some((known) => known.line.test(line) && (known.types?.test(type) ?? true));
}
