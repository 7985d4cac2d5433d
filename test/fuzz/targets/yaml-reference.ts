// YAML beside another reader of it, the `yaml` package: manifests as people write and edit them are the same value to both,
// or are refused by both. Where the two differ on purpose is listed here, with the reason.
import { type Document, parseDocument, type Tags } from 'yaml';
import { parseYaml } from '../../../transport/yaml/read.ts';
import type { Dice } from '../generate/dice.ts';
import { editedManifest, manifestText } from '../generate/manifest-text.ts';
import type { Input } from '../input.ts';
import { type Target, Violation } from '../target.ts';

const DEPTH_MAX = 300;

type Outcome = { readonly value: string } | { readonly refusal: string };

/** What we refuse and the other reader takes. */
const REFUSED_HERE: readonly (readonly [refusal: RegExp, why: string])[] = [
  [/only one document/, 'a body is one object; the other reader takes the first document and passes over the rest'],
  [/question mark/, 'an explicit key is a text with a value'],
  [/a key must be a plain or quoted text/, 'nor keys with anchors or explicit keys in flow mappings'],
  [/an anchor or a tag cannot stand before a key/, 'nor keys with anchors or tags'],
  [/a key cannot stand in a sequence/, 'nor mappings of one entry without braces in flow sequences'],
  [/a comma or a closing bracket is missing/, 'which is what an explicit key looks like in a flow sequence'],
  [/a key with a colon and a blank behind it is missing/, 'nor keys over several lines'],
  [/a block of text starts on the next line/, 'the other reader passes over text behind the sign of a block'],
];

/** What the other reader refuses and we take, as libyaml does, whose language this is. */
const REFUSED_THERE: readonly (readonly [refusal: RegExp, why: string])[] = [
  [/sufficiently indented/, 'lines of a flow collection may stand anywhere'],
  [/^Missing closing/, 'and so may lines of a quoted text'],
  [/^Comments must be separated/, 'a line end is blank enough before a comment'],
  [/more-indented leading empty lines/, 'empty lines before a block of text may be longer than its indentation'],
];

// Not compared, because the texts that are made leave them out: dates, base 60, binary, ordered mappings (texts or refused
// here), `.` (a text here), infinities and NaN (refused here), numbers that no double holds (texts here), underscores
// anywhere in a number (left out here), two spellings of one key, blank lines at the end of a
// block of text that are longer than its indentation, or have no end.

const LEFT_OUT: ReadonlySet<string> = new Set(
  ['timestamp', 'binary', 'omap', 'pairs', 'set'].map((name) => `tag:yaml.org,2002:${name}`),
);

/** The scalars of YAML 1.1 but those that manifests do not have. */
function manifestTags(tags: Tags): Tags {
  return tags.filter(
    (tag) => typeof tag === 'string' || (!LEFT_OUT.has(tag.tag) && !('format' in tag && tag.format === 'TIME')),
  );
}

function theirs(text: string): Outcome {
  const document: Document = parseDocument(text, {
    version: '1.1',
    schema: 'yaml-1.1',
    merge: true,
    uniqueKeys: false,
    logLevel: 'silent',
    customTags: manifestTags,
  });
  const [error] = document.errors;
  if (error !== undefined) return { refusal: error.message };
  try {
    return { value: JSON.stringify(ordered(document.toJS({ mapAsMap: true, maxAliasCount: -1 }))) };
  } catch (failure) {
    return { refusal: (failure as Error).message };
  }
}

function ours(text: string): Outcome {
  try {
    return { value: JSON.stringify(ordered(parseYaml(text, DEPTH_MAX))) };
  } catch (error) {
    return { refusal: (error as Error).message };
  }
}

/** Mappings as lists of entries in the order of their names. */
function ordered(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== 'object' || value === null) return value;
  const entries = value instanceof Map ? [...value] : Object.entries(value);
  return entries
    .map(([name, member]): [string, unknown] => [rounded(String(name)), ordered(member)])
    .sort(([left], [right]) => (left < right ? -1 : 1));
}

/** The other reader has doubles only. */
function rounded(name: string): string {
  return /^-?\d{16,19}$/.test(name) ? String(Number(name)) : name;
}

function generate(dice: Dice): Input {
  return { text: {}, body: Buffer.from(dice.oneIn(2) ? manifestText(dice) : editedManifest(dice)) };
}

function run({ body }: Input): void {
  const text = Buffer.from(body).toString('utf8');
  const [here, there] = [ours(text), theirs(text)];
  if ('value' in here && 'value' in there) {
    if (here.value !== there.value) throw new Violation(`${here.value} is ${there.value} to the other reader`);
  } else if ('value' in there) requireListed(REFUSED_HERE, (here as { refusal: string }).refusal, 'here');
  else if ('value' in here) requireListed(REFUSED_THERE, there.refusal, 'by the other reader');
}

function requireListed(list: typeof REFUSED_HERE, refusal: string, where: string): void {
  if (!list.some(([pattern]) => pattern.test(refusal))) throw new Violation(`refused ${where} alone: ${refusal}`);
}

export const yamlReference: Target = { name: 'yaml-reference', weight: 1, generate, run };
