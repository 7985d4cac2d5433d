// Objects of custom types under structural schemas: what the compiled schema makes of them and finds wrong with them is what
// a slow reader of the rules does.

import { loadPatterns } from '../../../api/custom/checks/patterns.ts';
import { CustomSchema } from '../../../api/custom/forms/custom-schema.ts';
import type { JsonObject } from '../../../api/json/json-value.ts';
import { sortedJson } from '../../../api/json/sorted-json.ts';
import type { FieldError } from '../../../api/status/field-error.ts';
import type { Dice } from '../generate/dice.ts';
import { SCHEMA } from '../generate/documents.ts';
import { structuralSchema, valueFor } from '../generate/structural-schemas.ts';
import type { Input } from '../input.ts';
import { slowlyDefaulted, slowlyFound, slowlyPruned } from '../oracle/slow-schema.ts';
import { requireSame, type Target } from '../target.ts';

const METADATA = SCHEMA.type('meta/v1.ObjectMeta');

function generate(dice: Dice): Input {
  const v = structuralSchema(dice);
  const values = Array.from({ length: 3 }, () => valueFor(dice, v, 3));
  return { text: {}, body: Buffer.from(JSON.stringify({ v, values })) };
}

/** By the words of a message, the keyword that it is about; what no keyword is about is left out. */
const KEYWORDS: readonly (readonly [words: RegExp, keyword: string])[] = [
  [/must be of type/, 'type'],
  [/chars long$/, 'Length'],
  [/should match/, 'pattern'],
  [/should be a multiple/, 'multipleOf'],
  [/should be greater/, 'minimum'],
  [/should be less/, 'maximum'],
  [/at least \d+ items/, 'minItems'],
  [/at most \d+ items/, 'maxItems'],
  [/at least \d+ properties/, 'minProperties'],
  [/at most \d+ properties/, 'maxProperties'],
  [/^Unsupported/, 'enum'],
  [/^Required/, 'required'],
  [/\((anyOf|oneOf|allOf|not)\)/, 'junctor'],
];

function foundIn({ path, message }: FieldError): string {
  const [words, keyword] = KEYWORDS.find(([one]) => one.test(message)) ?? [/$/, message];
  if (keyword === 'Length') return `${path}: ${message.includes('at most') ? 'maxLength' : 'minLength'}`;
  if (keyword !== 'junctor') return `${path}: ${keyword}`;
  const [, place = ''] = /Invalid value: "": "([^"]*)"/.exec(message) ?? [];
  return `<nil> "${place}": ${words.exec(message)?.[1] ?? ''}`;
}

async function start(): Promise<void> {
  await loadPatterns();
}

function run({ body }: Input): void {
  const { v, values } = JSON.parse(body.toString()) as { v: JsonObject; values: readonly unknown[] };
  const schema = { type: 'object', properties: { v } };
  const kind = new CustomSchema({ schema, keepsUnknown: false, prefix: 'x-orch-', metadata: METADATA });
  for (const value of values) {
    const pruned = slowlyPruned({ v: value }, schema, true);
    const { object } = kind.shape(structuredClone({ v: value }));
    requireSame(sortedJson(object), sortedJson(pruned), 'pruned');
    kind.complete(object);
    const whole = slowlyDefaulted(pruned, schema) as JsonObject;
    // What is given to whole objects inside is held to the form of metadata: of that form tables tell.
    for (const one of [object, whole]) kind.coerce(one, 'kept');
    requireSame(sortedJson(object), sortedJson(whole), 'defaulted');
    // What is told of whole objects inside is no keyword's, and looked at by tables.
    if (Buffer.from(body).includes('embedded-resource')) continue;
    const errors = new Set(kind.errorsIn(object).map(foundIn));
    requireSame([...errors].join('\n'), slowlyFound(object, schema).join('\n'), 'found wrong');
  }
}

export const customValues: Target = { name: 'custom-values', weight: 1, start, generate, run };
